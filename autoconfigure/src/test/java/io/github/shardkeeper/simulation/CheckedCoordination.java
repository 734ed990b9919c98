package io.github.shardkeeper.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;

import io.github.shardkeeper.coordination.CoordinationStore;

/**
 * A coordination store whose every change of ownership is checked, at the store itself.
 */
record CheckedCoordination(CoordinationStore store, Checker checker) {

	private static final Set<String> CHANGES = Set.of("plan", "release", "claim", "reap", "leave");

	CoordinationStore checked() {
		return (CoordinationStore) Proxy.newProxyInstance(CoordinationStore.class.getClassLoader(),
				new Class<?>[] { CoordinationStore.class }, (proxy, method, arguments) -> {
					Object reply;
					try {
						reply = method.invoke(this.store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
					if (CHANGES.contains(method.getName())) {
						this.store.changes(0, -1).ownerships().forEach(this.checker::changed);
					}
					return reply;
				});
	}

}
