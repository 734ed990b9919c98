package io.github.shardkeeper.checkpoint.memory;

import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;

/** The timers of one shard. Confined to the lock of the store. */
final class Timers {

	private static final Comparator<StoredTimer> ORDER = Comparator.comparing(StoredTimer::due)
		.thenComparing((timer) -> timer.id().key())
		.thenComparing((timer) -> timer.id().name());

	private final Map<TimerId, StoredTimer> byId = new HashMap<>();

	private final NavigableSet<StoredTimer> inOrder = new TreeSet<>(ORDER);

	void putAll(Timers others) {
		this.byId.putAll(others.byId);
		this.inOrder.addAll(others.inOrder);
	}

	/** Sets a timer in place of the one before, or removes it. */
	void change(TimerId id, @Nullable Instant due) {
		StoredTimer before = this.byId.remove(id);
		if (before != null) {
			this.inOrder.remove(before);
		}
		if (due != null) {
			StoredTimer timer = new StoredTimer(id, Instant.ofEpochMilli(due.toEpochMilli()));
			this.byId.put(id, timer);
			this.inOrder.add(timer);
		}
	}

	void clear() {
		this.byId.clear();
		this.inOrder.clear();
	}

	List<StoredTimer> after(@Nullable StoredTimer last, int limit) {
		return ((last != null) ? this.inOrder.tailSet(last, false) : this.inOrder).stream().limit(limit).toList();
	}

	int size() {
		return this.byId.size();
	}

}
