package io.github.shardkeeper.coordination.memory;

import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.shard.ShardMove;

/** The history of moves in memory, shared by all members of a process. Thread-safe. */
public final class MemoryMoveHistory implements MoveHistory {

	private final Bounds bounds;

	private final InstantSource clock;

	/** Guarded by this. Newest last; ids have one length, and so the order of numbers. */
	private final TreeMap<String, Stored> moves = new TreeMap<>();

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
		Instant now = this.clock.instant();
		added.forEach((move) -> this.moves.put("%016d".formatted(++this.number), new Stored(now, move)));
		Instant oldest = now.minus(this.bounds.retention());
		while (!this.moves.isEmpty() && (this.moves.size() > this.bounds.maxMoves()
				|| this.moves.firstEntry().getValue().at().isBefore(oldest))) {
			this.moves.pollFirstEntry();
		}
	}

	@Override
	public synchronized Page read(@Nullable String before, int most) {
		List<Entry> entries = new ArrayList<>();
		var older = (before != null) ? this.moves.headMap(before, false) : this.moves;
		for (var stored : older.descendingMap().entrySet()) {
			if (entries.size() == most) {
				return new Page(entries, entries.get(most - 1).id());
			}
			entries.add(new Entry(stored.getKey(), stored.getValue().move()));
		}
		return new Page(entries, null);
	}

	private record Stored(Instant at, ShardMove move) {

	}

}
