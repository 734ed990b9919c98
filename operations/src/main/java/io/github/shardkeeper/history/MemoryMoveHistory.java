package io.github.shardkeeper.history;

import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardMove;

/** The history of moves in memory, shared by all members of a process. Thread-safe. */
public final class MemoryMoveHistory implements MoveHistory {

	private final Bounds bounds;

	private final InstantSource clock;

	/** Guarded by this. Newest last; ids have one length, and so the order of numbers. */
	private final TreeMap<String, Stored> entries = new TreeMap<>();

	private long number;

	/** Creates an empty history. */
	public MemoryMoveHistory(Bounds bounds) {
		this(bounds, InstantSource.system());
	}

	/** Creates an empty history on a clock. */
	public MemoryMoveHistory(Bounds bounds, InstantSource clock) {
		this.bounds = bounds;
		this.clock = clock;
	}

	@Override
	public synchronized void append(List<ShardMove> added) {
		added.forEach((move) -> add(new Stored(this.clock.instant(), move, List.of())));
	}

	@Override
	public synchronized void appendPhases(List<PhaseAges> phases) {
		Instant now = this.clock.instant();
		add(new Stored(now, null, phases.stream().map((reached) -> {
			Map<MovePhase, Long> millis = new EnumMap<>(MovePhase.class);
			reached.ages().forEach((phase, age) -> millis.put(phase, now.minus(age).toEpochMilli()));
			return new PhaseTimes(reached.shard(), reached.token(), millis);
		}).toList()));
	}

	private void add(Stored entry) {
		this.entries.put("%016d".formatted(++this.number), entry);
		cut();
	}

	private void cut() {
		Instant oldest = this.clock.instant().minus(this.bounds.retention());
		while (!this.entries.isEmpty() && (this.entries.size() > this.bounds.maxMoves()
				|| this.entries.firstEntry().getValue().at().isBefore(oldest))) {
			this.entries.pollFirstEntry();
		}
	}

	@Override
	public synchronized Page read(@Nullable String before, int most) {
		cut();
		NavigableMap<String, Stored> older = (before != null) ? this.entries.headMap(before, false) : this.entries;
		return page(older.descendingMap(), most, true);
	}

	@Override
	public synchronized Page readAfter(@Nullable String after, int most) {
		cut();
		return page((after != null) ? this.entries.tailMap(after, false) : this.entries, most, false);
	}

	private static Page page(NavigableMap<String, Stored> wanted, int most, boolean newestFirst) {
		List<Entry> moves = new ArrayList<>();
		List<PhaseTimes> phases = new ArrayList<>();
		String first = wanted.isEmpty() ? null : wanted.firstKey();
		String last = null;
		int looked = 0;
		for (Map.Entry<String, Stored> stored : wanted.entrySet()) {
			if (looked++ == most) {
				return new Page(moves, phases, first, last, true);
			}
			last = stored.getKey();
			ShardMove move = stored.getValue().move();
			if (move != null) {
				moves.add(new Entry(last, move));
			}
			phases.addAll(newestFirst ? 0 : phases.size(), stored.getValue().phases());
		}
		return new Page(moves, phases, first, last, false);
	}

	private record Stored(Instant at, @Nullable ShardMove move, List<PhaseTimes> phases) {

	}

}
