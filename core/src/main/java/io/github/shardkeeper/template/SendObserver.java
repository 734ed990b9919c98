package io.github.shardkeeper.template;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Hears of every record that a template sends: for whoever measures, and for what has to
 * travel along, such as a trace. Thread-safe.
 */
@FunctionalInterface
public interface SendObserver {

	/** Does nothing, and costs nothing. */
	SendObserver NONE = (shard, key, headers) -> (offset, failure) -> {
	};

	/**
	 * A record is about to be sent. Called by the thread that sends it.
	 * @param shard where to
	 * @param key its key, or {@code null}
	 * @param headers its headers; more may be added, and are sent along
	 * @return is told what has become of it
	 */
	Sent sending(ShardId shard, @Nullable String key, Map<String, String> headers);

	/** A record that is under way. */
	@FunctionalInterface
	interface Sent {

		/**
		 * The record is appended or given up. Called once, on any thread; must not block.
		 * @param offset where it was appended, {@code null} when that is not known
		 * @param failure why not
		 */
		void ended(@Nullable Offset offset, @Nullable Throwable failure);

	}

}
