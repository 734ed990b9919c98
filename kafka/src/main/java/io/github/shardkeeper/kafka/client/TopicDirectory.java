package io.github.shardkeeper.kafka.client;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.DirectoryContents.Described;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.source.ShardListWatchers;
import io.github.shardkeeper.source.ShardSource.Watch;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * The Kafka topics of a source and their partitions. Reads them at an interval while
 * somebody watches, and when asked to. What was known stays known while Kafka does not
 * reply. Thread-safe.
 */
public final class TopicDirectory {

	private static final Logger logger = PrintableLogger.of(TopicDirectory.class);

	private static final long MISSING_AGAIN_MILLIS = 500;

	private static final long PAUSE_MILLIS = 20;

	private final KafkaSourceSettings settings;

	private final KafkaFailure failures;

	/** Has one thread: one refresh at a time. */
	private final ScheduledExecutorService executor;

	private final ShardListWatchers watchers = new ShardListWatchers();

	private final MonotonicClock clock = MonotonicClock.SYSTEM;

	private volatile DirectoryContents contents;

	/** Guarded by this. */
	private int watches;

	/** Changed only while this is locked. */
	private volatile @Nullable ScheduledFuture<?> periodic;

	/** The refresh that has not begun yet; guarded by this. */
	private @Nullable CompletableFuture<Void> requested;

	/** Confined to the executor's thread, like the reader. */
	private final ProblemLog log = new ProblemLog();

	private final DirectoryReader reader;

	public TopicDirectory(KafkaSourceSettings settings, KafkaAdmin admin, KafkaFailure failures,
			ScheduledExecutorService executor) {
		this.settings = settings;
		this.reader = new DirectoryReader(settings, admin, this.clock,
				() -> executor.schedule(this::requestRefresh, MISSING_AGAIN_MILLIS, TimeUnit.MILLISECONDS));
		this.failures = failures;
		this.executor = executor;
		Map<String, TopicShards> none = new TreeMap<>();
		settings.topics().keySet().forEach((topic) -> none.put(topic, TopicShards.NONE));
		this.contents = new DirectoryContents(0, this.clock.now(), none, Map.of(), Map.of(), Map.of(), null);
	}

	/** Waits for the first reply only, for a few seconds. */
	public Map<String, TopicShards> topics() {
		if (this.contents.number() == 0) {
			awaitRefresh();
		}
		return this.contents.shards();
	}

	public Map<String, TopicShards> known() {
		return this.contents.shards();
	}

	public Map<String, String> problems() {
		return this.contents.problems();
	}

	/** Returns the number of refreshes, successful or not. */
	public long number() {
		return this.contents.number();
	}

	/** Returns why the last refresh failed, {@code null} if it succeeded. */
	@Nullable public StoreUnavailableException failure() {
		return this.contents.failure();
	}

	/** Returns a partition of each broker that leads one. */
	public Collection<TopicPartition> onePartitionPerLeader() {
		Map<Integer, TopicPartition> partitions = new HashMap<>();
		this.contents.described()
			.forEach((topic, described) -> described.leaders()
				.forEach((partition, leader) -> partitions.putIfAbsent(leader, new TopicPartition(topic, partition))));
		return partitions.values();
	}

	/** Returns the description of a Kafka topic, {@code null} if it has none now. */
	@Nullable public Described described(String kafkaTopic) {
		return this.contents.described().get(kafkaTopic);
	}

	/** Returns why a Kafka topic cannot be read, {@code null} if nothing is known. */
	@Nullable public String refusal(String kafkaTopic) {
		return this.contents.refusals().get(kafkaTopic);
	}

	public ResetPolicy reset(String topic) {
		KafkaTopic mapping = this.settings.topics().get(topic);
		return (mapping != null) ? mapping.reset() : ResetPolicy.EARLIEST;
	}

	/** Returns the partition of a shard, {@code null} if its id names none. */
	@Nullable public TopicPartition partition(ShardId shard) {
		KafkaTopic mapping = this.settings.topics().get(shard.topic());
		if (mapping == null) {
			return null;
		}
		String id = shard.id();
		int dash = (mapping.pattern() != null) ? id.lastIndexOf('-') : -1;
		int number = ShardId.number(id.substring(dash + 1));
		if (number < 0) {
			return null;
		}
		Pattern pattern = mapping.pattern();
		if (pattern == null) {
			return new TopicPartition(String.valueOf(mapping.name()), number);
		}
		String name = (dash > 0) ? id.substring(0, dash) : "";
		return pattern.matcher(name).matches() ? new TopicPartition(name, number) : null;
	}

	public boolean isPattern(String topic) {
		KafkaTopic mapping = this.settings.topics().get(topic);
		return mapping != null && mapping.pattern() != null;
	}

	public Watch watch(Runnable onChange) {
		Watch watch = this.watchers.add(onChange);
		synchronized (this) {
			this.watches++;
			if (this.periodic == null) {
				long millis = this.settings.refreshInterval().toMillis();
				this.periodic = this.executor.scheduleWithFixedDelay(this::refreshNow, 0, millis,
						TimeUnit.MILLISECONDS);
			}
		}
		AtomicBoolean open = new AtomicBoolean(true);
		return () -> {
			watch.close();
			if (open.compareAndSet(true, false)) {
				unwatched();
			}
		};
	}

	private synchronized void unwatched() {
		this.watches--;
		ScheduledFuture<?> current = this.periodic;
		if (this.watches == 0 && current != null) {
			current.cancel(false);
			this.periodic = null;
		}
	}

	/** Begins a refresh if the last one is older than the interval. Does not wait. */
	public void refreshIfDue() {
		DirectoryContents current = this.contents;
		if (this.periodic == null
				&& current.at().until(this.clock.now()).compareTo(this.settings.refreshInterval()) > 0) {
			requestRefresh();
		}
	}

	/** Begins a refresh after this call, one for all that ask until then. */
	public CompletableFuture<Void> requestRefresh() {
		CompletableFuture<Void> request;
		synchronized (this) {
			if (this.requested != null) {
				return this.requested;
			}
			request = new CompletableFuture<>();
			this.requested = request;
		}
		try {
			this.executor.execute(this::refreshNow);
		}
		catch (RejectedExecutionException ex) {
			logger.debug("The source is closed", ex);
			request.complete(null);
		}
		return request;
	}

	/**
	 * Waits for a refresh, unless the last one failed and the next one comes by itself.
	 */
	public void awaitRefreshUnlessFailing() {
		if (this.periodic == null || this.contents.failure() == null) {
			awaitRefresh();
		}
	}

	/** Waits for a refresh; its result is in the contents. */
	public void awaitRefresh() {
		try {
			// As long as a first call. With a pattern there are two, and another refresh
			// may be under way: what is not known by then becomes known later.
			requestRefresh().get(KafkaAdmin.FIRST_TIMEOUT.plus(KafkaAdmin.MARGIN).toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			logger.debug("The partitions of Kafka topics are not known yet", ex);
		}
	}

	/** Waits for new partitions: brokers know them a moment later than the controller. */
	public void awaitPartitions(String kafkaTopic, int partitions) {
		MonotonicTime deadline = this.clock.now().plus(KafkaAdmin.TIMEOUT);
		long pause = 0;
		while (this.clock.now().isBefore(deadline)) {
			try {
				// Limited: tasks of an executor that is shut down never end.
				this.executor.schedule(this::refreshNow, pause, TimeUnit.MILLISECONDS)
					.get(Math.max(0, this.clock.now().until(deadline).toMillis()), TimeUnit.MILLISECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return;
			}
			catch (ExecutionException | TimeoutException | CancellationException | RejectedExecutionException ex) {
				logger.debug("The source is closed, or Kafka does not reply", ex);
				return;
			}
			Described found = described(kafkaTopic);
			if (found != null && found.partitions() >= partitions) {
				return;
			}
			pause = PAUSE_MILLIS;
		}
	}

	private void refreshNow() {
		CompletableFuture<Void> request;
		synchronized (this) {
			request = this.requested;
			this.requested = null;
		}
		try {
			refresh();
		}
		finally {
			if (request != null) {
				request.complete(null);
			}
		}
	}

	private void refresh() {
		DirectoryContents before = this.contents;
		try {
			this.contents = this.reader.read(before);
			if (this.log.resolved()) {
				logger.info("The Kafka topics can be read again");
			}
		}
		catch (StoreUnavailableException ex) {
			failed(before, ex);
		}
		catch (Throwable ex) {
			// A periodic task that throws would not run again.
			failed(before, this.failures.unavailable("cannot read topics and partitions", ex));
		}
		if (!this.contents.isLike(before)) {
			this.watchers.changed();
		}
		else {
			this.watchers.repeatFailed();
		}
	}

	private void failed(DirectoryContents before, StoreUnavailableException failure) {
		String message = String.valueOf(failure.getMessage());
		if (!this.executor.isShutdown() && this.log.isNew(message)) {
			logger.warn("{}; retrying", message);
		}
		Map<String, String> problems = new TreeMap<>(before.problems());
		before.shards().forEach((topic, shards) -> {
			if (failure.isRefusal() || shards.size() == 0) {
				problems.put(topic, message);
			}
		});
		this.contents = new DirectoryContents(before.number() + 1, this.clock.now(), before.shards(), problems,
				before.described(), before.refusals(), failure);
	}

}
