package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.load.IncrementalAssignment;
import io.github.shardkeeper.assignment.selection.BuiltInStrategy;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A strategy that moves shards in steps is called until it is done.
 */
@Tag("proof")
class StepwiseAssignmentTests {

	private static final Map<String, TopicShards> TOPICS = Map.of("orders", TopicShards.count(50));

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final TestConsumption.Ledger ledger = new TestConsumption.Ledger();

	private final List<TestInstance> instances = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.instances.forEach(TestInstance::kill);
		assertThat(this.ledger.breaches()).isEmpty();
	}

	@Test
	void strategyIsCalledAgainAfterEachMoveUntilLoadsAreEven() {
		TestInstance a = start("a");
		await().untilAsserted(() -> assertThat(a.consumption.consumed()).hasSize(50));
		a.consumption.setAnswersDrains(false);

		TestInstance b = start("b");
		for (int arrived = 0; arrived < 25; arrived++) {
			int expected = arrived;
			int underWay = Math.min(IncrementalAssignment.STEP, 25 - arrived);
			await().untilAsserted(() -> {
				assertThat(b.consumption.consumed()).hasSize(expected);
				assertThat(a.consumption.draining()).hasSize(underWay);
			});
			Iterator<ShardId> draining = a.consumption.draining().iterator();
			a.consumption.finishDrain(draining.next());
		}

		await().untilAsserted(() -> assertThat(b.consumption.consumed()).hasSize(25));
		assertThat(a.consumption.consumed()).hasSize(25);
		assertThat(a.consumption.draining()).isEmpty();
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(10));
	}

	private TestInstance start(String name) {
		TestInstance instance = new TestInstance(name, this.store, this.ledger, HandoverRules.DEFAULT,
				AssignmentSettings.builtIn(BuiltInStrategy.INCREMENTAL.settingName(),
						BuiltInStrategy.INCREMENTAL.strategy()));
		instance.coordinator.start(TOPICS, instance.consumption);
		this.instances.add(instance);
		return instance;
	}

}
