package io.github.shardkeeper.protocol.member;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Step;
import io.github.shardkeeper.protocol.member.HoldingAction.Abandon;
import io.github.shardkeeper.protocol.member.HoldingAction.Attend;
import io.github.shardkeeper.protocol.member.HoldingAction.CancelDrain;
import io.github.shardkeeper.protocol.member.HoldingAction.Drain;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.protocol.member.HoldingAction.Prepare;
import io.github.shardkeeper.protocol.member.HoldingAction.Release;
import io.github.shardkeeper.protocol.member.HoldingAction.Start;
import io.github.shardkeeper.protocol.member.HoldingEvent.DrainCancelled;
import io.github.shardkeeper.protocol.member.HoldingEvent.LeaveTimedOut;
import io.github.shardkeeper.protocol.member.HoldingEvent.OwnershipChanged;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionLost;
import io.github.shardkeeper.protocol.member.HoldingEvent.ShardReleased;
import io.github.shardkeeper.protocol.member.HoldingEvent.WorkerEnded;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

class ShardHoldingsTests {

	private static final MemberId ME = MemberId.of("me", "1");

	private static final MemberId OTHER = MemberId.of("other", "1");

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final ShardId SECOND = ShardId.of("orders", 2);

	private static final Token OLD = new Token(10);

	private static final Token NEW = new Token(20);

	private static final MonotonicTime NOW = new MonotonicTime(0);

	private final ShardHoldings holdings = new ShardHoldings(HandoverRules.DEFAULT);

	private MonotonicTime wakeAt;

	@Test
	void shardIsStartedDrainedAndReleased() {
		assertThat(owned(OLD)).containsExactly(new Start(SHARD, OLD));
		assertThat(this.holdings.isEmpty()).isFalse();

		assertThat(revoking(OLD)).containsExactly(new Drain(SHARD));
		assertThat(ended(OLD)).containsExactly(release(OLD));
		assertThat(this.holdings.isEmpty()).as("before the store has taken it").isFalse();

		handle(new ShardReleased(SHARD, OLD));
		assertThat(this.holdings.isEmpty()).isTrue();
	}

	@Test
	@Promise("One consumer")
	void shardIsNotReleasedBeforeItsWorkerHasEnded() {
		owned(OLD);

		assertThat(revoking(OLD)).doesNotHaveAnyElementsOfTypes(Release.class);
		assertThat(revoking(OLD)).isEmpty();
	}

	@Test
	void cancelledMoveContinuesConsumption() {
		owned(OLD);
		revoking(OLD);
		assertThat(owned(OLD)).as("with what came for it meanwhile")
			.containsExactly(new CancelDrain(SHARD), new Attend(SHARD));
		handle(new DrainCancelled(SHARD));
		assertThat(owned(OLD)).containsExactly(new Attend(SHARD));

		assertThat(revoking(OLD)).as("another move").containsExactly(new Drain(SHARD));
		assertThat(ended(OLD)).containsExactly(release(OLD));
	}

	@Test
	void moveCancelledTooLateStillReleasesTheShard() {
		owned(OLD);
		revoking(OLD);
		owned(OLD);
		assertThat(ended(OLD)).as("its revocation callback was running").containsExactly(release(OLD));
		assertThat(owned(OLD)).as("notified again").isEmpty();
	}

	@Test
	void drainedShardIsNotKept() {
		owned(OLD);
		revoking(OLD);
		ended(OLD);
		assertThat(owned(OLD)).isEmpty();
	}

	@Test
	void workerAtTheEndOfItsShardCompletesIt() {
		owned(OLD);
		assertThat(handle(new WorkerEnded(SHARD, OLD, Token.NONE, true)))
			.containsExactly(new Release(SHARD, OLD, Token.NONE, true));
	}

	@Test
	void incomingShardIsPreparedOnce() {
		assertThat(coming(Phase.REVOKING, OLD)).containsExactly(new Prepare(SHARD));
		assertThat(coming(Phase.REVOKING, OLD)).isEmpty();
		assertThat(coming(Phase.QUIET, OLD)).as("the same move").isEmpty();
		assertThat(owned(NEW)).containsExactly(new Start(SHARD, NEW));
	}

	@Test
	void laterIncomingMoveIsPreparedAgain() {
		coming(Phase.QUIET, OLD);
		assertThat(coming(Phase.QUIET, NEW)).containsExactly(new Prepare(SHARD));
	}

	@Test
	void shardForAnotherMemberIsNotPrepared() {
		assertThat(tell(Phase.REVOKING, OLD, OTHER, OTHER)).isEmpty();
		assertThat(tell(Phase.FREE, OLD, null, ME)).isEmpty();
		owned(OLD);
		assertThat(revoking(OLD)).containsExactly(new Drain(SHARD));
	}

	@Test
	void heldShardReportedAgainIsAttendedTo() {
		owned(OLD);
		assertThat(owned(OLD)).containsExactly(new Attend(SHARD));
		assertThat(owned(OLD)).as("every time").containsExactly(new Attend(SHARD));

		assertThat(owned(NEW)).as("another token").containsExactly(new Start(SHARD, NEW));
		assertThat(owned(OLD)).as("late").isEmpty();
		revoking(NEW);
		ended(NEW);
		assertThat(owned(NEW)).as("drained").isEmpty();
		handle(new ShardReleased(SHARD, NEW));
		assertThat(owned(NEW)).as("given up").doesNotHaveAnyElementsOfTypes(Attend.class);
	}

	@Test
	void leavingMemberAttendsToNothing() {
		owned(OLD);
		handle(new LeaveTimedOut());
		assertThat(owned(OLD)).isEmpty();
	}

	@Test
	void repeatedOwnershipChangesNothing() {
		owned(OLD);
		owned(OLD);

		revoking(OLD);
		assertThat(revoking(OLD)).isEmpty();

		ended(OLD);
		assertThat(ended(OLD)).isEmpty();
		assertThat(revoking(OLD)).isEmpty();
		assertThat(owned(OLD)).isEmpty();

		handle(new ShardReleased(SHARD, OLD));
		handle(new ShardReleased(SHARD, OLD));
		assertThat(ended(OLD)).isEmpty();
		assertThat(this.holdings.isEmpty()).isTrue();
	}

	@Test
	void revokeOfAShardNeverStartedReleasesImmediately() {
		assertThat(revoking(OLD)).containsExactly(release(OLD));
		assertThat(this.holdings.isEmpty()).isFalse();

		handle(new ShardReleased(SHARD, OLD));
		assertThat(this.holdings.isEmpty()).isTrue();
	}

	@Test
	void ownershipOfOthersIsIgnored() {
		assertThat(tell(Phase.OWNED, OLD, OTHER)).isEmpty();
		assertThat(tell(Phase.REVOKING, OLD, OTHER)).isEmpty();
		assertThat(tell(Phase.FREE, OLD, null)).isEmpty();
		assertThat(this.holdings.isEmpty()).isTrue();
	}

	@Test
	@Promise("One consumer")
	void shardOwnedByAnotherUnderANewerTokenIsAbandoned() {
		for (Phase phase : Phase.values()) {
			owned(OLD);
			assertThat(tell(phase, OLD, OTHER)).as("not newer, %s", phase).isEmpty();

			assertThat(tell(phase, NEW, (phase == Phase.OWNED || phase == Phase.REVOKING) ? OTHER : null))
				.as("%s", phase)
				.containsExactly(new Forfeit(SHARD, Forfeit.Cause.TAKEN_OVER));
			assertThat(this.holdings.isEmpty()).isTrue();
			assertThat(ended(OLD)).as("late").isEmpty();
			handle(new SessionLost());
		}
	}

	@Test
	void displacedOwnerPreparesToGetTheShardBack() {
		owned(OLD);
		revoking(OLD);
		assertThat(tell(Phase.REVOKING, NEW, OTHER, ME)).containsExactly(new Forfeit(SHARD, Forfeit.Cause.TAKEN_OVER),
				new Prepare(SHARD));
		assertThat(this.wakeAt).as("nothing is overdue").isNull();
		assertThat(owned(OLD)).as("notified late").containsExactly(release(OLD));
	}

	@Test
	void drainedShardIsReleasedWhateverItsOwner() {
		owned(OLD);
		revoking(OLD);
		assertThat(ended(OLD)).containsExactly(release(OLD));
		assertThat(tell(Phase.OWNED, NEW, OTHER)).isEmpty();
		assertThat(this.holdings.isEmpty()).as("until the release is answered").isFalse();
	}

	@Test
	void newerTokenStartsANewWorker() {
		owned(OLD);

		assertThat(owned(NEW)).containsExactly(new Start(SHARD, NEW));
		assertThat(ended(OLD)).as("the older worker").isEmpty();
		assertThat(revoking(NEW)).containsExactly(new Drain(SHARD));
		assertThat(ended(NEW)).containsExactly(release(NEW));
	}

	@Test
	void olderTokenIsStale() {
		owned(NEW);

		assertThat(owned(OLD)).isEmpty();
		assertThat(revoking(OLD)).isEmpty();
		handle(new ShardReleased(SHARD, OLD));
		assertThat(this.holdings.isEmpty()).isFalse();
		assertThat(revoking(NEW)).containsExactly(new Drain(SHARD));
	}

	@Test
	void newerTokenWhileDrainingStartsANewWorker() {
		owned(OLD);
		revoking(OLD);

		assertThat(owned(NEW)).containsExactly(new Start(SHARD, NEW));
		assertThat(ended(OLD)).as("its release would be refused anyway").isEmpty();
	}

	@Test
	void revokeUnderANewerTokenWaitsForTheRunningWorker() {
		owned(OLD);

		assertThat(revoking(NEW)).containsExactly(new Drain(SHARD));
		assertThat(ended(OLD)).containsExactly(release(NEW));
	}

	@Test
	void revokeUnderANewerTokenWhileDrainingWaitsForTheSameWorker() {
		owned(OLD);
		revoking(OLD);

		assertThat(revoking(NEW)).isEmpty();
		assertThat(ended(OLD)).containsExactly(release(NEW));
	}

	@Test
	void revokeUnderANewerTokenAfterTheEndReleasesImmediately() {
		owned(OLD);
		revoking(OLD);
		ended(OLD);

		assertThat(revoking(NEW)).containsExactly(release(NEW));
		handle(new ShardReleased(SHARD, OLD));
		assertThat(this.holdings.isEmpty()).isFalse();
		handle(new ShardReleased(SHARD, NEW));
		assertThat(this.holdings.isEmpty()).isTrue();
	}

	@Test
	void lateEndOfAnOlderWorkerReleasesNothing() {
		owned(OLD);
		owned(NEW);
		revoking(NEW);

		assertThat(ended(OLD)).isEmpty();
		assertThat(ended(NEW)).containsExactly(release(NEW));
	}

	@Test
	void refusedWorkerReleasesTheShardWithTheFence() {
		owned(OLD);

		assertThat(handle(new WorkerEnded(SHARD, OLD, NEW, false)))
			.containsExactly(new Release(SHARD, OLD, NEW, false));
		assertThat(revoking(OLD)).isEmpty();
		assertThat(owned(new Token(21))).containsExactly(new Start(SHARD, new Token(21)));
		handle(new ShardReleased(SHARD, OLD));
		assertThat(this.holdings.isEmpty()).as("held under the newer token").isFalse();
	}

	@Test
	void endOfAnUnknownWorkerIsIgnored() {
		assertThat(ended(OLD)).isEmpty();
	}

	@Test
	void leaveWithoutPlanDrainsHeldShards() {
		owned(OLD);
		tell(SECOND, Phase.OWNED, OLD, ME);
		tell(SECOND, Phase.REVOKING, OLD, ME);

		assertThat(handle(new LeaveTimedOut())).containsExactly(new Drain(SHARD));
		assertThat(handle(new LeaveTimedOut())).isEmpty();
		assertThat(revoking(OLD)).as("the plan came after all").isEmpty();
		assertThat(ended(OLD)).containsExactly(release(OLD));
	}

	@Test
	void leaveWithoutPlanKeepsAndStartsNothing() {
		owned(OLD);
		handle(new LeaveTimedOut());
		assertThat(owned(OLD)).as("the store tells it again").isEmpty();
		assertThat(tell(SECOND, Phase.OWNED, OLD, ME)).containsExactly(new Release(SECOND, OLD, Token.NONE, false));
		assertThat(owned(NEW)).as("waits for what runs").isEmpty();
		assertThat(ended(OLD)).containsExactly(release(NEW));
	}

	@Test
	void lostSessionAbandonsRunningShards() {
		owned(OLD);
		tell(SECOND, Phase.REVOKING, OLD, ME);

		assertThat(handle(new SessionLost())).containsExactly(new Abandon(SHARD));
		assertThat(this.holdings.isEmpty()).isTrue();
		assertThat(ended(OLD)).isEmpty();
		assertThat(handle(new SessionLost())).isEmpty();
	}

	@Test
	void lostSessionAbandonsDrainingShards() {
		owned(OLD);
		revoking(OLD);

		assertThat(handle(new SessionLost())).containsExactly(new Abandon(SHARD));
	}

	private List<HoldingAction> owned(Token token) {
		return tell(Phase.OWNED, token, ME);
	}

	private List<HoldingAction> revoking(Token token) {
		return tell(Phase.REVOKING, token, ME);
	}

	private List<HoldingAction> ended(Token token) {
		return handle(new WorkerEnded(SHARD, token, Token.NONE, false));
	}

	/** The store tells its next owner. */
	private List<HoldingAction> coming(Phase phase, Token token) {
		return tell(phase, token, (phase == Phase.REVOKING) ? OTHER : null, ME);
	}

	private static Release release(Token token) {
		return new Release(SHARD, token, Token.NONE, false);
	}

	private List<HoldingAction> tell(Phase phase, Token token, MemberId owner) {
		return tell(SHARD, phase, token, owner);
	}

	private List<HoldingAction> tell(Phase phase, Token token, MemberId owner, MemberId target) {
		return handle(new OwnershipChanged(new Ownership(SHARD, phase, token, owner, target, token.value(), 0, 0), ME));
	}

	private List<HoldingAction> tell(ShardId shard, Phase phase, Token token, MemberId owner) {
		MemberId target = (phase == Phase.REVOKING) ? OTHER : null;
		return handle(new OwnershipChanged(new Ownership(shard, phase, token, owner, target, token.value(), 0, 0), ME));
	}

	private List<HoldingAction> handle(HoldingEvent event) {
		Step<HoldingAction> step = this.holdings.handle(event, NOW);
		this.wakeAt = step.wakeAt();
		return step.actions();
	}

}
