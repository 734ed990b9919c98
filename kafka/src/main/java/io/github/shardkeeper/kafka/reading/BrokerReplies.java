package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Brokers that do not reply to the consumer although it waits for their records. The
 * consumer does not tell: it retries, and returns the records of other brokers. It waits
 * for the leader of a partition or, with {@code client.rack}, for the follower that the
 * leader has named. Confined to the polling thread, except for {@link #silentBroker}.
 */
final class BrokerReplies {

	private static final Logger logger = PrintableLogger.of(BrokerReplies.class);

	private static final Duration INTERVAL = Duration.ofSeconds(1);

	private static final String NODE = "node-";

	/** Value of each metric {@code preferred-read-replica} without a follower. */
	private static final int LEADER = -1;

	private final Duration limit;

	private final Map<Integer, Replies> brokers = new HashMap<>();

	private MonotonicTime nextCheck;

	private Set<Integer> reported = Set.of();

	/** By partition the broker that it waits for. */
	private volatile Map<TopicPartition, Integer> silent = Map.of();

	/** Creates it; a broker is silent after the limit. */
	BrokerReplies(Duration limit, MonotonicTime now) {
		this.limit = limit;
		this.nextCheck = now;
	}

	/**
	 * Returns the broker of a partition if it was silent for too long at the last check,
	 * otherwise {@code null}. Thread-safe.
	 */
	@Nullable Integer silentBroker(TopicPartition partition) {
		return this.silent.get(partition);
	}

	/** Returns whether to check now: soon after a broker that was silent has answered. */
	boolean isDue(MonotonicTime now) {
		return !this.silent.isEmpty() || !now.isBefore(this.nextCheck);
	}

	/**
	 * Compares the numbers of replies with those of the last check.
	 * @param leaders the leaders of the partitions that are read now
	 * @param metrics the metrics of the consumer
	 * @param wait for how long brokers let the consumer wait because of a quota: it sends
	 * no request meanwhile, and gets no reply
	 */
	void check(Map<TopicPartition, Integer> leaders, Map<MetricName, ? extends Metric> metrics, Duration wait,
			MonotonicTime now) {
		this.nextCheck = now.plus(INTERVAL);
		Map<Integer, Double> counts = counts(metrics);
		Map<String, Integer> followers = followers(metrics);
		Map<TopicPartition, Integer> awaited = new HashMap<>();
		leaders.forEach((partition, leader) -> awaited.put(partition,
				followers.getOrDefault(key(partition.topic(), String.valueOf(partition.partition())), leader)));
		this.brokers.keySet().retainAll(awaited.values());
		Set<Integer> found = new TreeSet<>();
		for (Integer broker : Set.copyOf(awaited.values())) {
			double count = counts.getOrDefault(broker, 0.0);
			Replies before = this.brokers.get(broker);
			if (before == null || before.count() != count) {
				this.brokers.put(broker, new Replies(count, now));
			}
			else if (before.since().until(now).compareTo(this.limit.plus(wait)) > 0) {
				found.add(broker);
			}
		}
		if (!found.equals(this.reported)) {
			logger.warn("Brokers of Kafka that do not reply: {} (before: {})", found, this.reported);
			this.reported = found;
		}
		awaited.values().retainAll(found);
		this.silent = Map.copyOf(awaited);
	}

	/**
	 * Returns the followers that partitions are read from, where it is not the leader.
	 */
	private static Map<String, Integer> followers(Map<MetricName, ? extends Metric> metrics) {
		Map<String, Integer> followers = new HashMap<>();
		metrics.forEach((name, metric) -> {
			String topic = name.tags().get("topic");
			String partition = name.tags().get("partition");
			if (topic != null && partition != null && name.name().equals("preferred-read-replica")
					&& Objects.requireNonNull(metric).metricValue() instanceof Integer broker && broker != LEADER) {
				followers.put(key(topic, partition), broker);
			}
		});
		return followers;
	}

	/** Some versions of the client replace dots in the names of topics. */
	private static String key(String topic, String partition) {
		return topic.replace('.', '_') + "-" + partition;
	}

	/** The consumer counts the replies by connection, also over several to one broker. */
	private static Map<Integer, Double> counts(Map<MetricName, ? extends Metric> metrics) {
		Map<Integer, Double> counts = new HashMap<>();
		metrics.forEach((name, metric) -> {
			String node = name.tags().get("node-id");
			if (node != null && name.name().equals("response-total") && node.startsWith(NODE)
					&& Objects.requireNonNull(metric).metricValue() instanceof Double count) {
				String id = node.substring(NODE.length());
				if (id.matches("[0-9]{1,9}")) {
					counts.put(Integer.parseInt(id), count);
				}
			}
		});
		return counts;
	}

	/** Number of replies, and the time of the check that first found it. */
	private record Replies(double count, MonotonicTime since) {

	}

}
