package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.history.MoveHistory.PhaseAges;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Phases of moves that this instance has reached and not written yet. The first phases of
 * an owner wait for its first record, so that one entry has both; all wait a moment for
 * those of other shards. Confined to the lock of its user.
 */
final class PendingPhases {

	/** Time in which phases of other shards are awaited. */
	static final Duration BATCH_TIME = Duration.ofSeconds(1);

	/** Time after which a first record is no longer awaited. */
	static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

	private static final int MOST_SHARDS = 10_000;

	private final Map<Key, Pending> pending = new LinkedHashMap<>();

	/** Returns when to write what is pending now; {@code null} if this is not written. */
	@Nullable MonotonicTime reached(ShardId shard, Token token, MovePhase phase, MonotonicTime at) {
		Key key = new Key(shard, token);
		Pending known = this.pending.get(key);
		if (phase == MovePhase.FIRST_RECORD && known == null) {
			return null;
		}
		MonotonicTime due = at.plus((phase == MovePhase.ACQUIRED) ? LONGEST_WAIT : BATCH_TIME);
		if (known == null) {
			known = new Pending(due);
			this.pending.put(key, known);
			removeEldest();
		}
		known.phases.putIfAbsent(phase, at);
		known.due = MonotonicTime.earliest(known.due, due);
		return known.due;
	}

	private void removeEldest() {
		Iterator<Key> eldest = this.pending.keySet().iterator();
		for (int surplus = this.pending.size() - MOST_SHARDS; surplus > 0; surplus--) {
			eldest.next();
			eldest.remove();
		}
	}

	boolean isEmpty() {
		return this.pending.isEmpty();
	}

	/** Has everything written now. */
	void hurry(MonotonicTime now) {
		this.pending.values().forEach((phases) -> phases.due = MonotonicTime.earliest(phases.due, now));
	}

	/**
	 * Returns when to write next; {@code null} if nothing is pending.
	 */
	@Nullable MonotonicTime nextDue() {
		MonotonicTime next = null;
		for (Pending phases : this.pending.values()) {
			next = MonotonicTime.earliestOf(next, phases.due);
		}
		return next;
	}

	/** Takes what is to be written, and what would be soon; empty if nothing is due. */
	Map<Key, Pending> take(MonotonicTime now, int most) {
		MonotonicTime next = nextDue();
		Map<Key, Pending> taken = new LinkedHashMap<>();
		if (next == null || now.isBefore(next)) {
			return taken;
		}
		MonotonicTime soon = now.plus(BATCH_TIME);
		for (Iterator<Map.Entry<Key, Pending>> all = this.pending.entrySet().iterator(); all.hasNext()
				&& taken.size() < most;) {
			Map.Entry<Key, Pending> phases = all.next();
			if (!soon.isBefore(phases.getValue().due)) {
				taken.put(phases.getKey(), phases.getValue());
				all.remove();
			}
		}
		return taken;
	}

	/** Takes back what could not be written. */
	void restore(Map<Key, Pending> taken) {
		taken.forEach((key, phases) -> {
			Pending since = this.pending.put(key, phases);
			if (since != null) {
				since.phases.forEach(phases.phases::putIfAbsent);
			}
		});
		removeEldest();
	}

	/** Returns the phases with their age. */
	static List<PhaseAges> ages(Map<Key, Pending> taken, MonotonicTime now) {
		List<PhaseAges> ages = new ArrayList<>(taken.size());
		taken.forEach((key, phases) -> {
			Map<MovePhase, Duration> since = new EnumMap<>(MovePhase.class);
			phases.phases.forEach((phase, at) -> since.put(phase, at.until(now)));
			ages.add(new PhaseAges(key.shard(), key.token(), since));
		});
		return ages;
	}

	record Key(ShardId shard, Token token) {

	}

	/** Phases of a shard under a token. Confined as the whole. */
	static final class Pending {

		private final Map<MovePhase, MonotonicTime> phases = new EnumMap<>(MovePhase.class);

		private MonotonicTime due;

		private Pending(MonotonicTime due) {
			this.due = due;
		}

	}

}
