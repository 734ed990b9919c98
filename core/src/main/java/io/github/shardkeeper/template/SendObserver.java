package io.github.shardkeeper.template;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Observes every record that a template sends, once its shard is known, to measure it or
 * to add headers such as a trace context. What applications do with records is in
 * {@link io.github.shardkeeper.ShardSendInterceptor}. Thread-safe.
 */
@Internal
@FunctionalInterface
public interface SendObserver {

	/** Observer that does nothing; the template skips it. */
	SendObserver NONE = (shard, key, headers) -> (offset, failure) -> {
	};

	/**
	 * Returns the observation of a record, which is notified of the result. Called on the
	 * sending thread. If it throws, the record is not sent.
	 * @param shard the shard of the record
	 * @param key the key, {@code null} for none
	 * @param headers the headers; those that are added are sent too
	 */
	Sent sending(ShardId shard, @Nullable String key, Map<String, String> headers);

	/**
	 * Returns whether the observer adds headers. If not, records are not copied for it,
	 * and the headers that it gets cannot be changed.
	 */
	default boolean addsHeaders() {
		return true;
	}

	/** Observation of a record in flight. Thread-safe. */
	@FunctionalInterface
	interface Sent {

		/**
		 * Ends the observation. Called once, on any thread; does not block.
		 * @param offset the offset of the record, {@code null} if it failed
		 * @param failure the failure, {@code null} if the record was appended
		 */
		void ended(@Nullable Offset offset, @Nullable Throwable failure);

	}

}
