package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.history.MoveReporter.Filter;
import io.github.shardkeeper.history.MoveReporter.Moves;
import io.github.shardkeeper.report.MovePhaseReport;
import io.github.shardkeeper.report.MoveReport;

/**
 * Follows the history, and finds each phase of a move that only an owner of the shard
 * knows, once, while this instance leads. Begins with what comes after its first call.
 * What becomes known shortly before a change of the leader may be found by both leaders.
 * Confined to one thread at a time.
 */
public final class MoveFollower {

	/** Entries that one call looks at, in parts; more are found by the next calls. */
	private static final int READ_AT_ONCE = 1_000;

	private static final int MOST_PARTS = 10;

	/** Moves whose phases were found and are remembered. */
	private static final int MOST_REMEMBERED = 10_000;

	private final MoveReporter reporter;

	private final Map<String, Set<String>> found = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, Set<String>> eldest) {
			return size() > MOST_REMEMBERED;
		}

	};

	/** {@code null} before the first call. */
	private @Nullable String position;

	/** Creates a follower that has not begun. */
	public MoveFollower(MoveReporter reporter) {
		this.reporter = reporter;
	}

	/**
	 * Returns the phases that have become known since the last call.
	 * @param leads whether this instance leads; otherwise nothing is found
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply; the next call continues
	 */
	public List<MovePhaseReport> next(boolean leads) {
		String from = this.position;
		if (from == null || !leads) {
			// The next leader begins where it has looked last: much moves when one ends.
			this.position = this.reporter.newest();
			this.found.clear();
			return List.of();
		}
		List<MovePhaseReport> phases = new ArrayList<>();
		boolean more = true;
		for (int part = 0; more && part < MOST_PARTS; part++) {
			Moves moves = this.reporter.movesAfter(Filter.NONE, from, READ_AT_ONCE);
			moves.moves().forEach((move) -> add(move, phases));
			from = Objects.requireNonNullElse(moves.newest(), from);
			more = moves.next() != null;
		}
		this.position = from;
		return phases;
	}

	private void add(MoveReport move, List<MovePhaseReport> phases) {
		Set<String> known = this.found.computeIfAbsent(move.id(), (id) -> new HashSet<>());
		add(move, "flushed", move.flushed(), known, phases);
		add(move, "acquired", move.acquired(), known, phases);
		add(move, "firstRecord", move.firstRecord(), known, phases);
	}

	private static void add(MoveReport move, String phase, @Nullable Duration duration, Set<String> known,
			List<MovePhaseReport> phases) {
		if (duration != null && known.add(phase)) {
			phases.add(new MovePhaseReport(move.topic(), move.cause(), phase, duration));
		}
	}

}
