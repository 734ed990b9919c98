package io.github.shardkeeper.benchmarks.scale;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.shard.MemberId;

/**
 * One member's view of a store that it shares with others: its subscription is one of
 * many on a connection, and closing it does not close the store. Measures heartbeats.
 * Thread-safe.
 */
final class MemberStore {

	private MemberStore() {
	}

	/**
	 * Creates the view.
	 * @param store the store
	 * @param baseKey the prefix of the group's keys
	 * @param subscriptions the members' channels
	 * @param costs receives the durations of heartbeats
	 * @return the store for a member
	 */
	static CoordinationStore over(CoordinationStore store, String baseKey, SharedSubscriptions subscriptions,
			Costs costs) {
		return (CoordinationStore) Proxy.newProxyInstance(MemberStore.class.getClassLoader(),
				new Class<?>[] { CoordinationStore.class }, (proxy, method, arguments) -> switch (method.getName()) {
					case "subscribe" ->
						subscriptions.open(baseKey + ":member:" + (MemberId) arguments[0], (Runnable) arguments[1]);
					case "close" -> null;
					default -> timed(store, method, arguments, costs);
				});
	}

	private static Object timed(CoordinationStore store, Method method, Object[] arguments, Costs costs)
			throws Throwable {
		long begun = System.nanoTime();
		try {
			return method.invoke(store, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
		finally {
			if (method.getName().equals("heartbeat")) {
				costs.heartbeat((System.nanoTime() - begun) / 1e6);
			}
		}
	}

}
