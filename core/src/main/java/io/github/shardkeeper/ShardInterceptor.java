package io.github.shardkeeper;

import java.util.List;

/**
 * Intercepts each call of a {@link ShardConsumer @ShardConsumer} or
 * {@link OnShardTimer @OnShardTimer} method, of all topics. Any number of beans of this
 * type run, each around the next, in the order of {@code @Order}. Thread-safe.
 * <p>
 * What stands before {@link Call#proceed()} runs before the method, on the thread of the
 * call; what stands after it runs once the method has returned, and in a {@code catch}
 * block once it has thrown. Each attempt is a call of its own. What an interceptor throws
 * is a failure of the call, as if the method had thrown it, also an {@code Error}: the
 * changes of the state are undone, and the call is repeated, or its records take the
 * route that {@code shardkeeper.consumer.on-failure} says.
 * <p>
 * With {@code consumer.transaction: jdbc} it runs within the transaction of the call.
 * <p>
 * <b>Not guaranteed.</b> That what has returned is committed: the commit comes later, and
 * may fail, so that the records are handled again. Callbacks such as
 * {@link OnShardAssigned @OnShardAssigned} are not intercepted, and payloads are
 * converted before.
 */
@FunctionalInterface
public interface ShardInterceptor {

	/**
	 * Makes the call exactly once, on this thread, and throws what it throws. To skip
	 * records, use a {@link ShardRecordFilter}: a call that is not made, and a failure
	 * that is kept, fail the call.
	 * @param shard the shard
	 * @param records the records of the call, in order; empty for a handler without
	 * records. Payloads are as the method takes them, {@code byte[]} if Spring Messaging
	 * converts them; that of a timer is a {@link ShardTimer}
	 * @param call the call of the next interceptor, or of the method
	 * @throws Throwable if the call has failed
	 */
	void intercept(ShardContext shard, List<ShardRecord<?>> records, Call call) throws Throwable;

	/** Call of a handler's method. Confined to the thread of the call. */
	@FunctionalInterface
	interface Call {

		/**
		 * Makes the call.
		 * @throws Throwable what the method throws
		 */
		void proceed() throws Throwable;

	}

}
