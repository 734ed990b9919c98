package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardMove;

/**
 * Store of the last moves of a group. It is bounded, and informs people only: moves may
 * be missing after a failure, and one may be stored twice. Every method may throw a
 * {@link io.github.shardkeeper.StoreUnavailableException}; a retry makes sense.
 * Thread-safe.
 */
public interface MoveHistory {

	/** Adds moves, the oldest first, and removes the oldest ones beyond the bounds. */
	void append(List<ShardMove> moves);

	/**
	 * Reads moves, the newest first. Entries that cannot be read are left out.
	 * @param before the {@link Entry#id()} before which to begin; {@code null} for the
	 * newest
	 * @param most the maximum number of entries to look at
	 * @return the moves, and where to continue
	 */
	Page read(@Nullable String before, int most);

	/**
	 * A part of the history. Immutable.
	 *
	 * @param entries the moves, the newest first
	 * @param next the id before which the next part begins; {@code null} after the last
	 */
	record Page(List<Entry> entries, @Nullable String next) {

	}

	/**
	 * A stored move. Immutable.
	 *
	 * @param id the id of the entry; its order is that of the moves
	 */
	record Entry(String id, ShardMove move) {

	}

	/**
	 * Bounds of a history. Immutable.
	 *
	 * @param maxMoves the maximum number of moves, approximately
	 * @param retention the time for which a move is kept, approximately
	 */
	record Bounds(int maxMoves, Duration retention) {

	}

}
