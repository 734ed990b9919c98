package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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

import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.AuthenticationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.shard.Names;
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
 * answer. Thread-safe.
 */
final class TopicDirectory {

	private static final Logger logger = PrintableLogger.of(TopicDirectory.class);

	private static final long MISSING_AGAIN_MILLIS = 500;

	private static final long PAUSE_MILLIS = 20;

	private final KafkaSourceSettings settings;

	private final KafkaAdmin admin;

	private final KafkaFailure failures;

	/** Has one thread: one refresh at a time. */
	private final ScheduledExecutorService executor;

	private final ShardListWatchers watchers = new ShardListWatchers();

	private final MonotonicClock clock = MonotonicClock.SYSTEM;

	private volatile Contents contents;

	/** Guarded by this. */
	private int watches;

	/** Changed only while this is locked. */
	private volatile @Nullable ScheduledFuture<?> periodic;

	/** The refresh that has not begun yet; guarded by this. */
	private @Nullable CompletableFuture<Void> requested;

	/** Confined to the executor's thread, like the following fields. */
	private final ProblemLog log = new ProblemLog();

	/** By Kafka topic the largest number of partitions that it had. */
	private final Map<String, Integer> most = new HashMap<>();

	/** By topic with a pattern the Kafka topics that it has read. */
	private final Map<String, Set<String>> matched = new HashMap<>();

	/** Topics that the last answer did not know, although they were known before. */
	private final Set<String> missingOnce = new HashSet<>();

	TopicDirectory(KafkaSourceSettings settings, KafkaAdmin admin, KafkaFailure failures,
			ScheduledExecutorService executor) {
		this.settings = settings;
		this.admin = admin;
		this.failures = failures;
		this.executor = executor;
		Map<String, TopicShards> none = new TreeMap<>();
		settings.topics().keySet().forEach((topic) -> none.put(topic, TopicShards.NONE));
		this.contents = new Contents(0, this.clock.now(), none, Map.of(), Map.of(), Map.of(), null);
	}

	/** Waits for the first answer only, for a few seconds. */
	Map<String, TopicShards> topics() {
		if (this.contents.number() == 0) {
			awaitRefresh();
		}
		return this.contents.shards();
	}

	Map<String, TopicShards> known() {
		return this.contents.shards();
	}

	Map<String, String> problems() {
		return this.contents.problems();
	}

	/** Returns the number of refreshes, successful or not. */
	long number() {
		return this.contents.number();
	}

	/** Returns why the last refresh failed, {@code null} if it succeeded. */
	@Nullable StoreUnavailableException failure() {
		return this.contents.failure();
	}

	/** Returns a partition of each broker that leads one. */
	Collection<TopicPartition> onePartitionPerLeader() {
		Map<Integer, TopicPartition> partitions = new HashMap<>();
		this.contents.described()
			.forEach((topic, described) -> described.leaders()
				.forEach((partition, leader) -> partitions.putIfAbsent(leader, new TopicPartition(topic, partition))));
		return partitions.values();
	}

	/** Returns the description of a Kafka topic, {@code null} if it has none now. */
	@Nullable Described described(String kafkaTopic) {
		return this.contents.described().get(kafkaTopic);
	}

	/** Returns why a Kafka topic cannot be read, {@code null} if nothing is known. */
	@Nullable String refusal(String kafkaTopic) {
		return this.contents.refusals().get(kafkaTopic);
	}

	ResetPolicy reset(String topic) {
		KafkaTopic mapping = this.settings.topics().get(topic);
		return (mapping != null) ? mapping.reset() : ResetPolicy.EARLIEST;
	}

	/** Returns the partition of a shard, {@code null} if its id names none. */
	@Nullable TopicPartition partition(ShardId shard) {
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

	boolean isPattern(String topic) {
		KafkaTopic mapping = this.settings.topics().get(topic);
		return mapping != null && mapping.pattern() != null;
	}

	Watch watch(Runnable onChange) {
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
	void refreshIfDue() {
		Contents current = this.contents;
		if (this.periodic == null
				&& current.at().until(this.clock.now()).compareTo(this.settings.refreshInterval()) > 0) {
			requestRefresh();
		}
	}

	/** Begins a refresh after this call, one for all that ask until then. */
	CompletableFuture<Void> requestRefresh() {
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
	void awaitRefreshUnlessFailing() {
		if (this.periodic == null || this.contents.failure() == null) {
			awaitRefresh();
		}
	}

	/** Waits for a refresh; its result is in the contents. */
	void awaitRefresh() {
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
	void awaitPartitions(String kafkaTopic, int partitions) {
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
				logger.debug("The source is closed, or Kafka does not answer", ex);
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
		Contents before = this.contents;
		try {
			this.contents = read(before);
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

	private void failed(Contents before, StoreUnavailableException failure) {
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
		this.contents = new Contents(before.number() + 1, this.clock.now(), before.shards(), problems,
				before.described(), before.refusals(), failure);
	}

	private Contents read(Contents before) {
		Reading reading = new Reading(before);
		reading.name();
		reading.describe();
		return reading.contents();
	}

	/** One refresh. */
	private final class Reading {

		private final Contents before;

		/** For each call. */
		private final Duration limit;

		/** By topic its Kafka topics. */
		private final Map<String, List<String>> names = new TreeMap<>();

		private final Map<String, String> problems = new TreeMap<>();

		private final Map<String, Described> described = new HashMap<>();

		private final Map<String, String> refusals = new HashMap<>();

		Reading(Contents before) {
			this.before = before;
			boolean isConnected = before.number() > 0 && before.failure() == null;
			this.limit = isConnected ? KafkaAdmin.TIMEOUT : KafkaAdmin.FIRST_TIMEOUT;
		}

		/** Finds the Kafka topics; each is read by one topic. */
		void name() {
			Map<String, String> readers = new HashMap<>();
			List<String> patterns = new ArrayList<>();
			TopicDirectory.this.settings.topics().forEach((topic, mapping) -> {
				String name = mapping.name();
				if (name != null) {
					readers.put(name, topic);
					this.names.put(topic, List.of(name));
				}
				else {
					patterns.add(topic);
				}
			});
			if (patterns.isEmpty()) {
				return;
			}
			ListTopicsOptions options = KafkaAdmin.limited(new ListTopicsOptions(), this.limit);
			Set<String> all = new TreeSet<>(TopicDirectory.this.admin.await(
					TopicDirectory.this.admin.client().listTopics(options).names(), this.limit, "cannot list topics"));
			Collections.sort(patterns);
			patterns.forEach((topic) -> this.names.put(topic, matching(topic, all, readers)));
		}

		private List<String> matching(String topic, Set<String> all, Map<String, String> readers) {
			KafkaTopic mapping = TopicDirectory.this.settings.topics().get(topic);
			Pattern pattern = (mapping != null) ? mapping.pattern() : null;
			List<String> matching = new ArrayList<>();
			Set<String> earlier = TopicDirectory.this.matched.computeIfAbsent(topic, (name) -> new TreeSet<>());
			// Not listed any more if they were deleted, or may not be described.
			Set<String> candidates = new TreeSet<>(all);
			candidates.addAll(earlier);
			for (String name : candidates) {
				if (pattern == null || !pattern.matcher(name).matches()) {
					continue;
				}
				String other = readers.putIfAbsent(name, topic);
				if (other != null) {
					problem(topic,
							"The Kafka topic '%s' matches 'shardkeeper.kafka.topics.%s.pattern', but the topic '%s' reads it already: correct one of them"
								.formatted(name, topic, other));
				}
				else if (!Names.isValid(name + "-99999")) {
					problem(topic,
							"The Kafka topic '%s' matches 'shardkeeper.kafka.topics.%s.pattern', but its name cannot be part of a shard's id. Give it a topic of its own with 'shardkeeper.kafka.topics.<topic>.name', or exclude it from the pattern"
								.formatted(name, topic));
				}
				else {
					matching.add(name);
				}
			}
			earlier.addAll(matching);
			if (matching.stream().noneMatch(all::contains)) {
				problem(topic,
						"No Kafka topic at %s matches 'shardkeeper.kafka.topics.%s.pattern: %s': create one, or correct the pattern"
							.formatted(TopicDirectory.this.settings.servers(), topic, pattern));
			}
			return matching;
		}

		void describe() {
			Set<String> all = new TreeSet<>();
			this.names.values().forEach(all::addAll);
			if (all.isEmpty()) {
				return;
			}
			Map<String, KafkaFuture<TopicDescription>> answers = TopicDirectory.this.admin.client()
				.describeTopics(all, KafkaAdmin.limited(new DescribeTopicsOptions(), this.limit))
				.topicNameValues();
			StoreUnavailableException unanswered = null;
			for (String name : all) {
				try {
					KafkaFuture<TopicDescription> answer = answers.get(name);
					if (answer != null) {
						found(TopicDirectory.this.admin.await(answer, this.limit,
								"cannot read the topic '%s'".formatted(name)));
					}
				}
				catch (StoreUnavailableException ex) {
					if (refused(name, ex)) {
						continue;
					}
					// Others wait as long for nothing.
					unanswered = ex;
					break;
				}
			}
			if (unanswered != null) {
				throw unanswered;
			}
		}

		private void found(TopicDescription description) {
			TopicDirectory.this.missingOnce.remove(description.name());
			Map<Integer, Integer> leaders = new HashMap<>();
			for (TopicPartitionInfo partition : description.partitions()) {
				if (partition.leader() != null && !partition.leader().isEmpty()) {
					leaders.put(partition.partition(), partition.leader().id());
				}
			}
			this.described.put(description.name(),
					new Described(description.topicId(), description.partitions().size(), leaders));
		}

		/** Returns whether Kafka has answered for this topic. */
		private boolean refused(String name, StoreUnavailableException failure) {
			if (!failure.isRefusal() || failure.getCause() instanceof AuthenticationException) {
				return false;
			}
			Described known = this.before.described().get(name);
			if (!KafkaFailure.isMissing(failure.getCause())) {
				if (known != null) {
					this.described.put(name, known);
				}
				this.refusals.put(name, String.valueOf(failure.getMessage()));
				return true;
			}
			if (known != null && TopicDirectory.this.missingOnce.add(name)) {
				// A broker that has just started may not know its topics yet.
				this.described.put(name, known);
				TopicDirectory.this.executor.schedule(TopicDirectory.this::requestRefresh, MISSING_AGAIN_MILLIS,
						TimeUnit.MILLISECONDS);
				return true;
			}
			this.refusals.put(name, "The Kafka topic '%s' does not exist at %s".formatted(name,
					TopicDirectory.this.settings.servers()));
			return true;
		}

		Contents contents() {
			Map<String, TopicShards> shards = new TreeMap<>();
			this.names.forEach((topic, kafkaTopics) -> shards.put(topic, shards(topic, kafkaTopics)));
			this.problems.forEach((topic, problem) -> {
				if (!problem.equals(this.before.problems().get(topic))) {
					logger.warn("Topic '{}': {}", topic, problem);
				}
			});
			shards.forEach((topic, now) -> {
				TopicShards earlier = this.before.shards().getOrDefault(topic, TopicShards.NONE);
				if (!now.equals(earlier)) {
					logger.info("Topic '{}' has {} shards in Kafka (before: {})", topic, now.size(), earlier.size());
				}
			});
			return new Contents(this.before.number() + 1, TopicDirectory.this.clock.now(),
					Collections.unmodifiableMap(shards), this.problems, this.described, this.refusals, null);
		}

		/** A topic that is missing now keeps the shards that it had. */
		private TopicShards shards(String topic, List<String> kafkaTopics) {
			if (!TopicDirectory.this.isPattern(topic)) {
				String name = kafkaTopics.get(0);
				Described found = this.described.get(name);
				String refusal = this.refusals.get(name);
				if (refusal != null) {
					problem(topic, (found != null) ? refusal
							: refusal + ": create it, or correct 'shardkeeper.kafka.topics.%s.name'".formatted(topic));
				}
				if (found == null) {
					return this.before.shards().getOrDefault(topic, TopicShards.NONE);
				}
				checkNumber(topic, name, found.partitions());
				return TopicShards.count(found.partitions());
			}
			Map<String, List<String>> ids = new HashMap<>();
			for (String name : kafkaTopics) {
				Described found = this.described.get(name);
				String refusal = this.refusals.get(name);
				if (found == null) {
					// Deleted, perhaps for good: only its shards have a problem.
					continue;
				}
				if (refusal != null) {
					problem(topic, refusal);
				}
				checkNumber(topic, name, found.partitions());
				for (int partition = 0; partition < found.partitions(); partition++) {
					ids.put(name + "-" + partition, List.of());
				}
			}
			return TopicShards.of(ids);
		}

		private void checkNumber(String topic, String name, int partitions) {
			int highest = TopicDirectory.this.most.merge(name, partitions, Math::max);
			if (partitions < highest) {
				problem(topic,
						"The Kafka topic '%s' has %d partitions, but had %d before: it was created again with fewer. Its shards from number %2$d on cannot be read until it has as many as before"
							.formatted(name, partitions, highest));
			}
		}

		private void problem(String topic, String problem) {
			this.problems.merge(topic, problem, (one, other) -> one + "; " + other);
		}

	}

	/**
	 * A Kafka topic. Immutable.
	 *
	 * @param id changes if it is deleted and created again
	 * @param partitions the number of partitions
	 * @param leaders the ids of the leaders by partition; a partition without one cannot
	 * be read now
	 */
	record Described(Uuid id, int partitions, Map<Integer, Integer> leaders) {

	}

	/** Result of the refreshes so far. Immutable. */
	private record Contents(long number, MonotonicTime at, Map<String, TopicShards> shards,
			Map<String, String> problems, Map<String, Described> described, Map<String, String> refusals,
			@Nullable StoreUnavailableException failure) {

		boolean isLike(Contents other) {
			return this.shards.equals(other.shards) && this.problems.equals(other.problems)
					&& this.described.equals(other.described) && this.refusals.equals(other.refusals)
					&& (this.failure == null) == (other.failure == null);
		}

	}

}
