package io.github.shardkeeper.kafka.reading;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.kafka.client.FixedMetric;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

class BrokerRepliesTests {

	private static final TopicPartition PARTITION = new TopicPartition("web.orders", 0);

	private static final Duration LIMIT = Duration.ofSeconds(5);

	private final Map<MetricName, Metric> metrics = new HashMap<>();

	private Duration wait = Duration.ZERO;

	private MonotonicTime now = MonotonicClock.SYSTEM.now();

	private final BrokerReplies brokers = new BrokerReplies(LIMIT, this.now);

	@Test
	void leaderThatDoesNotAnswerIsSilent() {
		replies(1, 10);
		check();
		pass(LIMIT.plusSeconds(1));
		assertThat(this.brokers.silentBroker(PARTITION)).isEqualTo(1);

		replies(1, 11);
		check();
		assertThat(this.brokers.silentBroker(PARTITION)).isNull();
	}

	@Test
	void brokerThatLetsTheClientWaitIsNotSilent() {
		this.wait = Duration.ofSeconds(10);
		replies(1, 10);
		check();
		pass(LIMIT.plus(this.wait).minusSeconds(1));
		assertThat(this.brokers.silentBroker(PARTITION)).isNull();

		pass(Duration.ofSeconds(2));
		assertThat(this.brokers.silentBroker(PARTITION)).as("longer than that").isEqualTo(1);
	}

	@Test
	void leaderOfAPartitionThatIsReadFromAFollowerIsNotAwaited() {
		replies(1, 10);
		replies(2, 1);
		readFrom(2);
		check();
		for (int i = 2; i < 10; i++) {
			replies(2, i);
			pass(LIMIT.dividedBy(2));
		}
		assertThat(this.brokers.silentBroker(PARTITION)).isNull();

		pass(LIMIT.plusSeconds(1));
		assertThat(this.brokers.silentBroker(PARTITION)).isEqualTo(2);
	}

	private void pass(Duration duration) {
		this.now = this.now.plus(duration);
		check();
	}

	private void check() {
		this.brokers.check(Map.of(PARTITION, 1), this.metrics, this.wait, this.now);
	}

	private void replies(int broker, double count) {
		put("response-total", Map.of("node-id", "node-" + broker), count);
	}

	/** As the consumer names it: without dots in the name of the topic. */
	private void readFrom(int broker) {
		put("preferred-read-replica", Map.of("topic", "web_orders", "partition", "0"), broker);
	}

	private void put(String name, Map<String, String> tags, Object value) {
		MetricName metric = new MetricName(name, "any", "", tags);
		this.metrics.put(metric, new FixedMetric(metric, value));
	}

}
