package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource.Watch;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Reads shards on the threads {@code shardkeeper-sls-reader-<n>}, each shard with one
 * request at a time: at once until its end, then after the pause that the
 * {@link ShardFetch} chooses, and after a growing pause when it fails. A shard waits for
 * others only while all threads wait for replies. Records wait for {@link #poll()}, which
 * passes them on. Of a shard that is paused, at most one reply is kept. Thread-safe,
 * except {@link #poll()}, which one thread calls.
 */
final class SlsShardReader implements ShardReader {

	private static final Logger logger = PrintableLogger.of(SlsShardReader.class);

	private static final Duration WAIT = Duration.ofSeconds(2);

	private static final Duration UNEXPECTED_PAUSE = Duration.ofSeconds(1);

	private static final int RECORDS_PER_OFFER = 500;

	private final BiFunction<ShardId, @Nullable Offset, ShardFetch> fetches;

	private final ShardAges ages;

	private final @Nullable ConsumerGroupProgress progress;

	private final ScheduledThreadPoolExecutor executor;

	private final Watch listing;

	/** Guarded by this. */
	private final Map<ShardId, Reading> readings = new HashMap<>();

	/** Readings with records, an end or a failure to process. */
	private final BlockingQueue<Reading> ready = new LinkedBlockingQueue<>();

	SlsShardReader(BiFunction<ShardId, @Nullable Offset, ShardFetch> fetches, ShardAges ages,
			@Nullable ConsumerGroupProgress progress, SlsSettings settings, Watch listing) {
		this.fetches = fetches;
		this.ages = ages;
		this.progress = progress;
		this.executor = Threads.scheduler("shardkeeper-sls-reader", settings.threads());
		this.listing = listing;
	}

	@Override
	public synchronized void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
		Reading reading = new Reading(shard, this.fetches.apply(shard, after), sink);
		this.readings.put(shard, reading);
		this.ages.reached(shard, null);
		if (this.progress != null) {
			this.progress.started(shard, after, sink::isOwned);
		}
		schedule(reading, Duration.ZERO);
	}

	@Override
	public synchronized void stop(ShardId shard) {
		if (this.readings.remove(shard) == null) {
			return;
		}
		this.ages.reached(shard, null);
		if (this.progress != null) {
			this.progress.stopped(shard);
		}
	}

	@Override
	public synchronized void resume(ShardId shard) {
		Reading reading = this.readings.get(shard);
		if (reading == null || !reading.paused) {
			return;
		}
		reading.paused = false;
		if (reading.hasRecords()) {
			this.ready.add(reading);
		}
		else {
			schedule(reading, Duration.ZERO);
		}
	}

	@Override
	public boolean poll() throws InterruptedException {
		Reading first = this.ready.poll(WAIT.toMillis(), TimeUnit.MILLISECONDS);
		if (first == null) {
			return false;
		}
		List<Reading> due = new ArrayList<>();
		due.add(first);
		this.ready.drainTo(due);
		boolean answered = false;
		IllegalStateException refusedBySink = null;
		SlsFailure failure = null;
		for (Reading reading : due) {
			try {
				SlsFailure failed = process(reading);
				answered |= failed == null;
				failure = (failed != null) ? failed : failure;
			}
			catch (IllegalStateException ex) {
				// Process the other shards first.
				refusedBySink = ex;
			}
		}
		if (refusedBySink != null) {
			throw refusedBySink;
		}
		if (failure != null && !answered && isUnreachable()) {
			throw failure;
		}
		return answered;
	}

	/** Returns whether every shard that is read fails for want of a reply. */
	private synchronized boolean isUnreachable() {
		return this.readings.values().stream().filter(Reading::isActive).allMatch((reading) -> reading.unanswered);
	}

	/** Processes what was read; returns the failure, if the service has not answered. */
	private synchronized @Nullable SlsFailure process(Reading reading) {
		if (this.readings.get(reading.shard) != reading) {
			// Stopped, or restarted, meanwhile.
			return null;
		}
		ShardFetch.Result result = reading.result;
		if (result instanceof ShardFetch.Failed failed) {
			reading.result = null;
			reading.failed(failed);
			schedule(reading, failed.pause());
			return reading.unanswered ? failed.failure() : null;
		}
		reading.answered();
		if (result instanceof ShardFetch.Stopped stopped) {
			reading.result = null;
			reading.stopped(stopped.problem());
			return null;
		}
		try {
			if (result instanceof ShardFetch.Ended) {
				reading.sink.ended();
				reading.result = null;
				reading.done = true;
				return null;
			}
			if (result instanceof ShardFetch.Moved moved) {
				if (moved.loss() != null) {
					logger.warn(moved.loss());
				}
				// What was done ahead was counted from another position.
				reading.sink.movedTo(moved.after(), true);
			}
			deliver(reading);
		}
		catch (Throwable ex) {
			this.ready.add(reading);
			throw new IllegalStateException(
					"%s did not take its records; they are offered again".formatted(reading.shard), ex);
		}
		return null;
	}

	private void deliver(Reading reading) {
		while (reading.hasRecords()) {
			reading.paused = !reading.sink.offer(reading.peek());
			reading.advance();
			if (reading.paused && reading.hasRecords()) {
				return;
			}
		}
		Duration pause = (reading.result instanceof ShardFetch.Fetched fetched) ? fetched.pause() : Duration.ZERO;
		reading.result = null;
		if (!reading.paused) {
			schedule(reading, pause);
		}
	}

	private void schedule(Reading reading, Duration delay) {
		try {
			this.executor.schedule(() -> fetch(reading), delay.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("Closed: {} is not read any more", reading.shard, ex);
		}
	}

	private void fetch(Reading reading) {
		synchronized (this) {
			if (this.readings.get(reading.shard) != reading) {
				return;
			}
		}
		try {
			ShardFetch.Result result = reading.fetch.next();
			synchronized (this) {
				reading.read(result);
				if (this.readings.get(reading.shard) == reading) {
					this.ages.reached(reading.shard, reading.fetch.reached());
				}
			}
			this.ready.add(reading);
		}
		catch (Throwable ex) {
			// Nobody else would read the shard again.
			schedule(reading, UNEXPECTED_PAUSE);
			logger.error("{} could not be read; retrying", reading.shard, ex);
		}
	}

	@Override
	public void committed(ShardId shard, Offset offset) {
		if (this.progress != null) {
			this.progress.committed(shard, offset);
		}
	}

	@Override
	public synchronized Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new HashMap<>();
		this.readings.values().forEach((reading) -> {
			if (reading.problem != null) {
				problems.put(reading.shard, reading.problem);
			}
		});
		return problems;
	}

	@Override
	public void close() {
		synchronized (this) {
			List.copyOf(this.readings.keySet()).forEach(this::stop);
		}
		this.executor.shutdownNow();
		this.listing.close();
	}

	/** A shard that is read. Guarded by the reader. */
	private static final class Reading {

		private final ShardId shard;

		private final ShardFetch fetch;

		private final RecordSink sink;

		private ShardFetch.@Nullable Result result;

		/** Number of records of the result that were delivered. */
		private int delivered;

		private boolean paused;

		/** Whether it is not read any more, because it has ended or was stopped. */
		private boolean done;

		private boolean unanswered;

		private @Nullable String problem;

		Reading(ShardId shard, ShardFetch fetch, RecordSink sink) {
			this.shard = shard;
			this.fetch = fetch;
			this.sink = sink;
		}

		void read(ShardFetch.Result next) {
			this.result = next;
			this.delivered = 0;
		}

		boolean hasRecords() {
			return this.delivered < records().size();
		}

		List<SourceRecord> peek() {
			List<SourceRecord> records = records();
			return records.subList(this.delivered, Math.min(records.size(), this.delivered + RECORDS_PER_OFFER));
		}

		void advance() {
			this.delivered += peek().size();
		}

		private List<SourceRecord> records() {
			return (this.result instanceof ShardFetch.Fetched fetched) ? fetched.records() : List.of();
		}

		boolean isActive() {
			return !this.paused && !this.done;
		}

		void failed(ShardFetch.Failed failed) {
			SlsFailure.Kind kind = failed.failure().kind();
			this.unanswered = kind == SlsFailure.Kind.NO_ANSWER || kind == SlsFailure.Kind.SERVER;
			if (failed.visible()) {
				if (this.problem == null) {
					logger.warn((kind == SlsFailure.Kind.THROTTLED) ? "{} is throttled; retrying. {}"
							: "{} cannot be read; retrying. {}", this.shard, failed.failure().getMessage());
				}
				this.problem = failed.failure().getMessage();
			}
		}

		void answered() {
			this.unanswered = false;
			if (this.problem != null) {
				logger.info("{} can be read again", this.shard);
			}
			this.problem = null;
		}

		void stopped(String reason) {
			logger.error("{}", reason);
			this.problem = reason;
			this.done = true;
		}

	}

}
