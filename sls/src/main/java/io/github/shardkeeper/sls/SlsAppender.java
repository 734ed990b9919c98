package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.RecordFields;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * Appends records on the threads {@code shardkeeper-sls-sender-<n>}: of each shard one
 * request at a time, so that its records keep their order, with all records that wait. A
 * request that exceeds a quota is repeated after growing pauses until the time limit.
 * Thread-safe.
 */
final class SlsAppender implements AutoCloseable {

	/** Limit of the service for a request, before compression. */
	static final int MAX_BYTES = 10 * 1024 * 1024;

	private static final int BYTES_PER_REQUEST = 3 * 1024 * 1024;

	private static final int RECORDS_PER_REQUEST = 4096;

	private static final int GROUP_OVERHEAD = 16;

	private static final Duration FIRST_PAUSE = Duration.ofMillis(200);

	private static final Offset UNKNOWN = SlsShardSource.UNKNOWN_OFFSET;

	private final SlsClient client;

	private final ShardLists lists;

	private final LongSupplier nanoTime;

	private final LongSupplier wallClockMillis;

	private final ScheduledThreadPoolExecutor executor;

	private final Map<ShardId, Lane> lanes = new ConcurrentHashMap<>();

	SlsAppender(SlsClient client, ShardLists lists, SlsSettings settings, LongSupplier nanoTime,
			LongSupplier wallClockMillis) {
		this.client = client;
		this.lists = lists;
		this.nanoTime = nanoTime;
		this.wallClockMillis = wallClockMillis;
		this.executor = Threads.scheduler("shardkeeper-sls-sender", settings.threads());
	}

	void check(NewRecord newRecord) {
		RecordFields.check(newRecord.headers());
		if (newRecord.id() != null) {
			throw new IllegalArgumentException(
					"A record for %s has an id, but SLS cannot recognize records that are sent again: "
						.formatted(newRecord.shard()) + "send it without withId(…)");
		}
		if (ShardId.number(newRecord.shard().id()) < 0) {
			throw new IllegalArgumentException(
					"%s is no shard of a logstore: those have numbers".formatted(newRecord.shard()));
		}
		// Base64 adds a third.
		if (newRecord.payload().length > MAX_BYTES / 2) {
			requireSize(newRecord, LogEncoder.log(newRecord, 0).length);
		}
	}

	private static void requireSize(NewRecord newRecord, int bytes) {
		if (bytes > MAX_BYTES - GROUP_OVERHEAD) {
			throw new IllegalArgumentException("A record for %s has %,d bytes as a log; SLS takes at most %,d"
				.formatted(newRecord.shard(), bytes, MAX_BYTES - GROUP_OVERHEAD));
		}
	}

	List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		records.forEach(this::check);
		long epochSecond = this.wallClockMillis.getAsLong() / 1000;
		long now = this.nanoTime.getAsLong();
		List<Waiting> all = new ArrayList<>(records.size());
		for (NewRecord newRecord : records) {
			byte[] log = LogEncoder.log(newRecord, epochSecond);
			requireSize(newRecord, log.length);
			all.add(new Waiting(newRecord.shard(), newRecord.key(), log, now, new CompletableFuture<>()));
		}
		if (this.executor.isShutdown()) {
			throw new SendFailedException("Not sent: the source is closed", null, false);
		}
		Map<ShardId, List<Waiting>> byShard = new LinkedHashMap<>();
		all.forEach((waiting) -> byShard.computeIfAbsent(waiting.shard, (shard) -> new ArrayList<>()).add(waiting));
		byShard.forEach((shard, waiting) -> this.lanes.computeIfAbsent(shard, Lane::new).add(waiting));
		return all.stream().map(Waiting::future).toList();
	}

	/** Fails what waits. */
	@Override
	public void close() {
		this.executor.shutdownNow();
		this.lanes.values().forEach(Lane::close);
	}

	private boolean isLate(Waiting waiting) {
		return this.nanoTime.getAsLong() - waiting.sinceNanos > this.client.timeout().toNanos();
	}

	/**
	 * A record that waits for its request.
	 *
	 * @param log the encoded record
	 */
	private record Waiting(ShardId shard, @Nullable String key, byte[] log, long sinceNanos,
			CompletableFuture<Offset> future) {

		void fail(String message, @Nullable Throwable cause, boolean mayHaveBeenAppended) {
			this.future.completeExceptionally(new SendFailedException(message, cause, mayHaveBeenAppended));
		}

	}

	/** Records of a shard, in order. */
	private final class Lane {

		private final ShardId shard;

		/** Guarded by this. */
		private final Deque<Waiting> queue = new ArrayDeque<>();

		/** Whether a thread sends, or will. Guarded by this. */
		private boolean busy;

		/** Requests in a row that exceeded a quota; confined to the thread that sends. */
		private int throttled;

		/** The last of them, {@code null} for none. */
		private @Nullable SlsFailure throttle;

		Lane(ShardId shard) {
			this.shard = shard;
		}

		void add(List<Waiting> more) {
			synchronized (this) {
				this.queue.addAll(more);
				if (this.busy) {
					return;
				}
				this.busy = true;
			}
			schedule(Duration.ZERO);
		}

		private void schedule(Duration delay) {
			try {
				SlsAppender.this.executor.schedule(this::send, delay.toNanos(), TimeUnit.NANOSECONDS);
			}
			catch (RejectedExecutionException ex) {
				close();
			}
		}

		private void send() {
			List<Waiting> batch = new ArrayList<>();
			try {
				take(batch);
				this.throttled = sendAll(batch) ? this.throttled + 1 : 0;
				this.throttle = (this.throttled > 0) ? this.throttle : null;
			}
			catch (StoreUnavailableException ex) {
				batch.forEach((waiting) -> waiting.fail("Not sent to %s. %s".formatted(this.shard, ex.getMessage()), ex,
						false));
			}
			catch (RuntimeException | Error ex) {
				batch.forEach((waiting) -> waiting.fail("Cannot send to %s: %s".formatted(this.shard, ex), ex, true));
			}
			finally {
				sendRest();
			}
		}

		private void sendRest() {
			synchronized (this) {
				this.busy = !this.queue.isEmpty();
				if (!this.busy) {
					return;
				}
			}
			// Other shards come first.
			schedule(pause());
		}

		private Duration pause() {
			// Later records must not be late before they were sent once.
			Duration most = SlsAppender.this.client.timeout().dividedBy(4);
			return (this.throttled == 0) ? Duration.ZERO : RetryPause.after(this.throttled, FIRST_PAUSE,
					(most.compareTo(FIRST_PAUSE) > 0) ? most : FIRST_PAUSE);
		}

		private synchronized void take(List<Waiting> batch) {
			long bytes = 0;
			while (!this.queue.isEmpty() && batch.size() < RECORDS_PER_REQUEST) {
				bytes += this.queue.getFirst().log.length + GROUP_OVERHEAD;
				if (!batch.isEmpty() && bytes > BYTES_PER_REQUEST) {
					break;
				}
				batch.add(this.queue.getFirst());
				this.queue.removeFirst();
			}
		}

		/** Sends a batch; returns whether some of it was put back. */
		private boolean sendAll(List<Waiting> batch) {
			LogstoreShards shards = shards();
			Map<String, List<Waiting>> byHashKey = new LinkedHashMap<>();
			for (Waiting waiting : batch) {
				String hashKey = shards.hashKey(this.shard, waiting.key);
				if (isLate(waiting)) {
					SlsFailure last = this.throttle;
					waiting.fail("Not sent to %s within %s: %s".formatted(this.shard, SlsAppender.this.client.timeout(),
							(last != null) ? last.getMessage() : "requests take too long"), last, false);
				}
				else if (hashKey == null) {
					waiting.fail("Not sent to %s: the logstore has no shard for its keys that can be written to"
						.formatted(this.shard), null, false);
				}
				else {
					byHashKey.computeIfAbsent(hashKey, (key) -> new ArrayList<>()).add(waiting);
				}
			}
			List<Waiting> again = new ArrayList<>();
			byHashKey.forEach((hashKey, waiting) -> {
				if (!put(hashKey, waiting)) {
					again.addAll(waiting);
				}
			});
			putBack(again);
			return !again.isEmpty();
		}

		private synchronized void putBack(List<Waiting> again) {
			for (int i = again.size() - 1; i >= 0; i--) {
				this.queue.addFirst(again.get(i));
			}
		}

		/** A listing may not have the shard yet. */
		private LogstoreShards shards() {
			LogstoreShards known = SlsAppender.this.lists.known(this.shard.topic());
			if (known == null || !known.hasExisted(this.shard)) {
				known = SlsAppender.this.lists.refresh(this.shard.topic(), Duration.ZERO);
			}
			if (!known.hasExisted(this.shard)) {
				throw SlsFailure.refused("The logstore has no shard %s".formatted(this.shard.id()));
			}
			return known;
		}

		/** Sends records of one hash key; returns false if a quota was exceeded. */
		private boolean put(String hashKey, List<Waiting> records) {
			try {
				SlsAppender.this.client.put(this.shard.topic(),
						LogEncoder.group(records.stream().map(Waiting::log).toList()), hashKey);
				records.forEach((waiting) -> waiting.future.complete(UNKNOWN));
				return true;
			}
			catch (SlsFailure ex) {
				if (ex.kind() == SlsFailure.Kind.THROTTLED) {
					this.throttle = ex;
					return false;
				}
				boolean refused = ex.isRefusal();
				records.forEach((waiting) -> waiting.fail("%s %s. %s"
					.formatted(refused ? "Refused by" : "No acknowledgement from", this.shard, ex.getMessage()), ex,
						!refused));
				return true;
			}
		}

		void close() {
			List<Waiting> left;
			synchronized (this) {
				left = List.copyOf(this.queue);
				this.queue.clear();
			}
			left.forEach((waiting) -> waiting.fail("Not sent to %s: the source was closed".formatted(this.shard), null,
					false));
		}

	}

}
