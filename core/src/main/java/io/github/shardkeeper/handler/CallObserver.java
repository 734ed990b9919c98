package io.github.shardkeeper.handler;

import java.util.List;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Wraps each call of a {@code @ShardConsumer} method. Callbacks are not observed.
 * Thread-safe.
 */
@FunctionalInterface
public interface CallObserver {

	/**
	 * Makes the call exactly once, on this thread, and throws what it throws.
	 * @param context the shard
	 * @param records the records, in order; empty for a handler without records
	 * @param call the call
	 * @throws Throwable what the call throws
	 */
	void observe(ShardContext context, List<SourceRecord> records, Call call) throws Throwable;

	/**
	 * A call of a handler's method.
	 */
	@FunctionalInterface
	interface Call {

		/**
		 * Makes the call.
		 * @throws Throwable what the method throws
		 */
		void make() throws Throwable;

	}

}
