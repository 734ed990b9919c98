package io.github.shardkeeper.consumer;

import java.util.List;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Stands around each call of a handler's method with records, and of one that loops; not
 * around callbacks. Thread-safe.
 */
@FunctionalInterface
public interface CallObserver {

	/**
	 * Makes a call, once, on this thread, and throws what it throws.
	 * @param context the shard it is made for
	 * @param records what it is made with, in order; empty for one that loops
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
