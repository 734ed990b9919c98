package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Several members in one process, which share a store in memory. */
@Tag("proof")
class ShardCoordinatorTests {

	private static final Duration LONG = Duration.ofSeconds(30);

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final TestConsumption.Ledger ledger = new TestConsumption.Ledger();

	private final List<TestInstance> instances = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.instances.forEach(TestInstance::kill);
		assertThat(this.ledger.breaches()).isEmpty();
	}

	@Test
	void singleMemberGetsAllShards() {
		TestInstance a = instance("a").start();

		awaitConsumed(a, 4);
		assertThat(a.coordinator.isConnected()).isTrue();
		await().until(a.coordinator::isLeader);
		assertThat(a.coordinator.member()).get().extracting(MemberId::instance).isEqualTo("a");
	}

	@Test
	void secondMemberGetsHalfUnderHigherTokens() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		Map<ShardId, Token> before = a.consumption.consumed();
		TestInstance b = instance("b").start();

		awaitConsumed(a, 2);
		awaitConsumed(b, 2);
		assertThat(b.consumption.consumed()).allSatisfy((shard, token) -> {
			assertThat(a.consumption.consumed()).doesNotContainKey(shard);
			assertThat(token).isGreaterThan(before.get(shard));
		});
		assertThat(before).containsAllEntriesOf(a.consumption.consumed());
	}

	@Test
	void unfinishedDrainHoldsTheMove() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		TestInstance b = instance("b").start();
		await().until(() -> a.consumption.draining().size() == 2);
		List<ShardId> stuck = a.consumption.draining();

		// Long enough for every deadline of a session to pass.
		MonotonicClock clock = MonotonicClock.SYSTEM;
		long end = clock.now().plus(TestInstance.TIMEOUT).nanos();
		await().until(() -> clock.now().nanos() - end > 0);
		assertThat(b.consumption.consumed()).isEmpty();
		assertThat(shardsIn(Phase.REVOKING)).containsExactlyInAnyOrderElementsOf(stuck);

		Map<ShardId, Token> before = a.consumption.consumed();
		stuck.forEach(a.consumption::finishDrain);
		awaitConsumed(b, 2);
		stuck.forEach((shard) -> assertThat(b.consumption.consumed().get(shard)).isGreaterThan(before.get(shard)));
	}

	@Test
	void stoppingMemberHandsOverItsShards() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		TestInstance b = instance("b").start();
		awaitConsumed(b, 2);

		a.coordinator.stop(LONG);

		assertThat(a.consumption.consumed()).isEmpty();
		assertThat(a.coordinator.member()).isEmpty();
		assertThat(members()).hasSize(1);
		awaitConsumed(b, 4);
		await().until(b.coordinator::isLeader);
	}

	@Test
	void onlyMemberFreesItsShardsWhenItStops() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);

		a.coordinator.stop(LONG);

		assertThat(a.consumption.consumed()).isEmpty();
		assertThat(members()).isEmpty();
		assertThat(shardsIn(Phase.FREE)).hasSize(4);
		assertThat(a.coordinator.isConnected()).isFalse();
	}

	@Test
	void shardsDrainedDuringAReleaseAreReleasedTogether() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		a.store.releaseAnswered = new CountDownLatch(1);
		instance("b").start();
		TestInstance c = instance("c").start();
		await().until(() -> a.consumption.draining().size() == 2);
		a.coordinator.leave(LONG);
		await().until(() -> a.consumption.draining().size() == 4);

		a.consumption.draining().forEach(a.consumption::finishDrain);
		await().until(() -> !a.store.releases.isEmpty());
		a.store.releaseAnswered.countDown();

		awaitConsumed(c, 2);
		assertThat(a.store.releases).hasSizeLessThanOrEqualTo(2);
		assertThat(a.store.releases.stream().mapToInt(Integer::intValue).sum()).isEqualTo(4);
	}

	@Test
	void stopWaitsForTheLeaderForHalfItsTime() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		TestInstance b = instance("b").start();
		awaitConsumed(b, 2);
		// The leader lives, but nothing that it plans arrives.
		a.store.planRefused = true;

		b.coordinator.stop(Duration.ofSeconds(2));

		assertThat(b.consumption.consumed()).isEmpty();
		assertThat(members()).hasSize(1);
		a.store.planRefused = false;
		awaitConsumed(a, 4);
	}

	@Test
	void stopWithAHangingDrainEndsInTimeAndOthersWaitForTheLease() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		TestInstance b = instance("b").start();
		awaitConsumed(b, 2);
		b.consumption.setAnswersDrains(false);

		b.coordinator.stop(Duration.ofMillis(300));
		assertThat(b.consumption.draining()).hasSize(2);
		assertThat(a.consumption.consumed()).hasSize(2);
		b.consumption.die();

		awaitConsumed(a, 4);
	}

	@Test
	void shardsOfADeadMemberStartElsewhereAfterItsLease() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		TestInstance b = instance("b").start();
		awaitConsumed(b, 2);

		b.kill();

		awaitConsumed(a, 4);
		assertThat(members()).hasSize(1);
	}

	@Test
	void deadLeaderIsReplaced() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		await().until(a.coordinator::isLeader);
		TestInstance b = instance("b").start();
		awaitConsumed(b, 2);

		a.kill();

		awaitConsumed(b, 4);
		assertThat(b.coordinator.isLeader()).isTrue();
	}

	@Test
	void memberIsSuspendedDuringAnOutageAndResumesWithTheSameTokens() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		Map<ShardId, Token> before = a.consumption.consumed();

		a.store.setAway(true);
		await().until(() -> a.consumption.suspensions() == 1);
		assertThat(a.coordinator.isConnected()).isFalse();
		assertThat(a.coordinator.isLeader()).isFalse();
		a.store.setAway(false);

		await().until(() -> a.consumption.resumptions() == 2);
		assertThat(a.consumption.consumed()).isEqualTo(before);
		assertThat(a.coordinator.isConnected()).isTrue();
		TestInstance b = instance("b").start();
		awaitConsumed(b, 2);
	}

	@Test
	void timedOutMemberAbandonsItsShardsAndRejoins() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		TestInstance b = instance("b").start();
		awaitConsumed(b, 2);
		MemberId before = b.coordinator.member().orElseThrow();
		b.store.setAway(true);
		await().until(() -> b.consumption.suspensions() == 1);
		// Running calls are interrupted at the end of the lease.
		b.consumption.die();
		awaitConsumed(a, 4);
		b.store.setAway(false);

		awaitConsumed(b, 2);
		awaitConsumed(a, 2);
		assertThat(b.coordinator.member().orElseThrow()).isNotEqualTo(before);
	}

	@Test
	void startRetriesUntilTheStoreAnswers() {
		TestInstance a = instance("a");
		a.store.setAway(true);
		a.start();
		assertThat(a.coordinator.member()).isEmpty();
		assertThat(a.coordinator.isConnected()).isFalse();
		a.store.setAway(false);

		awaitConsumed(a, 4);
	}

	@Test
	void unusableStoreFailsTheStart() {
		TestInstance a = instance("a");
		a.store.unusable = true;

		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(a::start);
		a.coordinator.close();
	}

	@Test
	void releaseIsRepeatedUntilTheStoreAnswers() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		a.store.releasesToFail = 3;
		TestInstance b = instance("b").start();

		awaitConsumed(b, 2);
		assertThat(a.store.releasesToFail).isZero();
	}

	@Test
	void releaseLostInAFailoverIsRepeated() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		a.store.releasesToLose = 1;
		TestInstance b = instance("b").start();

		awaitConsumed(b, 2);
		assertThat(a.store.releasesToLose).isZero();
	}

	@Test
	void fencedWorkerGetsItsShardAgainUnderAHigherToken() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		ShardId shard = ShardId.of("orders", 0);
		Token fence = new Token(a.consumption.consumed().get(shard).value() + 1_000_000_000_000L);

		a.consumption.refuse(shard, fence);

		await().untilAsserted(
				() -> assertThat(a.consumption.consumed().getOrDefault(shard, Token.NONE)).isGreaterThan(fence));
	}

	/** Each is told by a thread of its own. */
	@Test
	void leaseRenewedDuringTheReportOfItsEndIsHeld() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		int before = a.consumption.resumptions();
		a.consumption.onSuspend = () -> {
			a.store.setAway(false);
			await().until(() -> a.consumption.resumptions() > before);
		};
		a.store.setAway(true);
		await().until(() -> a.consumption.suspensions() == 1);
		await().untilAsserted(() -> assertThat(a.consumption.isSuspended()).isFalse());
		a.consumption.onSuspend = () -> {
		};

		a.store.setAway(true);
		await()
			.untilAsserted(() -> assertThat(a.consumption.suspensions()).as("the next end is told too").isEqualTo(2));
	}

	@Test
	void lostSubscriptionIsReopened() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		a.store.loseSubscriptions();

		await().until(() -> a.store.openSubscriptions() == 1);
		TestInstance b = instance("b").start();
		awaitConsumed(b, 2);
	}

	@Test
	void changesWithoutASubscriptionAreNotLost() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		TestInstance b = instance("b").start();
		awaitConsumed(b, 2);
		b.store.subscriptionsToFail = Integer.MAX_VALUE;
		b.store.loseSubscriptions();
		await().until(() -> b.store.subscriptionsToFail < Integer.MAX_VALUE);

		a.coordinator.stop(LONG);
		awaitConsumed(b, 4);
		b.store.subscriptionsToFail = 0;
		await().until(() -> b.store.openSubscriptions() == 1);
	}

	@Test
	void coordinatorCanStartAgainAfterAStop() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		MemberId before = a.coordinator.member().orElseThrow();
		a.coordinator.stop(LONG);
		a.start();

		awaitConsumed(a, 4);
		assertThat(a.coordinator.member().orElseThrow()).isNotEqualTo(before);
		a.coordinator.stop(LONG);
		assertThat(members()).isEmpty();
	}

	@Test
	void coordinatorCanStartAgainAfterAStopWithAHangingDrain() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		a.coordinator.stop(Duration.ofMillis(100));
		a.consumption.die();
		a.consumption.setAnswersDrains(true);
		a.start();

		awaitConsumed(a, 4);
		CompletableFuture<Void> stop = CompletableFuture.runAsync(() -> a.coordinator.stop(LONG));
		await().until(stop::isDone);
		assertThat(members()).isEmpty();
	}

	@Test
	void coordinatorCanStartAgainAfterAStopWithoutTime() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		a.coordinator.stop(Duration.ZERO);
		a.consumption.die();
		a.start();

		awaitConsumed(a, 4);
		assertThat(a.coordinator.isConnected()).isTrue();
	}

	@Test
	void stopWithoutAStartDoesNothing() {
		instance("a").coordinator.stop(LONG);
	}

	@Test
	void stopDuringAnOutageEndsWithTheLease() {
		TestInstance a = instance("a").start();
		awaitConsumed(a, 4);
		a.store.setAway(true);

		CompletableFuture<Void> stop = CompletableFuture.runAsync(() -> a.coordinator.stop(LONG));
		await().until(stop::isDone);
		assertThat(a.consumption.consumed()).isEmpty();
	}

	/** Polls often: most conditions hold within milliseconds. */
	private static ConditionFactory await() {
		return Awaitility.await().pollInterval(Duration.ofMillis(2));
	}

	private static void awaitConsumed(TestInstance instance, int shards) {
		await().untilAsserted(() -> assertThat(instance.consumption.consumed()).hasSize(shards));
	}

	private List<ShardId> shardsIn(Phase phase) {
		return this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.filter((ownership) -> ownership.phase() == phase)
			.map(Ownership::shard)
			.toList();
	}

	private List<?> members() {
		return this.store.readChanges(0, -1).members();
	}

	private TestInstance instance(String name) {
		TestInstance instance = new TestInstance(name, this.store, this.ledger, HandoverRules.DEFAULT);
		this.instances.add(instance);
		return instance;
	}

}
