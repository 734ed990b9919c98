package io.github.shardkeeper.kafka.client;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.kafka.client.Throttling.Side;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the metrics of a client tell of quotas.
 */
class ThrottlingTests {

	private final Map<MetricName, Metric> metrics = new HashMap<>();

	private final Throttling throttling = new Throttling(Side.READING, "shop-reader");

	private MonotonicTime now = MonotonicClock.SYSTEM.now();

	@Test
	void longWaitIsAProblemUntilTheClientWaitsNoMore() {
		check(400.0);
		assertThat(this.throttling.longest()).isEqualTo(Duration.ofMillis(400));
		assertThat(this.throttling.problem()).as("hardly delays a record").isNull();
		check(9000.0);
		assertThat(this.throttling.problem()).contains("'shop-reader'")
			.contains("up to 9000 ms")
			.contains("'consumer_byte_rate'");
		check(300.0);
		assertThat(this.throttling.problem()).as("not over").contains("up to 300 ms");
		check(0.0);
		assertThat(this.throttling.problem()).isNull();
		assertThat(this.throttling.longest()).isZero();
	}

	@Test
	void waitThatIsLongerThanItsMetricIsKnownUntilItsEnd() {
		check(100_000.0);
		this.now = this.now.plus(Duration.ofSeconds(70));
		check(Double.NaN);
		assertThat(this.throttling.longest()).isEqualTo(Duration.ofSeconds(100));
		this.now = this.now.plus(Duration.ofSeconds(30));
		check(Double.NaN);

		assertThat(this.throttling.longest()).isZero();
		assertThat(this.throttling.problem()).isNull();
	}

	@Test
	void clientWithoutTheMetricIsNotThrottled() {
		check(null);

		assertThat(this.throttling.longest()).isZero();
		assertThat(this.throttling.problem()).isNull();
	}

	/** Checks the metric of a client, as one does that was opened a second later. */
	private void check(Double millis) {
		MetricName name = new MetricName("fetch-throttle-time-max", "consumer-fetch-manager-metrics", "", Map.of());
		if (millis != null) {
			this.metrics.put(name, new FixedMetric(name, millis));
		}
		this.throttling.opened(this.metrics);
		this.now = this.now.plus(Duration.ofSeconds(1));
		this.throttling.check(this.now);
	}

}
