package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.GroupPositions.Position;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Backoff;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Shards of one source that have no offset and wait for their start position. It is
 * resolved by a loop, not by the workers: a source that does not reply would block the
 * threads that handle the records of others. Thread-safe.
 */
final class ShardStarts {

	private static final Logger logger = PrintableLogger.of(ShardStarts.class);

	private static final Duration FIRST_PAUSE = Duration.ofMillis(250);

	private static final Duration LAST_PAUSE = Duration.ofSeconds(10);

	private final ShardReader reader;

	private final Positions positions;

	private final MonotonicClock clock;

	/** Guarded by this. */
	private final Map<ShardId, Start> waiting = new LinkedHashMap<>();

	/** Confined to the loop. */
	private final ProblemLog log = new ProblemLog();

	ShardStarts(ShardReader reader, Positions positions, MonotonicClock clock) {
		this.reader = reader;
		this.positions = positions;
		this.clock = clock;
	}

	/** Starts a shard with a later step. */
	synchronized void add(ShardId shard, RecordSink sink) {
		this.waiting.put(shard, new Start(shard, sink, this.clock.now()));
	}

	/** Cancels the start of a shard, if it waits for one. */
	synchronized void cancel(ShardId shard) {
		this.waiting.remove(shard);
	}

	/** Adds the shards whose start position could not be resolved so far. */
	synchronized void addProblems(Map<ShardId, String> problems) {
		this.waiting.forEach((shard, start) -> {
			if (start.problem != null) {
				problems.put(shard, start.problem);
			}
		});
	}

	/** Starts due shards; returns when others are due, {@code null} if none waits. */
	@Nullable MonotonicTime run() throws InterruptedException {
		List<Start> due = due(this.clock.now());
		if (!due.isEmpty()) {
			try {
				if (begin(due) && this.log.resolved()) {
					logger.info("Start positions can be found again");
				}
			}
			catch (RuntimeException ex) {
				due.forEach((start) -> start.alone = true);
				failed(due, String.valueOf(ex.getMessage()));
			}
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
		}
		return nextDue();
	}

	/**
	 * Returns the due shards of one topic, to resolve them with one request. After a
	 * request that failed each is resolved alone: only one of them may be the reason.
	 */
	private synchronized List<Start> due(MonotonicTime now) {
		Start first = null;
		for (Start start : this.waiting.values()) {
			if (start.isDue(now) && (first == null || start.isBefore(first))) {
				first = start;
			}
		}
		if (first == null) {
			return List.of();
		}
		Start chosen = first;
		return chosen.alone ? List.of(chosen)
				: this.waiting.values()
					.stream()
					.filter((start) -> start.isDue(now) && !start.alone && start.isLike(chosen))
					.toList();
	}

	/** Returns whether all could be started. */
	private boolean begin(List<Start> due) {
		List<ShardId> shards = due.stream().map((start) -> start.shard).toList();
		Map<ShardId, Position> positions = this.positions.resolve(shards.get(0).topic(), shards);
		Map<String, List<Start>> obstructed = new LinkedHashMap<>();
		for (Start start : due) {
			Position position = positions.get(start.shard);
			if (position != null && position.obstacle() != null) {
				obstructed.computeIfAbsent(position.obstacle(), (obstacle) -> new ArrayList<>()).add(start);
				continue;
			}
			// A stop waits for that, and then stops what was started.
			synchronized (this) {
				if (this.waiting.get(start.shard) == start) {
					this.reader.start(start.shard, (position != null) ? position.before() : null, start.sink);
					this.waiting.remove(start.shard);
				}
			}
		}
		obstructed.forEach((obstacle, starts) -> failed(starts, obstacle));
		return obstructed.isEmpty();
	}

	private synchronized void failed(List<Start> due, String reason) {
		if (this.log.isNew(reason)) {
			logger.warn("Cannot find the start position of {} and does not consume until then; retrying. {}",
					(due.size() == 1) ? due.get(0).shard : due.size() + " shards", reason);
		}
		MonotonicTime now = this.clock.now();
		due.forEach((start) -> start.failed("The start position cannot be found; retrying. " + reason, now));
	}

	private synchronized @Nullable MonotonicTime nextDue() {
		MonotonicTime next = null;
		for (Start start : this.waiting.values()) {
			next = MonotonicTime.earliestOf(next, start.retryAt);
		}
		return next;
	}

	/** Start positions of shards that have no offset. */
	interface Positions {

		/** Returns whether the shards of a topic start with their first record. */
		boolean isFirst(String topic);

		/**
		 * Returns the offsets after which to start shards of a topic, or what prevents a
		 * start there now. May wait for the source or the store.
		 */
		Map<ShardId, Position> resolve(String topic, Collection<ShardId> shards);

	}

	/** Start that waits for its position. Guarded by the outer object. */
	private static final class Start {

		private final ShardId shard;

		private final RecordSink sink;

		private MonotonicTime retryAt;

		private final Backoff backoff = new Backoff(FIRST_PAUSE, LAST_PAUSE);

		/** Whether a request for it has failed. */
		private boolean alone;

		/** {@code null} until it has failed. */
		private @Nullable String problem;

		Start(ShardId shard, RecordSink sink, MonotonicTime now) {
			this.shard = shard;
			this.sink = sink;
			this.retryAt = now;
		}

		boolean isDue(MonotonicTime now) {
			return !now.isBefore(this.retryAt);
		}

		/**
		 * Returns whether its turn comes first. Those that fail may take so long that one
		 * of them is always due: they must not delay all others.
		 */
		boolean isBefore(Start other) {
			return (this.alone != other.alone) ? !this.alone : this.retryAt.isBefore(other.retryAt);
		}

		boolean isLike(Start other) {
			return this.shard.topic().equals(other.shard.topic());
		}

		void failed(String reason, MonotonicTime now) {
			this.problem = reason;
			this.retryAt = now.plus(this.backoff.next());
		}

	}

}
