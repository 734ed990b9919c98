package io.github.shardkeeper.handler;

import java.util.List;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Wraps each call of a {@code @ShardConsumer} method, but no callback. Thread-safe.
 */
@FunctionalInterface
public interface CallObserver {

	/**
	 * Makes the call exactly once, on this thread, and throws what it throws.
	 * @param records the records, in order; empty for a handler without records
	 */
	void observe(ShardContext context, List<SourceRecord> records, Call call) throws Throwable;

	/** Call of a handler's method. */
	@FunctionalInterface
	interface Call {

		/** Makes the call, and throws what the method throws. */
		void make() throws Throwable;

	}

}
