package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Shards that come and go while members consume them, with real coordinators on a store
 * in memory. All begin with shards 0 to 3.
 */
@Tag("proof")
class ReshardingStoriesTests {

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final TestConsumption.Ledger ledger = new TestConsumption.Ledger();

	private final List<TestInstance> instances = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.instances.forEach(TestInstance::kill);
		assertThat(this.ledger.breaches()).isEmpty();
	}

	@Test
	void addedShardsThatOnlyAFollowerKnowsAreConsumedEvenly() {
		TestInstance leader = startAlone();
		TestInstance follower = start("b");
		awaitConsumed(follower, 2);
		Set<ShardId> before = consumed(leader);
		know(follower, TopicShards.count(8));

		awaitConsumed(leader, 4);
		awaitConsumed(follower, 4);
		assertThat(consumed(leader)).as("nothing moved").containsAll(before);
		// The other one learns of them, too, and nothing comes of it.
		know(leader, TopicShards.count(8));
		know(leader, TopicShards.count(9));
		await().until(() -> consumed(leader).size() + consumed(follower).size() == 9);
	}

	@Test
	void followerConsumesShardsThatOnlyTheLeaderKnows() {
		TestInstance leader = startAlone();
		TestInstance follower = start("b");
		awaitConsumed(follower, 2);
		know(leader, TopicShards.count(6));

		awaitConsumed(leader, 3);
		awaitConsumed(follower, 3);
	}

	@Test
	void shardsFoundDuringAnOutageAreReportedAfterIt() {
		TestInstance leader = startAlone();
		TestInstance follower = start("b");
		awaitConsumed(follower, 2);
		follower.store.setAway(true);
		await().until(() -> follower.coordinator.storeProblem().isPresent());
		know(follower, TopicShards.count(8));
		follower.store.setAway(false);

		await().until(() -> consumed(leader).size() + consumed(follower).size() == 8);
	}

	@Test
	void descriptionInLostWritesIsSentAgain() {
		TestInstance leader = startAlone();
		TestInstance follower = start("b");
		awaitConsumed(follower, 2);
		Object before = MemoryFailover.snapshot(this.store);
		know(follower, TopicShards.count(8));
		await().until(() -> consumed(leader).size() + consumed(follower).size() == 8);
		MemoryFailover.loseWritesSince(this.store, before);

		await().until(() -> this.store.readChanges(0, -1)
			.members()
			.stream()
			.anyMatch((member) -> member.description().topicShards().get("orders").equals(TopicShards.count(8))));
		await().until(() -> owned().size() == 8);
	}

	@Test
	void rejoiningMemberReportsItsCurrentShards() {
		TestInstance a = startAlone();
		know(a, TopicShards.count(6));
		awaitConsumed(a, 6);
		this.store.leaveGroup(a.coordinator.member().orElseThrow(), Duration.ZERO);

		await().until(() -> this.store.readChanges(0, -1)
			.members()
			.stream()
			.anyMatch((member) -> member.description().topicShards().get("orders").equals(TopicShards.count(6))));
		awaitConsumed(a, 6);
	}

	/**
	 * amazon-kinesis-client#185, #837: shards that are stuck, and workers that idle,
	 * after a split.
	 */
	@Test
	void childrenAreConsumedOnceTheirParentIsCompleted() {
		TestInstance a = startAlone();
		TestInstance b = start("b");
		awaitConsumed(b, 2);
		TopicShards split = TopicShards.count(4).with("4", "1").with("5", "1").with("6", "2", "3");
		know(b, split);
		know(a, split);
		ShardId parent = shard(1);
		await().until(() -> this.store.readChanges(0, -1)
			.members()
			.stream()
			.allMatch((member) -> member.description().topicShards().get("orders").equals(split)));
		assertThat(consumed(a)).hasSize(2);
		assertThat(consumed(b)).hasSize(2);

		ownerOf(parent).consumption.complete(parent);
		await().until(() -> owned().equals(shards(0, 2, 3, 4, 5)));
		ownerOf(shard(2)).consumption.complete(shard(2));
		await().until(() -> owned().equals(shards(0, 3, 4, 5)));
		ownerOf(shard(3)).consumption.complete(shard(3));
		await().until(() -> owned().equals(shards(0, 4, 5, 6)));
		await().until(() -> consumed(a).size() == 2 && consumed(b).size() == 2);
		assertThat(a.coordinator.groupProblems()).isEmpty();
	}

	/**
	 * amazon-kinesis-client#54: completed parents count as load, and a worker has no
	 * other shard.
	 */
	@Test
	void completedShardsDoNotCountAsLoad() {
		TestInstance a = startAlone();
		TestInstance b = start("b");
		awaitConsumed(b, 2);
		consumed(b).forEach(b.consumption::complete);

		awaitConsumed(a, 1);
		awaitConsumed(b, 1);
	}

	/**
	 * spring-cloud-stream-binder-aws-kinesis#39: a restart is needed after resharding.
	 */
	@Test
	void completedShardsStayCompletedAfterARestart() {
		TopicShards split = TopicShards.count(4).with("4", "1").with("5", "1");
		TestInstance a = startAlone();
		know(a, split);
		a.consumption.complete(shard(1));
		await().until(() -> consumed(a).equals(shards(0, 2, 3, 4, 5)));
		a.coordinator.stop(Duration.ofSeconds(30));
		assertThat(consumed(a)).isEmpty();

		TestInstance b = start("b", split);
		await().until(() -> consumed(b).equals(shards(0, 2, 3, 4, 5)));
		assertThat(phases(Phase.COMPLETED)).isEqualTo(shards(1));
	}

	private TestInstance startAlone() {
		TestInstance alone = start("a");
		awaitConsumed(alone, 4);
		return alone;
	}

	private TestInstance start(String name) {
		return start(name, TopicShards.count(4));
	}

	private TestInstance start(String name, TopicShards shards) {
		TestInstance instance = new TestInstance(name, this.store, this.ledger, HandoverRules.DEFAULT);
		this.instances.add(instance);
		instance.coordinator.start(Map.of("orders", shards), instance.consumption);
		return instance;
	}

	private static void know(TestInstance instance, TopicShards shards) {
		instance.coordinator.shardsChanged(Map.of("orders", shards));
	}

	private TestInstance ownerOf(ShardId shard) {
		return this.instances.stream()
			.filter((instance) -> consumed(instance).contains(shard))
			.findFirst()
			.orElseThrow(() -> new AssertionError("Nobody consumes " + shard));
	}

	private static Set<ShardId> consumed(TestInstance instance) {
		return instance.consumption.consumed().keySet();
	}

	private Set<ShardId> owned() {
		return phases(Phase.OWNED);
	}

	private Set<ShardId> phases(Phase phase) {
		Set<ShardId> shards = new TreeSet<>();
		this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.filter((ownership) -> ownership.phase() == phase)
			.map(Ownership::shard)
			.forEach(shards::add);
		return shards;
	}

	private static void awaitConsumed(TestInstance instance, int shards) {
		await().until(() -> consumed(instance).size() == shards);
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
	}

	private static ShardId shard(int number) {
		return ShardId.of("orders", number);
	}

	private static Set<ShardId> shards(int... numbers) {
		Set<ShardId> shards = new TreeSet<>();
		IntStream.of(numbers).forEach((number) -> shards.add(shard(number)));
		return shards;
	}

}
