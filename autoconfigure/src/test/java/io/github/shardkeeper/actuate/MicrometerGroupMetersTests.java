package io.github.shardkeeper.actuate;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.operations.reporting.ConsumptionSample;
import io.github.shardkeeper.operations.reporting.ConsumptionSample.ShardFigures;
import io.github.shardkeeper.operations.reporting.ConsumptionSample.TopicFigures;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.report.MovePhaseReport;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** What gauges show of a sample, also of an incomplete one. */
class MicrometerGroupMetersTests {

	private static final ShardId ZERO = ShardId.of("orders", 0);

	private static final ShardId ONE = ShardId.of("orders", 1);

	private static final ShardFigures UNREADABLE = new ShardFigures(null, null, null, false, true);

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final ShardCoordinator coordinator = mock();

	@BeforeEach
	void settle() {
		given(this.coordinator.settings())
			.willReturn(new CoordinationSettings("app", "one", Duration.ofMillis(500), Duration.ofSeconds(3),
					Duration.ofSeconds(15), Duration.ZERO, ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null));
	}

	private MicrometerGroupMeters meters(boolean perShard) {
		return new MicrometerGroupMeters(this.registry, this.coordinator, perShard);
	}

	/** A child context has the registry of its parent, and meters of the same group. */
	@Test
	void gaugesOfAnotherContextStay() {
		given(this.coordinator.leaseRemaining()).willReturn(Duration.ofSeconds(2));
		ShardCoordinator ofChild = mock();
		CoordinationSettings settings = this.coordinator.settings();
		given(ofChild.settings()).willReturn(settings);
		given(ofChild.leaseRemaining()).willReturn(Duration.ofSeconds(1));
		MicrometerGroupMeters parent = meters(false);

		new MicrometerGroupMeters(this.registry, ofChild, false).close();

		assertThat(value("shardkeeper.lease.remaining", "group", "app")).isEqualTo(2);
		parent.close();
		assertThat(this.registry.find("shardkeeper.lease.remaining").gauge()).isNull();
	}

	private static ConsumptionSample sample(Map<ShardId, ShardFigures> shards,
			@Nullable Map<String, TopicFigures> group) {
		return new ConsumptionSample(Set.of("orders"), Set.of("news"), shards, group, List.of());
	}

	private static ShardFigures figures(long lag, @Nullable Long millis) {
		return new ShardFigures(new LagReport(lag, millis, null), 2L, 3L, true, false);
	}

	private double value(String name, String... tags) {
		return this.registry.get(name).tags(tags).gauge().value();
	}

	@Test
	void metersOfAllTopicsExistWithoutAnyShard() {
		meters(false).sampled(sample(Map.of(), null));

		for (String topic : List.of("orders", "news")) {
			for (String name : List.of("shards.owned", "shards.problems", "shards.unreadable", "lag", "lag.stable",
					"lag.age", "dead.letters.stored", "retries.waiting")) {
				assertThat(value("shardkeeper." + name, "group", "app", "topic", topic)).as(name).isZero();
			}
		}
		assertThat(value("shardkeeper.shards", "topic", "orders", "state", "QUIET")).isNaN();
		assertThat(value("shardkeeper.shards.unowned", "topic", "orders")).isNaN();
		assertThat(value("shardkeeper.shards.unowned.age", "topic", "orders")).isNaN();
		assertThat(this.registry.find("shardkeeper.shards.unowned").tag("topic", "news").meter())
			.as("a broadcast topic has no group")
			.isNull();
		assertThat(this.registry.get("shardkeeper.moves").tags("topic", "orders", "cause", "CRASH").timer().count())
			.isZero();
		assertThat(this.registry.get("shardkeeper.rebalances").tag("cause", "JOIN").counter().count()).isZero();
	}

	@Test
	void gaugesAreSumsAndTheLongestTime() {
		meters(false).sampled(sample(Map.of(ZERO, figures(5, 1_500L), ONE, figures(7, 500L)),
				Map.of("orders", new TopicFigures(Map.of("OWNED", 2, "FREE", 1), 1, 2_500))));

		assertThat(value("shardkeeper.shards.owned", "topic", "orders")).isEqualTo(2);
		assertThat(value("shardkeeper.shards.problems", "topic", "orders")).isEqualTo(2);
		assertThat(value("shardkeeper.shards.unreadable", "topic", "orders")).isZero();
		assertThat(value("shardkeeper.lag", "topic", "orders")).isEqualTo(12);
		assertThat(value("shardkeeper.lag.stable", "topic", "orders")).isEqualTo(12);
		assertThat(value("shardkeeper.lag.age", "topic", "orders")).isEqualTo(1.5);
		assertThat(value("shardkeeper.dead.letters.stored", "topic", "orders")).isEqualTo(4);
		assertThat(value("shardkeeper.retries.waiting", "topic", "orders")).isEqualTo(6);
		assertThat(value("shardkeeper.shards", "state", "OWNED")).isEqualTo(2);
		assertThat(value("shardkeeper.shards.unowned", "topic", "orders")).isEqualTo(1);
		assertThat(value("shardkeeper.shards.unowned.age", "topic", "orders")).isEqualTo(2.5);
	}

	@Test
	void recordsThatWaitForATransactionAreMissingInOneNumberOnly() {
		ShardFigures heldBack = new ShardFigures(new LagReport(9L, null, 2L), 0L, 0L, false, false);
		meters(false).sampled(sample(Map.of(ZERO, heldBack, ONE, figures(7, null)), null));

		assertThat(value("shardkeeper.lag", "topic", "orders")).isEqualTo(16);
		assertThat(value("shardkeeper.lag.stable", "topic", "orders")).as("all of a source that holds nothing back")
			.isEqualTo(9);
	}

	@Test
	void unreadableFiguresAreCountedAndHideNoOthers() {
		meters(false).sampled(sample(Map.of(ZERO, figures(5, null), ONE, UNREADABLE), null));

		assertThat(value("shardkeeper.lag", "topic", "orders")).isEqualTo(5);
		assertThat(value("shardkeeper.lag.age", "topic", "orders")).as("the source cannot tell").isNaN();
		assertThat(value("shardkeeper.shards.unreadable", "topic", "orders")).isEqualTo(1);
	}

	@Test
	void nothingStaysFromBeforeAnOutage() {
		MicrometerGroupMeters meters = meters(false);
		meters.sampled(sample(Map.of(ZERO, figures(5, 10L)), Map.of("orders", new TopicFigures(Map.of(), 0, 0))));
		meters.sampled(sample(Map.of(ZERO, UNREADABLE), null));

		for (String name : List.of("lag", "lag.age", "dead.letters.stored", "retries.waiting", "shards.unowned",
				"shards.unowned.age")) {
			assertThat(value("shardkeeper." + name, "topic", "orders")).as(name).isNaN();
		}
		assertThat(value("shardkeeper.shards.owned", "topic", "orders")).isEqualTo(1);

		meters.sampled(sample(Map.of(ZERO, figures(6, 10L)), Map.of("orders", new TopicFigures(Map.of(), 4, 0))));
		assertThat(value("shardkeeper.lag", "topic", "orders")).isEqualTo(6);
		assertThat(value("shardkeeper.shards.unowned", "topic", "orders")).isEqualTo(4);
	}

	@Test
	void gaugesOfShardsAndForeignTopicsVanishWithThem() {
		MicrometerGroupMeters meters = meters(true);
		meters.sampled(
				sample(Map.of(ZERO, figures(5, 10L)), Map.of("retired", new TopicFigures(Map.of("FREE", 1), 1, 0))));
		assertThat(value("shardkeeper.lag", "topic", "orders", "shard", "0")).isEqualTo(5);
		assertThat(value("shardkeeper.shards.owned", "topic", "orders")).isEqualTo(1);
		assertThat(value("shardkeeper.shards", "topic", "retired", "state", "FREE")).isEqualTo(1);

		meters.sampled(sample(Map.of(ONE, UNREADABLE), null));

		assertThat(this.registry.find("shardkeeper.lag").gauges()).map((gauge) -> gauge.getId().getTag("shard"))
			.containsExactly("1");
		assertThat(this.registry.find("shardkeeper.shards").tag("topic", "retired").meter()).isNull();
		meters.close();
		assertThat(this.registry.getMeters()).map(Meter::getClass).noneMatch(Gauge.class::isAssignableFrom);
	}

	@Test
	void movesOfOnePlanAreOneRebalance() {
		MicrometerGroupMeters meters = meters(false);
		meters.moved(move(ZERO, MoveCause.JOIN, 1_000));
		meters.moved(move(ShardId.of("orders", 2), MoveCause.REBALANCE, 5_000));
		meters.moved(move(ONE, MoveCause.JOIN, 1_000));
		assertThat(rebalances("JOIN")).isEqualTo(1);
		assertThat(rebalances("REBALANCE")).isEqualTo(1);

		meters.moved(move(ZERO, MoveCause.JOIN, 9_000));
		assertThat(rebalances("JOIN")).isEqualTo(2);
		assertThat(rebalances("CRASH")).isZero();
	}

	@Test
	void moveIsTimedByPhase() {
		MicrometerGroupMeters meters = meters(false);
		meters.moved(move(ZERO, MoveCause.JOIN, 1_000));
		meters.moved(new ShardMove(ONE, null, MemberId.of("b", "1"), new Token(2), MoveCause.FIRST_OWNER, 1_000, 1_000,
				1_000));
		meters.sampled(new ConsumptionSample(Set.of(), Set.of(), Map.of(), null,
				List.of(new MovePhaseReport("orders", "JOIN", "acquired", Duration.ofMillis(7)))));

		assertThat(millis("shardkeeper.moves", "cause", "JOIN")).isEqualTo(100);
		assertThat(millis("shardkeeper.move.phases", "phase", "drained")).isEqualTo(70);
		assertThat(millis("shardkeeper.move.phases", "phase", "unowned", "cause", "JOIN")).isEqualTo(30);
		assertThat(millis("shardkeeper.move.phases", "phase", "acquired")).isEqualTo(7);
		assertThat(
				this.registry.find("shardkeeper.move.phases").tags("phase", "drained", "cause", "FIRST_OWNER").meter())
			.as("nobody had to release it")
			.isNull();
	}

	private static ShardMove move(ShardId shard, MoveCause cause, long plannedMillis) {
		return new ShardMove(shard, MemberId.of("a", "1"), MemberId.of("b", "1"), new Token(2), cause, plannedMillis,
				plannedMillis + 70, plannedMillis + 100);
	}

	private double rebalances(String cause) {
		return this.registry.get("shardkeeper.rebalances").tag("cause", cause).counter().count();
	}

	private double millis(String name, String... tags) {
		Timer timer = this.registry.get(name).tags(tags).timer();
		assertThat(timer.count()).isEqualTo(1);
		return timer.totalTime(TimeUnit.MILLISECONDS);
	}

}
