package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.coordination.member.TestConsumption;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HandoverRules.OnTimeout;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handovers with obstacles, and stores that lose data, with real coordinators on a store
 * in memory.
 */
@CapturesOutput
@Tag("proof")
class HandoverStoriesTests {

	private static final Duration SHORT = Duration.ofMillis(100);

	private static final Duration QUIET = Duration.ofMillis(400);

	/** Longer than the interval of heartbeats. */
	private static final Duration STEP = TestInstance.LEASE.dividedBy(10);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final MemoryCoordinationStore store = new MemoryCoordinationStore();

	private final TestConsumption.Ledger ledger = new TestConsumption.Ledger();

	private final List<TestInstance> instances = new ArrayList<>();

	@AfterEach
	void closeAll() {
		this.instances.forEach(TestInstance::kill);
		assertThat(this.ledger.breaches()).isEmpty();
	}

	@Test
	void targetPreparesWhileTheOwnerConsumes() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		TestInstance b = start("b");
		// The order of notifications is not guaranteed.
		await().until(() -> b.consumption.prepared().size() == 2 && a.consumption.draining().size() == 2);

		assertThat(a.consumption.consumed()).hasSize(4);
		assertThat(b.consumption.consumed()).isEmpty();
		List<ShardId> moving = a.consumption.draining();
		assertThat(b.consumption.prepared()).containsExactlyInAnyOrderElementsOf(moving);
		moving.forEach(a.consumption::finishDrain);
		awaitConsumed(b, 2);
		assertThat(b.consumption.prepared()).as("once each").hasSize(2);
	}

	@Test
	void shardsThatChangeTogetherAreOneLineInTheLog(CapturedOutput output) {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		Map<ShardId, Token> tokens = a.consumption.consumed();
		TestInstance b = start("b");
		awaitConsumed(b, 2);

		assertThat(output)
			.containsPattern("Assigned 4 shards of group 'group': (orders/\\d \\(token \\d+\\)(, )?){4}\\R")
			.containsPattern("Revoked 2 shards of group 'group': orders/\\d, orders/\\d\\R");
		tokens.forEach((shard, token) -> assertThat(output).contains(shard + " (token " + token + ")"));
	}

	@Test
	void cancelledMoveKeepsOwnerAndToken() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		Map<ShardId, Token> before = a.consumption.consumed();
		a.consumption.setAnswersDrains(false);
		TestInstance b = start("b");
		await().until(() -> a.consumption.draining().size() == 2);
		List<ShardId> moving = a.consumption.draining();
		b.kill();

		await().until(() -> a.consumption.draining().isEmpty());
		assertThat(a.consumption.cancelled()).containsExactlyInAnyOrderElementsOf(moving);
		assertThat(a.consumption.consumed()).isEqualTo(before);
		await().until(() -> shardsIn(Phase.OWNED).size() == 4);
	}

	@Test
	@Promise("One consumer")
	void overdueDrainIsInterruptedRepeatedlyAndHeld() {
		TestInstance a = start("a", rules(SHORT, OnTimeout.HOLD));
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		TestInstance b = start("b", rules(SHORT, OnTimeout.HOLD));
		await().until(() -> a.consumption.interrupted().size() >= 6);

		assertThat(b.consumption.consumed()).isEmpty();
		List<ShardId> moving = a.consumption.draining();
		assertThat(moving).hasSize(2);
		for (TestInstance instance : List.of(a, b)) {
			await().untilAsserted(() -> assertThat(instance.coordinator.groupProblems()).as("on leader and followers")
				.singleElement()
				.satisfies((problem) -> {
					assertThat(problem.serious()).isTrue();
					assertThat(problem.problem()).contains("a~", "asked", "to release it");
					assertThat(problem.concerned()).contains(moving.stream().sorted().map(ShardId::toString).toList());
				}));
		}
		moving.forEach(a.consumption::finishDrain);
		awaitConsumed(b, 2);
		await().until(() -> a.coordinator.groupProblems().isEmpty() && b.coordinator.groupProblems().isEmpty());
	}

	@Test
	void forcedHandoverReleasesAfterTheTimeout() {
		TestInstance a = start("a", rules(SHORT, OnTimeout.FORCE));
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		TestInstance b = start("b", rules(SHORT, OnTimeout.FORCE));

		awaitConsumed(b, 2);
		assertThat(a.consumption.interrupted()).hasSize(2);
		assertThat(a.consumption.consumed()).as("the others stay").hasSize(2);
	}

	@Test
	void plannedMoveHasAQuietPeriod() {
		HandoverRules rules = new HandoverRules(Duration.ofSeconds(50), OnTimeout.HOLD, QUIET, Duration.ZERO, 0);
		TestInstance a = start("a", rules);
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		TestInstance b = start("b", rules);
		await().until(() -> a.consumption.draining().size() == 2);
		MonotonicTime drained = MonotonicClock.SYSTEM.now();
		a.consumption.draining().forEach(a.consumption::finishDrain);
		await().until(() -> shardsIn(Phase.QUIET).size() == 2);

		awaitConsumed(b, 2);
		assertThat(drained.until(MonotonicClock.SYSTEM.now())).isGreaterThanOrEqualTo(QUIET);
	}

	@Test
	void crashHasAQuietPeriod() {
		HandoverRules rules = new HandoverRules(Duration.ofSeconds(50), OnTimeout.HOLD, Duration.ZERO, QUIET, 0);
		TestInstance a = start("a", rules);
		awaitConsumed(a, 4);
		TestInstance b = start("b", rules);
		awaitConsumed(b, 2);
		b.kill();
		await().until(() -> shardsIn(Phase.QUIET).size() == 2);
		MonotonicTime dead = MonotonicClock.SYSTEM.now();
		await().untilAsserted(() -> assertThat(a.consumption.prepared()).hasSize(2));
		assertThat(a.consumption.consumed()).hasSize(2);

		awaitConsumed(a, 4);
		// Looked at a little late.
		assertThat(dead.until(MonotonicClock.SYSTEM.now())).isGreaterThan(QUIET.dividedBy(2));
	}

	@Test
	void concurrentMovesAreLimited() {
		HandoverRules rules = new HandoverRules(Duration.ofSeconds(50), OnTimeout.HOLD, Duration.ZERO, Duration.ZERO,
				1);
		TestInstance a = start("a", rules);
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		TestInstance b = start("b", rules);
		for (int moved = 1; moved <= 2; moved++) {
			await().until(() -> !a.consumption.draining().isEmpty());
			List<ShardId> moving = a.consumption.draining();
			assertThat(moving).hasSize(1);
			a.consumption.finishDrain(moving.get(0));
			awaitConsumed(b, moved);
		}
		assertThat(a.consumption.consumed()).hasSize(2);
	}

	@Test
	void completedShardGetsNoOwner() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		ShardId ended = ShardId.of("orders", 2);
		a.consumption.complete(ended);
		await().until(() -> shardsIn(Phase.COMPLETED).equals(List.of(ended)));

		TestInstance b = start("b");
		awaitConsumed(b, 1);
		a.coordinator.stop(Duration.ofSeconds(30));
		awaitConsumed(b, 3);
		assertThat(b.consumption.consumed()).doesNotContainKey(ended);
		assertThat(shardsIn(Phase.COMPLETED)).containsExactly(ended);
		assertThat(b.coordinator.groupProblems()).isEmpty();
	}

	@Test
	void heldShardsStayWhenTheStoreIsEmptied() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		TestInstance b = start("b");
		awaitConsumed(b, 2);
		Map<ShardId, Token> ofA = a.consumption.consumed();
		Map<ShardId, Token> ofB = b.consumption.consumed();
		MemberId oldA = a.coordinator.member().orElseThrow();
		MemoryFailover.empty(this.store);

		await().until(() -> shardsIn(Phase.OWNED).size() == 4);
		await().until(() -> a.coordinator.isLeader() != b.coordinator.isLeader());
		assertThat(a.consumption.consumed()).isEqualTo(ofA);
		assertThat(b.consumption.consumed()).isEqualTo(ofB);
		assertThat(a.consumption.suspensions() + b.consumption.suspensions()).isZero();
		assertThat(a.consumption.writesBack()).isEqualTo(1);
		assertThat(b.consumption.writesBack()).isEqualTo(1);
		assertThat(a.coordinator.member().orElseThrow()).isNotEqualTo(oldA);
		// All of it works on.
		b.coordinator.stop(Duration.ofSeconds(30));
		awaitConsumed(a, 4);
	}

	/** No member is left that could write the state back. */
	@Test
	void shardCompletedWhileTheStoreWasEmptiedIsConsumedAgain() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		ShardId ended = ShardId.of("orders", 0);
		Token before = a.consumption.consumed().get(ended);
		CountDownLatch rejoins = new CountDownLatch(1);
		a.store.subscribing = false;
		a.store.subscriptionOpened = rejoins;
		MemoryFailover.empty(this.store);
		await().until(() -> a.store.subscribing);
		a.consumption.complete(ended);
		rejoins.countDown();

		awaitConsumed(a, 4);
		assertThat(a.consumption.consumed().get(ended)).isGreaterThan(before);
		assertThat(shardsIn(Phase.COMPLETED)).isEmpty();
	}

	@Test
	void drainIsCancelledWhenTheStoreIsEmptied() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		TestInstance b = start("b");
		await().until(() -> a.consumption.draining().size() == 2);
		List<ShardId> moving = a.consumption.draining();
		Map<ShardId, Token> before = a.consumption.consumed();
		// Otherwise the new leader may ask for the same drains before they are cancelled.
		a.store.planRefused = true;
		b.store.planRefused = true;
		MemoryFailover.empty(this.store);
		await().untilAsserted(() -> assertThat(a.consumption.cancelled()).containsExactlyInAnyOrderElementsOf(moving));
		assertThat(a.consumption.draining()).isEmpty();
		a.consumption.answerDrains();
		a.store.planRefused = false;
		b.store.planRefused = false;

		awaitConsumed(b, 2);
		awaitConsumed(a, 2);
		assertThat(before).containsAllEntriesOf(a.consumption.consumed());
	}

	@Test
	void memberLeavesAlthoughTheStoreIsEmptied() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		CompletableFuture<Void> left = a.coordinator.leave(Duration.ofSeconds(30));
		await().until(() -> a.consumption.draining().size() == 4);
		// Otherwise it may be asked for the same drains before they are cancelled.
		a.store.planRefused = true;
		MemoryFailover.empty(this.store);
		await().until(() -> a.consumption.cancelled().size() == 4);
		a.consumption.answerDrains();
		a.store.planRefused = false;

		await().until(left::isDone);
		assertThat(a.consumption.consumed()).isEmpty();
		assertThat(this.store.readChanges(0, -1).members()).isEmpty();
	}

	@Test
	void memberLeavesWhenItsDrainsEndWhileTheStoreIsEmptied() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		CompletableFuture<Void> left = a.coordinator.leave(Duration.ofSeconds(30));
		await().until(() -> a.consumption.draining().size() == 4);
		CountDownLatch rejoins = new CountDownLatch(1);
		a.store.subscribing = false;
		a.store.subscriptionOpened = rejoins;
		MemoryFailover.empty(this.store);
		await().until(() -> a.store.subscribing);
		a.consumption.answerDrains();
		rejoins.countDown();

		await().until(left::isDone);
		assertThat(a.consumption.cancelled()).isEmpty();
		assertThat(this.store.readChanges(0, -1).members()).isEmpty();
	}

	@Test
	void lostClaimIsRepeated() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		Map<ShardId, Token> before = a.consumption.consumed();
		a.store.claimLoss = () -> {
			Object unclaimed = MemoryFailover.snapshot(this.store);
			return () -> MemoryFailover.loseWritesSince(this.store, unclaimed);
		};
		MemoryFailover.empty(this.store);

		await().until(() -> a.store.claimLoss == null && owners().equals(Map.of("a", 4L)));
		assertThat(a.consumption.consumed()).isEqualTo(before);
		assertThat(tokens()).as("not assigned again").isEqualTo(before);
		await().untilAsserted(() -> assertThat(a.coordinator.isConnected()).isTrue());
	}

	/**
	 * The lease ends after the store has said that it knows nothing, and before anything
	 * can be claimed.
	 */
	@Test
	@Promise("One consumer")
	void memberWithoutALeaseClaimsNothing() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		Map<ShardId, Token> before = a.consumption.consumed();
		CountDownLatch opened = new CountDownLatch(1);
		a.store.subscriptionOpened = opened;
		a.store.subscribing = false;
		MemoryFailover.empty(this.store);
		await().until(() -> a.store.subscribing && a.consumption.suspensions() == 1);
		opened.countDown();

		await().until(() -> !a.consumption.isSuspended());
		assertThat(a.store.claims).hasValue(0);
		assertThat(a.store.presented).isEqualTo(before.keySet());
		assertThat(a.consumption.consumed()).isEqualTo(before);
		assertThat(tokens()).isEqualTo(before);
	}

	/** The store knows the session, and has lost its last writes. */
	@Test
	void memberWithoutALeasePresentsShardsLostByAKnownSession() {
		TestInstance a = start("a");
		TestInstance b = start("b");
		awaitConsumed(a, 2);
		awaitConsumed(b, 2);
		Object shared = MemoryFailover.snapshot(this.store);
		Set<ShardId> lost = a.consumption.consumed().keySet();
		a.coordinator.stop(Duration.ofSeconds(30));
		awaitConsumed(b, 4);
		b.store.setAway(true);
		await().until(() -> b.consumption.suspensions() == 1);
		MemoryFailover.loseWritesSince(this.store, shared);
		b.store.setAway(false);

		await().until(() -> !b.consumption.isSuspended());
		assertThat(b.store.claims).hasValue(0);
		assertThat(b.store.presented).isEqualTo(lost);
	}

	@Test
	void repeatedDataLossIsLoggedOnceAndWhenItEnds(CapturedOutput output) {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		for (int loss = 0; loss < 5; loss++) {
			Optional<MemberId> before = a.coordinator.member();
			MemoryFailover.empty(this.store);
			await().until(() -> !a.coordinator.member().equals(before) && a.coordinator.member().isPresent());
		}

		await().until(() -> output.getOut().contains("5 sessions in a row were lost before"));
		assertThat(output.getOut()).containsOnlyOnce("lost its data").containsOnlyOnce("were lost before");
		// That was long ago.
		MemoryFailover.empty(this.store);
		await().until(() -> output.getOut().split("lost its data", -1).length == 3);
	}

	@Test
	void memberWithoutALeaseTakesBackShardsThatTheStoreLost() {
		TestInstance a = start("a");
		TestInstance b = start("b");
		awaitConsumed(a, 2);
		awaitConsumed(b, 2);
		Map<ShardId, Token> before = tokens();
		a.store.setAway(true);
		b.store.setAway(true);
		await().until(() -> a.consumption.suspensions() == 1 && b.consumption.suspensions() == 1);
		MemoryFailover.empty(this.store);
		a.store.setAway(false);
		b.store.setAway(false);

		await().until(() -> !a.consumption.isSuspended() && !b.consumption.isSuspended());
		assertThat(tokens()).isEqualTo(before);
		assertThat(a.consumption.consumed()).hasSize(2);
		assertThat(b.consumption.consumed()).hasSize(2);
		assertThat(a.consumption.writesBack() + b.consumption.writesBack()).isGreaterThanOrEqualTo(2);
		assertThat(a.store.claims.get() + b.store.claims.get()).isZero();
	}

	@Test
	@Promise("One consumer")
	void presentedShardIsNotConsumedDuringClaims() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.store.setAway(true);
		await().until(() -> a.consumption.suspensions() == 1);
		MemoryFailover.empty(this.store);
		// Longer than any lease here.
		CoordinationStore longLived = this.store;
		longLived.joinGroup(MemberId.of("other", "1"),
				new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN), Duration.ofHours(1),
				Duration.ofHours(2));
		a.store.setAway(false);
		await().until(() -> owners().equals(Map.of("a", 4L)));
		int heartbeats = a.store.heartbeats.get();
		await().until(() -> a.store.heartbeats.get() > heartbeats + 10);

		assertThat(a.consumption.isSuspended()).isTrue();
		assertThat(a.coordinator.isConnected()).isFalse();
	}

	@Test
	void rejoiningMemberReportsTheLongestLease() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		assertThat(a.store.longestLease).isZero();
		this.store.joinGroup(MemberId.of("other", "1"),
				new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN), Duration.ofHours(1),
				Duration.ofHours(2));
		int heartbeats = a.store.heartbeats.get();
		await().until(() -> a.store.heartbeats.get() > heartbeats + 2);
		MemoryFailover.empty(this.store);

		await().untilAsserted(() -> assertThat(a.store.longestLease).isEqualTo(Duration.ofHours(1)));
	}

	@Test
	void shardWithoutStateInMemoryIsNotPresented() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		Map<ShardId, Token> before = a.consumption.consumed();
		ShardId empty = ShardId.of("orders", 2);
		a.consumption.setEmpty(empty);
		a.store.setAway(true);
		await().until(() -> a.consumption.suspensions() == 1);
		MemoryFailover.empty(this.store);
		a.store.setAway(false);

		await().until(() -> !a.consumption.isSuspended());
		awaitConsumed(a, 4);
		assertThat(a.store.presented).hasSize(3).doesNotContain(empty);
		assertThat(a.consumption.forfeited()).isEqualTo(Map.of(empty, Forfeit.Cause.TAKEN_OVER));
		a.consumption.consumed()
			.forEach((shard, token) -> assertThat(token.equals(before.get(shard))).as("%s", shard)
				.isEqualTo(!shard.equals(empty)));
	}

	/** Its shards were given to others under newer tokens, by a store that remembers. */
	@Test
	void reapedMemberTakesNothingBackAndForfeitsNothing() {
		TestInstance a = start("a", new TestConsumption.Ledger());
		awaitConsumed(a, 4);
		Map<ShardId, Token> before = a.consumption.consumed();
		a.store.setAway(true);
		a.store.loseSubscriptionsUnnoticed();
		TestInstance heir = start("heir");
		awaitConsumed(heir, 4);
		a.store.setAway(false);

		awaitConsumed(a, 2);
		assertThat(a.consumption.forfeited()).hasSize(4)
			.allSatisfy((shard, cause) -> assertThat(cause).isEqualTo(Forfeit.Cause.TAKEN_OVER));
		assertThat(tokens()).allSatisfy((shard, token) -> assertThat(token).isGreaterThan(before.get(shard)));
	}

	/** The store was emptied, and another member has begun its new history. */
	@Test
	void memberThatReturnsTooLateForfeitsItsShards() {
		TestInstance a = start("a", new TestConsumption.Ledger());
		awaitConsumed(a, 4);
		Map<ShardId, Token> before = a.consumption.consumed();
		a.store.setAway(true);
		MemoryFailover.empty(this.store);
		TestInstance heir = start("heir");
		awaitConsumed(heir, 4);
		a.store.setAway(false);

		await().until(() -> a.consumption.forfeited().size() == 4);
		assertThat(a.consumption.forfeited()).containsOnlyKeys(before.keySet())
			.containsValue(Forfeit.Cause.SUPERSEDED)
			.doesNotContainValue(Forfeit.Cause.STOPPED);
		awaitConsumed(a, 2);
		assertThat(tokens()).allSatisfy((shard, token) -> assertThat(token).isGreaterThan(before.get(shard)));
	}

	@Test
	void memberThatStopsWithoutALeaseForfeitsItsShards() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.store.setAway(true);
		await().until(() -> a.consumption.suspensions() == 1);
		CompletableFuture<Void> left = a.coordinator.leave(Duration.ofSeconds(30));

		await().until(left::isDone);
		assertThat(a.consumption.forfeited()).hasSize(4).doesNotContainValue(Forfeit.Cause.SUPERSEDED);
	}

	@Test
	void stoppingMemberFirstTakesBackShardsThatTheStoreLost() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.store.setAway(true);
		await().until(() -> a.consumption.suspensions() == 1);
		MemoryFailover.empty(this.store);
		a.store.setAway(false);
		await().until(() -> a.store.presented.size() == 4);
		CompletableFuture<Void> left = a.coordinator.leave(PATIENCE);

		await().until(left::isDone);
		assertThat(a.consumption.forfeited()).isEmpty();
		assertThat(a.consumption.isSuspended()).isFalse();
		assertThat(shardsIn(Phase.OWNED)).isEmpty();
	}

	@Test
	void memberThatCannotClaimInTimePresentsItsShards() {
		SettableClock clock = new SettableClock();
		MemoryCoordinationStore timed = new MemoryCoordinationStore(
				() -> Instant.ofEpochSecond(1).plusNanos(clock.now().nanos()));
		TestInstance a = start(TestInstance.on(clock, "a", timed, this.ledger));
		stepUntil(() -> a.consumption.consumed().size() == 4, a, clock);
		Map<ShardId, Token> before = a.consumption.consumed();
		a.store.claimsRefused = true;
		MemoryFailover.empty(timed);
		clock.advance(STEP);
		await().atMost(PATIENCE).until(() -> a.store.claims.get() > 0);
		clock.advance(TestInstance.LEASE);
		await().atMost(PATIENCE).until(() -> a.consumption.suspensions() == 1);

		stepUntil(() -> !a.consumption.isSuspended(), a, clock);
		assertThat(a.consumption.consumed()).isEqualTo(before);
	}

	/**
	 * Advances the clock, and waits for a heartbeat after each step: a busy machine must
	 * not end the lease.
	 */
	private static void stepUntil(BooleanSupplier condition, TestInstance instance, SettableClock clock) {
		await().atMost(PATIENCE).until(() -> {
			int before = instance.store.heartbeats.get();
			clock.advance(STEP);
			await().atMost(PATIENCE).until(() -> instance.store.heartbeats.get() > before);
			return condition.getAsBoolean();
		});
	}

	/**
	 * It never commits, so no fence stops it: the store returns to the state before it
	 * was reaped, and before the new owner joined.
	 */
	@Test
	@Promise("One consumer")
	void ownerFromAnOldSnapshotGivesWayToItsSuccessorsClaim() {
		// The new owner starts while it is suspended.
		TestInstance a = start("a", new TestConsumption.Ledger());
		awaitConsumed(a, 4);
		Map<ShardId, Token> old = a.consumption.consumed();
		Object before = MemoryFailover.snapshot(this.store);
		a.store.setAway(true);
		a.store.loseSubscriptionsUnnoticed();
		TestInstance heir = start("heir");
		awaitConsumed(heir, 4);
		MemoryFailover.loseWritesSince(this.store, before);
		a.store.setAway(false);

		await().untilAsserted(() -> {
			assertThat(a.consumption.consumed().keySet()).hasSize(2)
				.doesNotContainAnyElementsOf(heir.consumption.consumed().keySet());
			assertThat(heir.consumption.consumed()).hasSize(2);
		});
		assertThat(tokens()).allSatisfy((shard, token) -> assertThat(token).isGreaterThan(old.get(shard)));
	}

	@Test
	void shardMovedInLostWritesStaysWithItsNewOwner() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		Object before = MemoryFailover.snapshot(this.store);
		TestInstance b = start("b");
		awaitConsumed(b, 2);
		Map<ShardId, Token> ofA = a.consumption.consumed();
		Map<ShardId, Token> ofB = b.consumption.consumed();
		MemoryFailover.loseWritesSince(this.store, before);

		await().untilAsserted(() -> assertThat(owners()).hasSize(2).containsValues(2L));
		assertThat(a.consumption.consumed()).isEqualTo(ofA);
		assertThat(b.consumption.consumed()).isEqualTo(ofB);
		await().until(() -> a.consumption.writesBack() > 0 && b.consumption.writesBack() > 0);
		assertThat(a.consumption.suspensions() + b.consumption.suspensions()).isZero();
		assertThat(a.coordinator.isConnected()).as("the lease is renewed again").isTrue();
	}

	@Test
	void notificationReachesTheOwnerAtOnce() {
		found();
		TestInstance a = startWithHourlyHeartbeats("a");
		awaitConsumed(a, 4);
		TestInstance b = startWithHourlyHeartbeats("b");
		awaitConsumed(b, 2);
		Map<ShardId, Token> before = b.consumption.consumed();
		ShardId shard = before.keySet().iterator().next();
		int attendedBefore = a.consumption.attended().size();

		this.store.notifyOwners(List.of(shard));

		await().until(() -> b.consumption.attended().equals(List.of(shard)));
		assertThat(a.consumption.attended()).hasSize(attendedBefore);
		assertThat(b.consumption.consumed()).isEqualTo(before);
		assertThat(a.consumption.consumed()).hasSize(2);
	}

	@Test
	void lostNotificationReachesTheOwnerWithItsNextHeartbeat() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.store.eventsLost = true;
		ShardId shard = ShardId.of("orders", 2);
		this.store.notifyOwners(List.of(shard));

		await().until(() -> a.consumption.attended().contains(shard));
	}

	@Test
	void notificationDuringAMoveIsMadeUpForWhenTheMoveIsCancelled() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.consumption.setAnswersDrains(false);
		TestInstance b = start("b");
		await().until(() -> a.consumption.draining().size() == 2);
		List<ShardId> moving = a.consumption.draining();
		this.store.notifyOwners(moving);
		assertThat(a.consumption.attended()).isEmpty();
		b.kill();

		await().until(() -> a.consumption.attended().containsAll(moving));
		assertThat(a.consumption.cancelled()).containsExactlyInAnyOrderElementsOf(moving);
	}

	@Test
	void subscriptionThatOnlyTheStoreLostIsReopened() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		a.store.loseSubscriptionsUnnoticed();

		await().until(() -> a.store.subscribed() == 2);
		await().until(() -> a.store.openSubscriptions() == 1);
		TestInstance b = start("b");
		awaitConsumed(b, 2);
		assertThat(a.store.subscribed()).isEqualTo(2);
	}

	@Test
	void answersFromBeforeASubscriptionDoNotCount() {
		TestInstance a = start("a");
		awaitConsumed(a, 4);
		CountDownLatch opened = new CountDownLatch(1);
		a.store.subscriptionOpened = opened;
		a.store.subscribing = false;
		a.store.loseSubscriptionsUnnoticed();
		await().until(() -> a.store.subscribing);
		int before = a.store.heartbeats.get();
		await().until(() -> a.store.heartbeats.get() >= before + 4);
		opened.countDown();

		int then = a.store.heartbeats.get();
		await().until(() -> a.store.heartbeats.get() >= then + 4);
		assertThat(a.store.subscribed()).isEqualTo(2);
		assertThat(a.store.openSubscriptions()).isEqualTo(1);
	}

	private Map<ShardId, Token> tokens() {
		Map<ShardId, Token> tokens = new TreeMap<>();
		this.store.readChanges(0, -1)
			.ownerships()
			.forEach((ownership) -> tokens.put(ownership.shard(), ownership.token()));
		return tokens;
	}

	private Map<String, Long> owners() {
		Map<String, Long> owners = new TreeMap<>();
		this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.filter((ownership) -> ownership.phase() == Phase.OWNED)
			.forEach((ownership) -> owners.merge(ownership.owner().instance(), 1L, Long::sum));
		return owners;
	}

	private List<ShardId> shardsIn(Phase phase) {
		return this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.filter((ownership) -> ownership.phase() == phase)
			.map(Ownership::shard)
			.toList();
	}

	private static HandoverRules rules(Duration timeout, OnTimeout onTimeout) {
		return new HandoverRules(timeout, onTimeout, Duration.ZERO, Duration.ZERO, 0);
	}

	/**
	 * Starts the group, and lets the time pass in which nothing is assigned because
	 * members may still claim shards.
	 */
	private void found() {
		MemberId founder = MemberId.of("founder", "1");
		this.store.joinGroup(founder, new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN),
				Duration.ofMillis(1), Duration.ofMillis(1));
		this.store.leaveGroup(founder, Duration.ZERO);
	}

	/** An earlier arrival is due to a notification. */
	private TestInstance startWithHourlyHeartbeats(String name) {
		TestInstance instance = TestInstance.withHourlyHeartbeats(name, this.store, this.ledger);
		this.instances.add(instance);
		return instance.start();
	}

	private TestInstance start(String name) {
		return start(name, HandoverRules.DEFAULT);
	}

	private TestInstance start(String name, TestConsumption.Ledger itsLedger) {
		return start(new TestInstance(name, this.store, itsLedger, HandoverRules.DEFAULT));
	}

	private TestInstance start(String name, HandoverRules rules) {
		return start(new TestInstance(name, this.store, this.ledger, rules));
	}

	private TestInstance start(TestInstance instance) {
		this.instances.add(instance);
		return instance.start();
	}

	/** Polls often: most conditions hold within milliseconds. */
	private static ConditionFactory await() {
		return Awaitility.await().pollInterval(Duration.ofMillis(2));
	}

	private static void awaitConsumed(TestInstance instance, int shards) {
		await().untilAsserted(() -> assertThat(instance.consumption.consumed()).hasSize(shards));
	}

}
