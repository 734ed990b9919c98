package io.github.shardkeeper.template;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.IdempotentAppender;
import io.github.shardkeeper.source.IdempotentAppender.Appended;
import io.github.shardkeeper.source.IdempotentAppender.Batch;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.time.Backoff;

/**
 * Appends records that must not be duplicated in numbered batches, of each shard one at a
 * time: the same batch is sent again, under its number, until it is answered. So nothing
 * of a shard overtakes a record that is being repeated. All other records are appended as
 * they are, unless a batch of their shard is under way. Calls of {@link #append} come one
 * after the other; otherwise thread-safe.
 */
final class RetryingAppender implements ShardAppender {

	/** Runs work after a pause, on a thread that must not be blocked. */
	static final BiConsumer<Duration, Runnable> TIMER = (pause, work) -> CompletableFuture
		.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
		.execute(work);

	static final int MOST_PER_BATCH = 200;

	static final long MOST_BYTES_PER_BATCH = 1024 * 1024;

	private static final Duration FIRST_PAUSE = Duration.ofMillis(100);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

	private final IdempotentAppender appender;

	private final int retries;

	private final String producer;

	private final BooleanSupplier closed;

	private final BiConsumer<Duration, Runnable> timer;

	private final DuplicateSendListener repetitions;

	private final Map<ShardId, Lane> lanes = new ConcurrentHashMap<>();

	/** Number of lanes with a batch under way. */
	private final AtomicInteger busy = new AtomicInteger();

	/**
	 * Creates an appender.
	 * @param retries the maximum number of repetitions; with 0, batches are sent once,
	 * and only for records with an id
	 * @param closed whether nothing is to be repeated any more
	 */
	RetryingAppender(IdempotentAppender appender, int retries, String producer, BooleanSupplier closed,
			BiConsumer<Duration, Runnable> timer, DuplicateSendListener repetitions) {
		this.appender = appender;
		this.retries = retries;
		this.producer = producer;
		this.closed = closed;
		this.timer = timer;
		this.repetitions = repetitions;
	}

	@Override
	public void check(NewRecord newRecord) {
		this.appender.check(newRecord);
	}

	@Override
	public void refresh(String topic, boolean mayWait) {
		this.appender.refresh(topic, mayWait);
	}

	@Override
	public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		Set<ShardId> inBatches = shardsInBatches(records);
		if (inBatches.isEmpty()) {
			return this.appender.append(records);
		}
		// Before anything is sent: one refused record refuses all.
		records.forEach(this.appender::check);
		Iterator<CompletableFuture<Offset>> others = appendOthers(
				records.stream().filter((newRecord) -> !inBatches.contains(newRecord.shard())).toList())
			.iterator();
		Map<ShardId, List<Waiting>> waiting = new LinkedHashMap<>();
		List<CompletableFuture<Offset>> offsets = new ArrayList<>(records.size());
		for (NewRecord newRecord : records) {
			if (inBatches.contains(newRecord.shard())) {
				CompletableFuture<Offset> offset = new CompletableFuture<>();
				waiting.computeIfAbsent(newRecord.shard(), (shard) -> new ArrayList<>())
					.add(new Waiting(newRecord, offset));
				offsets.add(offset);
			}
			else {
				offsets.add(others.next());
			}
		}
		waiting.forEach((shard, more) -> this.lanes.computeIfAbsent(shard, (s) -> new Lane()).add(more));
		return offsets;
	}

	/** Also those with a batch under way, which others must not overtake. */
	private Set<ShardId> shardsInBatches(List<NewRecord> records) {
		Set<ShardId> shards = new HashSet<>();
		boolean busyLanes = this.busy.get() > 0;
		for (NewRecord newRecord : records) {
			if (needsBatch(newRecord) || busyLanes && isUnderWay(newRecord.shard())) {
				shards.add(newRecord.shard());
			}
		}
		return shards;
	}

	private boolean needsBatch(NewRecord newRecord) {
		return this.retries > 0 || newRecord.id() != null && !this.appender.appendRecognizesIds(newRecord.shard());
	}

	private boolean isUnderWay(ShardId shard) {
		Lane lane = this.lanes.get(shard);
		return lane != null && lane.isUnderWay();
	}

	/** What fails here must not fail the records in batches. */
	private List<CompletableFuture<Offset>> appendOthers(List<NewRecord> others) {
		if (others.isEmpty()) {
			return List.of();
		}
		try {
			return this.appender.append(others);
		}
		catch (Throwable ex) {
			return others.stream().map((newRecord) -> CompletableFuture.<Offset>failedFuture(ex)).toList();
		}
	}

	private static long size(NewRecord newRecord) {
		long size = newRecord.payload().length;
		for (Map.Entry<String, String> header : newRecord.headers().entrySet()) {
			size += header.getKey().length() + header.getValue().length();
		}
		return size;
	}

	private record Waiting(NewRecord newRecord, CompletableFuture<Offset> offset) {

	}

	/** Records of one shard that are appended in batches. Thread-safe. */
	private final class Lane {

		/** Guarded by this, like the fields below. */
		private final Deque<Waiting> waiting = new ArrayDeque<>();

		private boolean underWay;

		private long number;

		synchronized boolean isUnderWay() {
			return this.underWay;
		}

		void add(List<Waiting> more) {
			synchronized (this) {
				this.waiting.addAll(more);
				if (this.underWay) {
					return;
				}
				this.underWay = true;
				RetryingAppender.this.busy.incrementAndGet();
			}
			next();
		}

		/** Sends the next batch, if there is one. */
		private void next() {
			Attempts attempts;
			synchronized (this) {
				List<Waiting> batch = take();
				if (batch.isEmpty()) {
					this.underWay = false;
					RetryingAppender.this.busy.decrementAndGet();
					return;
				}
				attempts = new Attempts(this, batch, ++this.number);
			}
			attempts.begin();
		}

		private List<Waiting> take() {
			List<Waiting> batch = new ArrayList<>();
			long bytes = 0;
			for (Waiting next = this.waiting.peek(); next != null
					&& batch.size() < MOST_PER_BATCH; next = this.waiting.peek()) {
				bytes += size(next.newRecord());
				if (!batch.isEmpty() && bytes > MOST_BYTES_PER_BATCH) {
					break;
				}
				batch.add(this.waiting.remove());
			}
			return batch;
		}

		/** Returns all that waits, because what is before it was given up. */
		private synchronized List<Waiting> takeAll() {
			List<Waiting> all = List.copyOf(this.waiting);
			this.waiting.clear();
			return all;
		}

	}

	/**
	 * A batch, from its first attempt to its reply. Confined to one attempt at a time.
	 */
	private final class Attempts {

		private final Lane lane;

		private final List<Waiting> records;

		private final Batch batch;

		private int repeated;

		private boolean mayHaveBeenAppended;

		private final Backoff backoff = new Backoff(FIRST_PAUSE, LONGEST_PAUSE);

		Attempts(Lane lane, List<Waiting> records, long number) {
			this.lane = lane;
			this.records = records;
			this.batch = new Batch(RetryingAppender.this.producer, number,
					records.stream().map(Waiting::newRecord).toList());
		}

		void begin() {
			CompletableFuture<Appended> reply;
			try {
				reply = RetryingAppender.this.appender.appendOnce(this.batch);
			}
			catch (Throwable ex) {
				// Also errors: what waits for the lane would wait forever.
				reply = CompletableFuture.failedFuture(ex);
			}
			reply.whenComplete((appended, failure) -> {
				if (failure != null) {
					failed(failure);
				}
				else if (appended.offsets().size() != this.records.size()) {
					failed(new IllegalStateException("The source has returned %d offsets for %d records"
						.formatted(appended.offsets().size(), this.records.size())));
				}
				else {
					appended(appended);
				}
			});
		}

		/**
		 * The lane is free before a caller knows, whose next record may need no batch.
		 */
		private void appended(Appended reply) {
			List<Offset> offsets = reply.offsets();
			try {
				this.lane.next();
			}
			finally {
				for (int i = 0; i < offsets.size(); i++) {
					this.records.get(i).offset().complete(offsets.get(i));
				}
			}
			if (reply.before() > 0) {
				// Last, because a registry of the application may throw.
				RetryingAppender.this.repetitions.dropped(this.batch.shard(), reply.before());
			}
		}

		private void failed(Throwable reported) {
			Throwable failure = (reported instanceof CompletionException && reported.getCause() != null)
					? reported.getCause() : reported;
			boolean refused = !(failure instanceof SendFailedException) || ((SendFailedException) failure).isRefusal();
			this.mayHaveBeenAppended |= !(failure instanceof SendFailedException sent) || sent.mayHaveBeenAppended();
			Throwable last = failure;
			if (!refused && this.repeated < RetryingAppender.this.retries
					&& !RetryingAppender.this.closed.getAsBoolean()) {
				try {
					repeatLater();
					return;
				}
				catch (Throwable ex) {
					last = ex;
				}
			}
			giveUp(last, refused);
		}

		private void repeatLater() {
			this.repeated++;
			RetryingAppender.this.timer.accept(this.backoff.next(), this::begin);
		}

		/** Each record behind would wait as long, unless these were only refused. */
		private void giveUp(Throwable failure, boolean refused) {
			List<Waiting> behind = refused ? List.of() : this.lane.takeAll();
			String attempts = (this.repeated > 0) ? " (%d attempts)".formatted(this.repeated + 1) : "";
			SendFailedException given = new SendFailedException(failure.getMessage() + attempts, failure,
					this.mayHaveBeenAppended, refused);
			this.records.forEach((record) -> record.offset().completeExceptionally(given));
			behind.forEach((record) -> record.offset()
				.completeExceptionally(new SendFailedException(
						"Not sent, because the records before it could not be sent", null, false)));
			this.lane.next();
		}

	}

}
