package io.github.shardkeeper.simulation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

import io.github.shardkeeper.coordination.store.CoordinationStore;

/**
 * A coordination store that is checked after each request, on the server's side.
 */
record CheckedCoordination(CoordinationStore store, Checker checker) {

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
					this.checker.changed(this.store.readChanges(0, -1));
					return reply;
				});
	}

}
