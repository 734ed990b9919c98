package io.github.shardkeeper.protocol;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.assignment.load.LoadMeasure;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Schedules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The text format of load reports, which members of several versions read.
 */
@MoreInProof
class LoadReportTests {

	private static final int REPORTS = Schedules.count("shardkeeper.load.reports", 30, 300);

	@Test
	void reportListsLoadsWithTheirShards() {
		Map<ShardId, Double> loads = Map.of(ShardId.of("orders", 0), 512.0, ShardId.of("orders", 4), 37.2,
				ShardId.of("orders", 6), 36.8, ShardId.of("orders", 1), 0.2, ShardId.of("orders", 10), 0.0,
				new ShardId("page.visits", "eu-1"), 3.0);

		assertThat(LoadReport.of(LoadMeasure.HANDLER_TIME, loads).text())
			.isEqualTo("1|handler-time||orders:510=0;37=4,6;0=1,10|page.visits:3=eu-1");
	}

	@Test
	void reportIsReadAsWritten() {
		Random random = new Random(5);
		Map<ShardId, Double> loads = new HashMap<>();
		for (int shard = 0; shard < 900; shard++) {
			loads.put(ShardId.of((shard % 3 == 0) ? "orders" : "visits", random.nextInt(100_000)),
					Math.pow(10, 5 * random.nextDouble()));
		}
		LoadReport report = LoadReport.of(LoadMeasure.RECORDS, loads);

		LoadReport.Content content = report.content();

		System.out.println("A report of 900 unlike loads has " + report.text().length() + " characters");
		assertThat(report.text().length()).isLessThan(10_000);
		assertThat(content.measure()).isEqualTo("records");
		assertThat(content.rest()).isNaN();
		assertThat(content.loads()).containsOnlyKeys(loads.keySet());
		content.loads()
			.forEach((shard, load) -> assertThat(load).isBetween(0.94 * loads.get(shard) - 0.5,
					1.06 * loads.get(shard) + 0.5));
	}

	@Test
	void reportOfManyShardsListsTheBusiest() {
		Map<ShardId, Double> loads = new HashMap<>();
		for (int shard = 0; shard < 10_000; shard++) {
			loads.put(ShardId.of("orders", shard), (shard % 100 == 0) ? 300.0 : 4.0);
		}
		LoadReport report = LoadReport.of(LoadMeasure.HANDLER_TIME, loads);

		LoadReport.Content content = report.content();

		assertThat(report.text().length()).isLessThanOrEqualTo(16_000);
		assertThat(content.loads().size()).isBetween(2_000, 9_000);
		assertThat(content.loads()).containsEntry(ShardId.of("orders", 9_900), 300.0);
		assertThat(content.rest()).isEqualTo(4);
	}

	@Test
	void reportAtTheLengthLimitCanBeRead() {
		for (long seed = 0; seed < REPORTS; seed++) {
			Random random = new Random(seed);
			Map<ShardId, Double> loads = new HashMap<>();
			for (int shard = 0; shard < 3_000; shard++) {
				loads.put(ShardId.of("topic-" + random.nextInt(300), random.nextInt(100_000)),
						random.nextDouble(1_000));
			}

			LoadReport report = LoadReport.of(LoadMeasure.HANDLER_TIME, loads);

			assertThat(report.text().length()).as("seed %d", seed).isLessThanOrEqualTo(16_000);
			assertThat(report.content().loads()).as("seed %d", seed).hasSizeBetween(1_000, 2_999);
		}
	}

	@Test
	void emptyReportCanBeReadAndWritten() {
		LoadReport report = LoadReport.of(LoadMeasure.HANDLER_TIME, Map.of());

		assertThat(report).isNotEqualTo(LoadReport.NONE);
		assertThat(report.content().loads()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "nonsense", "2|handler-time||orders:1=0", "1|handler-time", "1|records||orders",
			"1|records||orders:x=0", "1|records||orders:-1=0", "1|records||orders:1", "1|records||orders:1=",
			"1|records||:1=0", "1|records||orders:1={0}", "1|records|much|orders:1=0", "1|records||orders:1e999=0" })
	void malformedReportIsRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> new LoadReport(text).content())
			.withMessageContaining("'" + text + "'");
	}

}
