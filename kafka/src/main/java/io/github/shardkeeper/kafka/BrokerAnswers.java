package io.github.shardkeeper.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Brokers that do not answer the consumer although it waits for their records. The
 * consumer does not tell: it retries, and returns the records of other brokers. Confined
 * to the polling thread, except for {@link #isSilent}.
 */
final class BrokerAnswers {

	private static final Logger logger = LoggerFactory.getLogger(BrokerAnswers.class);

	private static final Duration INTERVAL = Duration.ofSeconds(1);

	private static final String NODE = "node-";

	private final Duration limit;

	private final Map<Integer, Answers> brokers = new HashMap<>();

	private MonotonicTime nextCheck;

	private volatile Set<Integer> silent = Set.of();

	/** Creates it; a broker is silent after the limit. */
	BrokerAnswers(Duration limit, MonotonicTime now) {
		this.limit = limit;
		this.nextCheck = now;
	}

	/**
	 * Returns whether a broker was silent for too long at the last check. Thread-safe.
	 */
	boolean isSilent(int broker) {
		return this.silent.contains(broker);
	}

	/** Returns whether to check now: soon after a broker that was silent has answered. */
	boolean isDue(MonotonicTime now) {
		return !this.silent.isEmpty() || !now.isBefore(this.nextCheck);
	}

	/**
	 * Compares the numbers of answers with those of the last check.
	 * @param awaited the leaders of the partitions that are read now
	 * @param metrics the metrics of the consumer
	 */
	void check(Collection<Integer> awaited, Map<MetricName, ? extends Metric> metrics, MonotonicTime now) {
		this.nextCheck = now.plus(INTERVAL);
		Map<Integer, Double> counts = counts(metrics);
		this.brokers.keySet().retainAll(awaited);
		Set<Integer> found = new TreeSet<>();
		for (Integer broker : awaited) {
			double count = counts.getOrDefault(broker, 0.0);
			Answers before = this.brokers.get(broker);
			if (before == null || before.count() != count) {
				this.brokers.put(broker, new Answers(count, now));
			}
			else if (before.since().until(now).compareTo(this.limit) > 0) {
				found.add(broker);
			}
		}
		if (!found.equals(this.silent)) {
			logger.warn("Brokers of Kafka that do not answer: {} (before: {})", found, this.silent);
			this.silent = Set.copyOf(found);
		}
	}

	/** The consumer counts the answers by connection, also over several to one broker. */
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

	/** Number of answers, and the time of the check that first found it. */
	private record Answers(double count, MonotonicTime since) {

	}

}
