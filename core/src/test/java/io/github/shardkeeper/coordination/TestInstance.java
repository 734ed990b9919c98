package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Map;

import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.member.TestRuntime;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.FailingStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

/** One process, as far as coordination goes. */
public final class TestInstance {

	public static final Duration INTERVAL = Duration.ofMillis(40);

	static final Duration LEASE = Duration.ofMillis(500);

	static final Duration TIMEOUT = Duration.ofMillis(1500);

	private static final Map<String, TopicShards> TOPICS = Map.of("orders", TopicShards.count(4));

	final FailingStore store;

	final TestConsumption consumption;

	final ShardCoordinator coordinator;

	TestInstance(String name, CoordinationStore store, TestConsumption.Ledger ledger, HandoverRules rules) {
		this(name, store, ledger, rules, AssignmentSettings.builtIn("sticky", new StickyAssignment()));
	}

	TestInstance(String name, CoordinationStore store, TestConsumption.Ledger ledger, HandoverRules rules,
			AssignmentSettings assignment) {
		this(settings(name, rules), store, ledger, assignment, MonotonicClock.SYSTEM);
	}

	private TestInstance(CoordinationSettings settings, CoordinationStore store, TestConsumption.Ledger ledger,
			AssignmentSettings assignment, MonotonicClock clock) {
		this.store = new FailingStore(store);
		this.consumption = new TestConsumption(ledger);
		MemberRuntime runtime = TestRuntime.on(clock);
		Lease lease = new Lease(settings.lease(), runtime.clock().now());
		this.coordinator = new ShardCoordinator(settings, this.store,
				new HeartbeatScheduler(this.store, lease, settings.heartbeatInterval(), runtime), lease, assignment,
				runtime);
		this.consumption.reportTo(this.coordinator.consumptionListener());
	}

	public static CoordinationSettings settings(String name, HandoverRules rules) {
		return new CoordinationSettings("group", name, INTERVAL, LEASE, TIMEOUT, Duration.ofMillis(10),
				ApplicationVersion.UNKNOWN, rules, 1, null);
	}

	/** Learns of changes by notifications only. */
	static TestInstance withHourlyHeartbeats(String name, CoordinationStore store, TestConsumption.Ledger ledger) {
		return new TestInstance(
				new CoordinationSettings("group", name, Duration.ofHours(1), Duration.ofHours(6), Duration.ofHours(12),
						Duration.ofMillis(10), ApplicationVersion.UNKNOWN, HandoverRules.DEFAULT, 1, null),
				store, ledger, AssignmentSettings.builtIn("sticky", new StickyAssignment()), MonotonicClock.SYSTEM);
	}

	/** Its time is that of a clock which the test sets. */
	static TestInstance on(MonotonicClock clock, String name, CoordinationStore store, TestConsumption.Ledger ledger) {
		return new TestInstance(settings(name, HandoverRules.DEFAULT), store, ledger,
				AssignmentSettings.builtIn("sticky", new StickyAssignment()), clock);
	}

	TestInstance start() {
		this.coordinator.start(TOPICS, this.consumption);
		return this;
	}

	/** Ends at once, like a killed process. */
	void kill() {
		this.coordinator.close();
		this.consumption.die();
	}

}
