package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

/**
 * Store of the last moves of a group. The leader adds moves, and the owners of the shards
 * add the phases that only they know; both are in one order. It is bounded, and informs
 * people only: moves may be missing after a failure, and one may be stored twice. Every
 * method may throw a {@link io.github.shardkeeper.StoreUnavailableException}; a retry
 * makes sense. Thread-safe.
 */
public interface MoveHistory {

	/** Adds moves, the oldest first, and removes the oldest ones beyond the bounds. */
	void append(List<ShardMove> moves);

	/** Adds phases as one entry, and removes the oldest ones beyond the bounds. */
	void appendPhases(List<PhaseAges> phases);

	/**
	 * Reads entries, the newest first. Those that cannot be read are left out, and so are
	 * those that are older than the bounds.
	 * @param before the {@link Entry#id()} before which to begin; {@code null} for the
	 * newest
	 * @param most the maximum number of entries to look at
	 * @return the entries; the next part begins before the last of them
	 */
	Page read(@Nullable String before, int most);

	/**
	 * Reads entries, the oldest first, as {@link #read} otherwise.
	 * @param after the id after which to begin; {@code null} for the oldest
	 * @param most the maximum number of entries to look at
	 * @return the entries; the next part begins after the last of them
	 */
	Page readAfter(@Nullable String after, int most);

	/**
	 * A part of the history. Immutable.
	 *
	 * @param entries the moves in the order of the request
	 * @param phases the phases, the oldest first
	 * @param first the id of the first entry that was looked at; {@code null} for none
	 * @param last the id of the last entry that was looked at; {@code null} for none
	 * @param more whether there may be more entries beyond the last one
	 */
	record Page(List<Entry> entries, List<PhaseTimes> phases, @Nullable String first, @Nullable String last,
			boolean more) {

		/** Returns where the next part begins; {@code null} if there is none. */
		public @Nullable String next() {
			return this.more ? this.last : null;
		}

	}

	/**
	 * A stored move. Immutable.
	 *
	 * @param id the id of the entry; its order is that of the moves
	 */
	record Entry(String id, ShardMove move) {

	}

	/**
	 * Phases of a shard under a token, as its owner tells them. Immutable.
	 *
	 * @param ages the time since each phase, in any part of them
	 */
	record PhaseAges(ShardId shard, Token token, Map<MovePhase, Duration> ages) {

		public PhaseAges {
			ages = Map.copyOf(ages);
		}

	}

	/**
	 * Phases of a shard under a token, as they are stored. Immutable.
	 *
	 * @param millis the time of each phase that is known, in milliseconds of the store's
	 * time
	 */
	record PhaseTimes(ShardId shard, Token token, Map<MovePhase, Long> millis) {

		public PhaseTimes {
			millis = Map.copyOf(millis);
		}

	}

	/**
	 * Bounds of a history. Immutable.
	 *
	 * @param maxMoves the maximum number of moves, approximately
	 * @param retention the time for which a move is kept
	 */
	record Bounds(int maxMoves, Duration retention) {

	}

}
