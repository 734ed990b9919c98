package io.github.shardkeeper.kafka.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.AuthenticationException;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.kafka.client.DirectoryContents.Described;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * Reads the Kafka topics of a source, and says which shards they are. Remembers what it
 * has read, because a topic that is missing may be back soon. Confined to the thread that
 * refreshes the {@link TopicDirectory}.
 */
final class DirectoryReader {

	private static final Logger logger = PrintableLogger.of(DirectoryReader.class);

	private final KafkaSourceSettings settings;

	private final KafkaAdmin admin;

	private final MonotonicClock clock;

	private final Runnable readAgain;

	/** By Kafka topic the largest number of partitions that it had. */
	private final Map<String, Integer> most = new HashMap<>();

	/** By topic with a pattern the Kafka topics that it has read. */
	private final Map<String, Set<String>> matched = new HashMap<>();

	/** Topics that the last reply did not know, although they were known before. */
	private final Set<String> missingOnce = new HashSet<>();

	/**
	 * Creates a reader.
	 * @param readAgain called if the reply of a broker should be asked for again soon
	 */
	DirectoryReader(KafkaSourceSettings settings, KafkaAdmin admin, MonotonicClock clock, Runnable readAgain) {
		this.settings = settings;
		this.admin = admin;
		this.clock = clock;
		this.readAgain = readAgain;
	}

	/**
	 * Reads once.
	 * @throws StoreUnavailableException if Kafka does not reply
	 */
	DirectoryContents read(DirectoryContents before) {
		Reading reading = new Reading(before);
		reading.name();
		reading.describe();
		return reading.contents();
	}

	/** One call. */
	private final class Reading {

		private final DirectoryContents before;

		/** For each call. */
		private final Duration limit;

		/** By topic its Kafka topics. */
		private final Map<String, List<String>> names = new TreeMap<>();

		private final Map<String, String> problems = new TreeMap<>();

		private final Map<String, Described> described = new HashMap<>();

		private final Map<String, String> refusals = new HashMap<>();

		Reading(DirectoryContents before) {
			this.before = before;
			boolean isConnected = before.number() > 0 && before.failure() == null;
			this.limit = isConnected ? KafkaAdmin.TIMEOUT : KafkaAdmin.FIRST_TIMEOUT;
		}

		/** Finds the Kafka topics; each is read by one topic. */
		void name() {
			Map<String, String> readers = new HashMap<>();
			List<String> patterns = new ArrayList<>();
			DirectoryReader.this.settings.topics().forEach((topic, mapping) -> {
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
			Set<String> all = new TreeSet<>(DirectoryReader.this.admin.await(
					DirectoryReader.this.admin.client().listTopics(options).names(), this.limit, "cannot list topics"));
			Collections.sort(patterns);
			patterns.forEach((topic) -> this.names.put(topic, matching(topic, all, readers)));
		}

		private List<String> matching(String topic, Set<String> all, Map<String, String> readers) {
			KafkaTopic mapping = DirectoryReader.this.settings.topics().get(topic);
			Pattern pattern = (mapping != null) ? mapping.pattern() : null;
			List<String> matching = new ArrayList<>();
			Set<String> earlier = DirectoryReader.this.matched.computeIfAbsent(topic, (name) -> new TreeSet<>());
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
							.formatted(DirectoryReader.this.settings.servers(), topic, pattern));
			}
			return matching;
		}

		void describe() {
			Set<String> all = new TreeSet<>();
			this.names.values().forEach(all::addAll);
			if (all.isEmpty()) {
				return;
			}
			Map<String, KafkaFuture<TopicDescription>> replies = DirectoryReader.this.admin.client()
				.describeTopics(all, KafkaAdmin.limited(new DescribeTopicsOptions(), this.limit))
				.topicNameValues();
			StoreUnavailableException unanswered = null;
			for (String name : all) {
				try {
					KafkaFuture<TopicDescription> reply = replies.get(name);
					if (reply != null) {
						found(DirectoryReader.this.admin.await(reply, this.limit,
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
			DirectoryReader.this.missingOnce.remove(description.name());
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
			if (known != null && DirectoryReader.this.missingOnce.add(name)) {
				// A broker that has just started may not know its topics yet.
				this.described.put(name, known);
				DirectoryReader.this.readAgain.run();
				return true;
			}
			this.refusals.put(name, "The Kafka topic '%s' does not exist at %s".formatted(name,
					DirectoryReader.this.settings.servers()));
			return true;
		}

		DirectoryContents contents() {
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
			return new DirectoryContents(this.before.number() + 1, DirectoryReader.this.clock.now(),
					Collections.unmodifiableMap(shards), this.problems, this.described, this.refusals, null);
		}

		/** A topic that is missing now keeps the shards that it had. */
		private TopicShards shards(String topic, List<String> kafkaTopics) {
			KafkaTopic mapping = DirectoryReader.this.settings.topics().get(topic);
			if (mapping == null || mapping.pattern() == null) {
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
			int highest = DirectoryReader.this.most.merge(name, partitions, Math::max);
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

}
