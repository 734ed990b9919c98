package io.github.shardkeeper.worker.timer;

import java.time.Instant;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.TimerId;

/**
 * Changes of a shard's timers on their way into the store, the latest of each timer: when
 * it is due, with {@code null} for one that was removed. Confined to the shard's worker.
 */
final class TimerChanges {

	/** Maximum number of committed changes that are kept. */
	private static final int MAX_KEPT = 2_000;

	/** For the next commit. */
	private Map<TimerId, @Nullable Instant> fresh = new LinkedHashMap<>();

	private long bytes;

	/** In the commit that is under way. */
	private Map<TimerId, @Nullable Instant> sent = Map.of();

	/** The latest committed changes, the oldest first: the store may lose them. */
	private final Map<TimerId, @Nullable Instant> kept = new LinkedHashMap<>();

	void add(TimerId id, @Nullable Instant due) {
		if (!this.fresh.containsKey(id)) {
			this.bytes += id.key().length() + id.name().length() + Long.BYTES;
		}
		this.fresh.put(id, due);
	}

	boolean isEmpty() {
		return this.fresh.isEmpty();
	}

	int size() {
		return this.fresh.size();
	}

	long bytes() {
		return this.bytes;
	}

	/** Returns whether a change of a timer is not known to be in the store. */
	boolean contains(TimerId id) {
		return this.fresh.containsKey(id) || this.sent.containsKey(id);
	}

	/** Passes on every change that is not known to be in the store. */
	void forEach(BiConsumer<TimerId, @Nullable Instant> action) {
		this.sent.forEach((id, due) -> {
			if (!this.fresh.containsKey(id)) {
				action.accept(id, due);
			}
		});
		this.fresh.forEach(action);
	}

	/** Takes the changes for a commit. */
	Map<TimerId, @Nullable Instant> take() {
		this.sent = this.fresh;
		this.fresh = new LinkedHashMap<>();
		this.bytes = 0;
		return this.sent;
	}

	/** Takes the changes for a commit that writes again what the store may have lost. */
	Map<TimerId, @Nullable Instant> takeAll() {
		Map<TimerId, @Nullable Instant> all = new HashMap<>(this.kept);
		all.putAll(take());
		return all;
	}

	/** Processes that the commit was written. */
	void committed() {
		this.sent.forEach((id, due) -> {
			this.kept.remove(id);
			this.kept.put(id, due);
		});
		for (Iterator<TimerId> oldest = this.kept.keySet().iterator(); this.kept.size() > MAX_KEPT;) {
			oldest.next();
			oldest.remove();
		}
		this.sent = Map.of();
	}

	/** Processes that the commit was not written. */
	void notCommitted() {
		Map<TimerId, @Nullable Instant> later = this.fresh;
		Map<TimerId, @Nullable Instant> earlier = this.sent;
		this.fresh = new LinkedHashMap<>();
		this.bytes = 0;
		this.sent = Map.of();
		earlier.forEach(this::add);
		later.forEach(this::add);
	}

}
