package io.github.shardkeeper.source;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Backoff;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Reader of a source that is asked for the records of one shard at a time, such as files,
 * tables or HTTP services. The source implements a {@link Fetcher}; the reader does the
 * rest of the {@link ShardReader} contract.
 * <p>
 * It fetches from each shard in turn, on the thread that polls: without a pause from a
 * shard that has records, once per interval from one that has none. So idle shards cost
 * one fetch per interval each. A source that can wait for records of many shards at once
 * implements {@link ShardReader} itself. Thread-safe, except {@link #poll()}.
 */
public final class PollingShardReader implements ShardReader {

	private static final Logger logger = PrintableLogger.of(PollingShardReader.class);

	/** Time after which a poll returns, although it has not fetched from all shards. */
	private static final Duration MAX_POLL = Duration.ofSeconds(2);

	private static final Duration FIRST_RETRY = Duration.ofSeconds(1);

	private static final Duration MAX_RETRY = Duration.ofSeconds(30);

	private final Fetcher fetcher;

	private final Predicate<ShardId> closed;

	private final Duration interval;

	private final MonotonicClock clock;

	private final Object lock = new Object();

	/** Guarded by the lock; the shard that was fetched last is the last one. */
	private final Map<ShardId, Position> positions = new LinkedHashMap<>();

	/** Whether the next poll must not wait; guarded by the lock. */
	private boolean woken;

	/**
	 * Creates a reader of shards that are never closed.
	 * @param fetcher fetches the records
	 * @param interval the time between two fetches from a shard without new records
	 */
	public PollingShardReader(Fetcher fetcher, Duration interval) {
		this(fetcher, (shard) -> false, interval);
	}

	/**
	 * Creates a reader of shards that may be closed.
	 * @param fetcher fetches the records
	 * @param closed returns whether no record will be appended to a shard any more. It is
	 * asked before each fetch; a closed shard ends with the first fetch without records
	 * @param interval the time between two fetches from a shard without new records
	 */
	public PollingShardReader(Fetcher fetcher, Predicate<ShardId> closed, Duration interval) {
		this(fetcher, closed, interval, MonotonicClock.SYSTEM);
	}

	PollingShardReader(Fetcher fetcher, Predicate<ShardId> closed, Duration interval, MonotonicClock clock) {
		Objects.requireNonNull(fetcher, "fetcher must not be null");
		Objects.requireNonNull(closed, "closed must not be null");
		Objects.requireNonNull(interval, "interval must not be null");
		if (interval.toMillis() <= 0) {
			throw new IllegalArgumentException("The interval is %s: use at least 1 ms".formatted(interval));
		}
		this.fetcher = fetcher;
		this.closed = closed;
		this.interval = interval;
		this.clock = clock;
	}

	@Override
	public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(sink, "sink must not be null");
		synchronized (this.lock) {
			this.positions.put(shard, new Position(shard, sink, after, this.clock.now()));
			wakeUp();
		}
	}

	@Override
	public void stop(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		synchronized (this.lock) {
			this.positions.remove(shard);
		}
	}

	@Override
	public void resume(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		synchronized (this.lock) {
			Position position = this.positions.get(shard);
			if (position != null && position.paused) {
				position.paused = false;
				wakeUp();
			}
		}
	}

	/**
	 * Fetches from all shards without waiting for the interval, soon. For sources that
	 * learn of new records, for example because they have appended them.
	 */
	public void wakeUp() {
		synchronized (this.lock) {
			this.woken = true;
			this.lock.notifyAll();
		}
	}

	@Override
	public boolean poll() throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		MonotonicTime end = this.clock.now().plus(MAX_POLL);
		boolean answered = false;
		boolean idle = true;
		IllegalStateException refusal = null;
		for (Position position : due()) {
			Fetched fetched = fetch(position);
			answered |= fetched.answered;
			try {
				idle &= !deliver(position, fetched);
			}
			catch (RuntimeException ex) {
				// Deliver the records of the other shards first.
				refusal = new IllegalStateException(
						"%s did not take its records; they are fetched again".formatted(position.shard), ex);
			}
			if (!this.clock.now().isBefore(end)) {
				idle = false;
				break;
			}
		}
		if (refusal != null) {
			throw refusal;
		}
		if (idle) {
			awaitInterval();
		}
		return answered;
	}

	private List<Position> due() {
		synchronized (this.lock) {
			this.woken = false;
			MonotonicTime now = this.clock.now();
			return this.positions.values().stream().filter((position) -> position.isDue(now)).toList();
		}
	}

	private void awaitInterval() throws InterruptedException {
		synchronized (this.lock) {
			if (!this.woken) {
				this.lock.wait(this.interval.toMillis());
			}
		}
	}

	/** Fetches without the lock, because it takes time. */
	private Fetched fetch(Position position) throws InterruptedException {
		moveToEnd(position);
		try {
			boolean last = this.closed.test(position.shard);
			List<SourceRecord> records = Objects.requireNonNull(this.fetcher.fetch(position.shard, position.after),
					"The source has returned null: return an empty list if there are no records");
			succeeded(position);
			return new Fetched(records, true, last);
		}
		catch (StoreUnavailableException | InterruptedException ex) {
			throw ex;
		}
		catch (Throwable ex) {
			// Errors, too: the other shards are read meanwhile.
			failed(position, ex);
			return new Fetched(List.of(), false, false);
		}
	}

	/** So that a poll that ends early does not begin with the same shards again. */
	private void moveToEnd(Position position) {
		synchronized (this.lock) {
			if (this.positions.remove(position.shard, position)) {
				this.positions.put(position.shard, position);
			}
		}
	}

	private void succeeded(Position position) {
		synchronized (this.lock) {
			if (position.problem != null) {
				logger.info("{} can be read again", position.shard);
			}
			position.problem = null;
			position.backoff.reset();
		}
	}

	private void failed(Position position, Throwable failure) {
		String problem = describe(failure);
		synchronized (this.lock) {
			if (!problem.equals(position.problem)) {
				logger.warn("{} cannot be read; retrying. {}", position.shard, problem, failure);
			}
			position.problem = problem;
			position.dueAt = this.clock.now().plus(position.backoff.next());
		}
	}

	/**
	 * Messages of I/O exceptions are often only a path or a host. Never throws: a failure
	 * may be the application's, and the description of one must not end a loop.
	 */
	static String describe(Throwable failure) {
		String type = failure.getClass().getSimpleName();
		String message;
		try {
			message = failure.getMessage();
		}
		catch (Throwable ex) {
			return failure.getClass().getName() + ", whose message cannot be read";
		}
		if (message == null) {
			return type;
		}
		return (failure instanceof RuntimeException) ? message : type + ": " + message;
	}

	/** Returns whether there were records, or the end. */
	private boolean deliver(Position position, Fetched fetched) {
		synchronized (this.lock) {
			if (this.positions.get(position.shard) != position) {
				// Stopped, or started again, meanwhile.
				return false;
			}
			List<SourceRecord> records = fetched.records;
			if (!records.isEmpty()) {
				position.paused = !position.sink.offer(records);
				position.after = records.get(records.size() - 1).position();
				return true;
			}
			if (fetched.last) {
				position.sink.ended();
				position.ended = true;
				return true;
			}
			return false;
		}
	}

	@Override
	public Map<ShardId, String> problems() {
		Map<ShardId, String> problems = new TreeMap<>();
		synchronized (this.lock) {
			this.positions.forEach((shard, position) -> {
				if (position.problem != null) {
					problems.put(shard, position.problem);
				}
			});
		}
		return problems;
	}

	@Override
	public void close() {
		synchronized (this.lock) {
			this.positions.clear();
			wakeUp();
		}
	}

	/** Fetches records of a shard. Called by one thread at a time. */
	@FunctionalInterface
	public interface Fetcher {

		/**
		 * Fetches the next records of a shard. May block for a few seconds, during which
		 * no other shard is read. Limit the number of records or bytes: they are buffered
		 * whole.
		 * @param shard the shard; it may be unknown to {@link ShardSource#topics()}
		 * @param after the offset of the last record to skip: that of the last record
		 * returned before, or where the shard was started; {@code null} for none
		 * @return the next records, in order; empty if there are none now
		 * @throws StoreUnavailableException if no shard can be read; the poll fails with
		 * it and a later one retries
		 * @throws Exception if this shard cannot be read: it has a
		 * {@linkplain ShardReader#problems() problem} and is retried after 1 s, then
		 * after twice the time, up to 30 s; the others continue. The message of a
		 * {@link RuntimeException} is shown as it is
		 */
		List<SourceRecord> fetch(ShardId shard, @Nullable Offset after) throws Exception;

	}

	/** Result of a fetch; {@code last}: the shard was closed before. */
	private record Fetched(List<SourceRecord> records, boolean answered, boolean last) {

	}

	/** Guarded by the lock, except {@code after}, which the polling thread uses. */
	private static final class Position {

		private final ShardId shard;

		private final RecordSink sink;

		private @Nullable Offset after;

		private MonotonicTime dueAt;

		private final Backoff backoff = new Backoff(FIRST_RETRY, MAX_RETRY);

		private boolean paused;

		private boolean ended;

		private @Nullable String problem;

		Position(ShardId shard, RecordSink sink, @Nullable Offset after, MonotonicTime now) {
			this.shard = shard;
			this.sink = sink;
			this.after = after;
			this.dueAt = now;
		}

		boolean isDue(MonotonicTime now) {
			return !this.paused && !this.ended && !now.isBefore(this.dueAt);
		}

	}

}
