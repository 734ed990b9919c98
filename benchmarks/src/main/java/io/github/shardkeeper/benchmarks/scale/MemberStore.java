package io.github.shardkeeper.benchmarks.scale;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import io.github.shardkeeper.coordination.CoordinationStore;
import io.github.shardkeeper.shard.MemberId;

/**
 * One member's way to a store that it shares with others: its subscription is one of many
 * on a connection, and its end is not the store's. What calls take is told. Thread-safe.
 */
final class MemberStore {

	private MemberStore() {
	}

	/**
	 * Stands in front of a store.
	 * @param store the store
	 * @param baseKey what the group's keys begin with
	 * @param subscriptions has the members' channels
	 * @param times hears of calls
	 * @return what a member can take for a store of its own
	 */
	static CoordinationStore over(CoordinationStore store, String baseKey, SharedSubscriptions subscriptions,
			CallTimes times) {
		return (CoordinationStore) Proxy.newProxyInstance(MemberStore.class.getClassLoader(),
				new Class<?>[] { CoordinationStore.class }, (proxy, method, arguments) -> switch (method.getName()) {
					case "subscribe" ->
						subscriptions.open(baseKey + ":member:" + (MemberId) arguments[0], (Runnable) arguments[1]);
					case "close" -> null;
					default -> timed(store, method, arguments, times);
				});
	}

	private static Object timed(CoordinationStore store, Method method, Object[] arguments, CallTimes times)
			throws Throwable {
		long begun = System.nanoTime();
		try {
			return method.invoke(store, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
		finally {
			times.took(method.getName(), begun, System.nanoTime());
		}
	}

}
