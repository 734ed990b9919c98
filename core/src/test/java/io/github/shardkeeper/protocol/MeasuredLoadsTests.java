package io.github.shardkeeper.protocol;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.load.LoadAwareSettings;
import io.github.shardkeeper.assignment.load.LoadMeasure;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Contents and times of a member's load reports. Samples are ten seconds apart.
 */
class MeasuredLoadsTests {

	private static final ShardId FIRST = ShardId.of("orders", 0);

	private static final ShardId SECOND = ShardId.of("orders", 1);

	private MeasuredLoads loads = new MeasuredLoads(LoadReporting.DEFAULT);

	private MonotonicTime now = new MonotonicTime(-17);

	/** Work by shard: nanoseconds, records. */
	private final Map<ShardId, long[]> done = new TreeMap<>();

	private Token token = new Token(5);

	@Test
	void shardHasALoadFromItsSecondSampleOn() {
		assertThat(sample(FIRST, 2_000)).isNull();
		assertThat(loadsOf(sample(FIRST, 2_000))).isEqualTo(Map.of(FIRST, 200.0));
	}

	@Test
	void recordsPerSecondCanBeMeasuredInstead() {
		this.loads = new MeasuredLoads(
				LoadReporting.of(LoadAwareSettings.of(LoadMeasure.RECORDS), LoadReporting.DEFAULT_INTERVAL));
		sample(FIRST, 0);
		this.done.get(FIRST)[1] += 5_000;

		assertThat(loadsOf(sample(FIRST, 9_000))).isEqualTo(Map.of(FIRST, 500.0));
	}

	@Test
	void samplesHalfAMinuteOldCountHalf() {
		sample(FIRST, 0);
		sample(FIRST, 8_000);
		LoadReport last = null;
		for (int i = 0; i < 3; i++) {
			LoadReport report = sample(FIRST, 0);
			last = (report != null) ? report : last;
		}
		// 800 has become 400 after 30 s.
		assertThat(loadsOf(last).get(FIRST)).isCloseTo(400, within(5.0));
	}

	@Test
	void onlySufficientChangesAreReported() {
		sample(FIRST, 0);
		sample(FIRST, 1_000);
		Random random = new Random(3);
		for (int i = 0; i < 500; i++) {
			assertThat(sample(FIRST, 900 + random.nextInt(200))).as("ten percent more or less").isNull();
		}
		List<LoadReport> reports = new ArrayList<>();
		for (int i = 0; i < 30; i++) {
			LoadReport report = sample(FIRST, 2_000);
			if (report != null) {
				reports.add(report);
			}
		}
		assertThat(reports).hasSizeBetween(2, 4);
		assertThat(loadsOf(reports.get(reports.size() - 1)).get(FIRST)).isBetween(160.0, 200.0);
	}

	@Test
	void idleNoiseIsNotReported() {
		sample(FIRST, 0);
		sample(FIRST, 10);
		Random random = new Random(3);
		for (int i = 0; i < 1_000; i++) {
			assertThat(sample(FIRST, random.nextInt(50))).isNull();
		}
	}

	@Test
	void smallChangesOfManyAreReportedTogether() {
		for (int shard = 2; shard < 42; shard++) {
			sampleLater(ShardId.of("orders", shard), 0);
		}
		takeSample();
		takeSample();
		assertThat(takeSample()).isNull();
		for (int i = 0; i < 20; i++) {
			this.done.values().forEach((counters) -> counters[0] += 40_000_000L);
			if (takeSample() != null) {
				return;
			}
		}
		throw new AssertionError("Forty shards with 4 ms/s each were never told");
	}

	@Test
	void newTokenRestartsTheMeasurement() {
		sample(FIRST, 1_000);
		sample(FIRST, 1_000);
		this.token = new Token(6);
		this.done.put(FIRST, new long[2]);

		assertThat(sample(FIRST, 500)).isNull();
		this.loads.forgetReports();
		assertThat(loadsOf(sample(FIRST, 3_000))).isEqualTo(Map.of(FIRST, 300.0));
	}

	@Test
	void releasedShardIsNoLongerReported() {
		sampleLater(FIRST, 1_000);
		sample(SECOND, 0);
		sampleLater(FIRST, 1_000);
		sample(SECOND, 1_000);
		this.done.remove(FIRST);

		assertThat(loadsOf(sample(SECOND, 2_000))).isNotEmpty().doesNotContainKey(FIRST);
	}

	@Test
	void allLoadsAreReportedAgainAfterReportsWereForgotten() {
		sample(FIRST, 1_000);
		sample(FIRST, 1_000);
		assertThat(sample(FIRST, 1_000)).isNull();
		this.loads.forgetReports();

		assertThat(loadsOf(sample(FIRST, 1_000))).isEqualTo(Map.of(FIRST, 100.0));
	}

	@Test
	void simultaneousSamplesAndFallingCountersAreTolerated() {
		sample(FIRST, 1_000);
		sample(FIRST, 1_000);
		this.now = this.now.minus(Duration.ofSeconds(10));
		this.loads.forgetReports();
		assertThat(loadsOf(sample(FIRST, -500)).get(FIRST)).isEqualTo(100.0);
		this.loads.forgetReports();
		assertThat(loadsOf(sample(FIRST, -500)).get(FIRST)).isBetween(0.0, 100.0);
	}

	private LoadReport sample(ShardId shard, long handlerMillis) {
		sampleLater(shard, handlerMillis);
		return takeSample();
	}

	private void sampleLater(ShardId shard, long handlerMillis) {
		this.done.computeIfAbsent(shard, (s) -> new long[2])[0] += handlerMillis * 1_000_000;
	}

	private LoadReport takeSample() {
		this.now = this.now.plus(Duration.ofSeconds(10));
		List<ShardWork> work = new ArrayList<>();
		this.done.forEach((shard, counters) -> work.add(new ShardWork(shard, this.token, counters[0], counters[1])));
		this.loads.sample(work, this.now);
		return this.loads.report();
	}

	private static Map<ShardId, Double> loadsOf(LoadReport report) {
		return report.content().loads();
	}

}
