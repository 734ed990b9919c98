package io.github.shardkeeper.autoconfigure.store;

import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import io.github.shardkeeper.shard.ShardMove;

/**
 * Listeners that meters are beans as, so that neither side needs the other's library.
 * They have types of their own: a bean that is a {@link Consumer} is one of the
 * application's functions, for example for Spring Cloud Stream.
 */
public final class MeterListeners {

	private MeterListeners() {
	}

	/**
	 * Times scripts. Thread-safe.
	 *
	 * @param listener receives the name of a script and its time
	 */
	public record OfScripts(BiConsumer<String, Duration> listener) {

	}

	/**
	 * Counts moves of shards. Thread-safe.
	 *
	 * @param listener receives each move that this instance finds as the leader
	 */
	public record OfMoves(Consumer<ShardMove> listener) {

	}

}
