package io.github.shardkeeper.protocol.member;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Step;
import io.github.shardkeeper.protocol.member.HoldingAction.Abandon;
import io.github.shardkeeper.protocol.member.HoldingAction.Attend;
import io.github.shardkeeper.protocol.member.HoldingAction.CancelDrain;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.protocol.member.HoldingAction.Prepare;
import io.github.shardkeeper.protocol.member.HoldingAction.Release;
import io.github.shardkeeper.protocol.member.HoldingAction.Start;
import io.github.shardkeeper.protocol.member.HoldingAction.WriteBack;
import io.github.shardkeeper.protocol.member.HoldingEvent.ClaimAnswered;
import io.github.shardkeeper.protocol.member.HoldingEvent.MemberStopped;
import io.github.shardkeeper.protocol.member.HoldingEvent.OwnershipChanged;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionForgotten;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionLost;
import io.github.shardkeeper.protocol.member.HoldingEvent.ShardReleased;
import io.github.shardkeeper.protocol.member.HoldingEvent.WorkerEnded;
import io.github.shardkeeper.protocol.member.HoldingEvent.WritesLost;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reactions of a member whose store has lost writes, or everything.
 */
class UnconfirmedHoldingsTests {

	private static final MemberId ME = MemberId.of("me", "1");

	private static final MemberId REJOINED = MemberId.of("me", "2");

	private static final MemberId OTHER = MemberId.of("other", "1");

	private static final MonotonicTime NOW = new MonotonicTime(0);

	private static final ShardId HELD = ShardId.of("orders", 1);

	private static final ShardId DRAINING = ShardId.of("orders", 2);

	private static final ShardId DRAINED = ShardId.of("orders", 3);

	private static final Token OLDER = new Token(5);

	private static final Token TOKEN = new Token(10);

	private final ShardHoldings holdings = new ShardHoldings(HandoverRules.DEFAULT);

	private MonotonicTime wakeAt;

	@Test
	void shardsReportedByTheStoreAreConfirmed() {
		holdOfEach();
		handle(new WritesLost());
		assertThat(this.holdings.unconfirmed()).isEqualTo(Map.of(HELD, TOKEN, DRAINING, TOKEN));

		assertThat(tell(HELD, Phase.OWNED, TOKEN, ME)).containsExactly(new Attend(HELD));
		assertThat(tell(DRAINING, Phase.REVOKING, TOKEN, ME)).isEmpty();
		assertThat(this.holdings.unconfirmed()).isEmpty();
		assertThat(claimed(Set.of(), Set.of())).isEmpty();
	}

	@Test
	void shardNotGrantedIsAbandoned() {
		holdOfEach();
		handle(new WritesLost());
		assertThat(claimed(Set.of(HELD), Set.of())).containsExactly(new Forfeit(DRAINING, Forfeit.Cause.TAKEN_OVER));

		assertThat(ended(DRAINING)).isEmpty();
		assertThat(tell(HELD, Phase.OWNED, TOKEN, ME)).as("continues").containsExactly(new Attend(HELD));
		assertThat(tell(DRAINING, Phase.OWNED, new Token(20), ME)).containsExactly(new Start(DRAINING, new Token(20)));
	}

	@Test
	@Promise("State exactly once")
	void lateClaimForfeitsTheShard() {
		holdOfEach();
		handle(new SessionForgotten());
		assertThat(claimed(Set.of(), Set.of(HELD))).containsExactly(new Forfeit(HELD, Forfeit.Cause.SUPERSEDED),
				new Forfeit(DRAINING, Forfeit.Cause.TAKEN_OVER));
		assertThat(this.holdings.isEmpty()).isTrue();
	}

	@Test
	void stoppedMemberForfeitsRunningShards() {
		holdOfEach();
		assertThat(handle(new MemberStopped())).containsExactly(new Forfeit(HELD, Forfeit.Cause.STOPPED),
				new Forfeit(DRAINING, Forfeit.Cause.STOPPED));
		assertThat(this.holdings.isEmpty()).isTrue();
	}

	/** Two workers under one token would number their commits alike. */
	@Test
	void abandonedShardIsNotConsumedAgainUnderTheSameToken() {
		holdOfEach();
		handle(new WritesLost());
		claimed(Set.of(), Set.of());

		assertThat(tell(HELD, Phase.OWNED, TOKEN, ME)).containsExactly(new Release(HELD, TOKEN, Token.NONE, false));
	}

	@Test
	void grantedShardIsConfirmedOnceTheStoreReportsIt() {
		holdOfEach();
		handle(new WritesLost());
		claimed(Set.of(HELD, DRAINING), Set.of());
		assertThat(this.holdings.unconfirmed()).as("the claim may be lost, too").containsOnlyKeys(HELD, DRAINING);

		tell(HELD, Phase.OWNED, TOKEN, ME);
		assertThat(this.holdings.unconfirmed()).containsOnlyKeys(DRAINING);
	}

	@Test
	void olderOwnershipIsNoConfirmation() {
		holdOfEach();
		handle(new WritesLost());
		assertThat(tell(HELD, Phase.OWNED, OLDER, ME)).isEmpty();
		assertThat(this.holdings.unconfirmed()).containsEntry(HELD, TOKEN);
	}

	/** Otherwise this member would own it forever without consuming it. */
	@Test
	void shardKnownUnderAnOldTokenIsReleasedWhenNoLongerHeld() {
		holdOfEach();
		handle(new WritesLost());
		claimed(Set.of(), Set.of());

		assertThat(tell(HELD, Phase.OWNED, OLDER, ME)).containsExactly(new Release(HELD, OLDER, TOKEN, false));
		handle(new ShardReleased(HELD, OLDER));
		assertThat(tell(HELD, Phase.REVOKING, OLDER, ME)).as("asked again, because no other member would")
			.containsExactly(new Release(HELD, OLDER, TOKEN, false));
	}

	@Test
	void shardDrainedUnderANewerTokenIsReleasedUnderTheOldOneToo() {
		holdOfEach();
		handle(new WritesLost());

		assertThat(tell(DRAINED, Phase.OWNED, OLDER, ME)).containsExactly(new Release(DRAINED, OLDER, TOKEN, false));
	}

	@Test
	void revokeThatTheStoreHasLostIsCancelled() {
		holdOfEach();
		handle(new WritesLost());
		assertThat(tell(DRAINING, Phase.OWNED, TOKEN, ME)).containsExactly(new CancelDrain(DRAINING),
				new Attend(DRAINING));
	}

	@Test
	void releaseThatTheStoreHasLostIsRepeated() {
		holdOfEach();
		handle(new ShardReleased(DRAINED, TOKEN));
		handle(new WritesLost());
		assertThat(tell(DRAINED, Phase.REVOKING, TOKEN, ME))
			.containsExactly(new Release(DRAINED, TOKEN, Token.NONE, false));
	}

	@Test
	void shardThatEndsBeforeItsClaimIsNotClaimed() {
		holdOfEach();
		handle(new WritesLost());
		assertThat(ended(DRAINING)).containsExactly(new Release(DRAINING, TOKEN, Token.NONE, false));
		assertThat(this.holdings.unconfirmed()).containsOnlyKeys(HELD);
		assertThat(claimed(Set.of(HELD), Set.of())).isEmpty();
	}

	@Test
	void shardAssignedAfterTheLossNeedsNoConfirmation() {
		handle(new WritesLost());
		tell(HELD, Phase.OWNED, TOKEN, ME);
		assertThat(this.holdings.unconfirmed()).isEmpty();
	}

	@Test
	void newSessionClaimsRunningShardsAndContinues() {
		holdOfEach();
		handle(new SessionForgotten());
		assertThat(this.holdings.unconfirmed()).isEqualTo(Map.of(HELD, TOKEN, DRAINING, TOKEN));
		assertThat(claimed(Set.of(HELD, DRAINING), Set.of())).isEmpty();

		assertThat(tell(HELD, Phase.OWNED, TOKEN, REJOINED)).containsExactly(new Attend(HELD));
		assertThat(tell(DRAINING, Phase.OWNED, TOKEN, REJOINED)).as("no member waits for it any more")
			.containsExactly(new CancelDrain(DRAINING), new Attend(DRAINING));
	}

	@Test
	void newSessionDropsDrainedShards() {
		holdOfEach();
		handle(new SessionForgotten());
		assertThat(tell(DRAINED, Phase.OWNED, new Token(20), REJOINED))
			.containsExactly(new Start(DRAINED, new Token(20)));
	}

	@Test
	void newSessionPreparesIncomingShardsAgain() {
		Ownership coming = new Ownership(HELD, Phase.REVOKING, TOKEN, OTHER, ME, 1, 0, 0);
		assertThat(handle(new OwnershipChanged(coming, ME))).containsExactly(new Prepare(HELD));
		handle(new SessionForgotten());
		assertThat(handle(new OwnershipChanged(coming, ME))).containsExactly(new Prepare(HELD));
	}

	@Test
	void endOfTheLeaseAbandonsUnclaimedShards() {
		holdOfEach();
		handle(new SessionForgotten());
		assertThat(handle(new SessionLost())).containsExactly(new Abandon(HELD), new Abandon(DRAINING));
		assertThat(this.holdings.unconfirmed()).isEmpty();
	}

	private void holdOfEach() {
		for (ShardId shard : List.of(HELD, DRAINING, DRAINED)) {
			tell(shard, Phase.OWNED, TOKEN, ME);
		}
		tell(DRAINING, Phase.REVOKING, TOKEN, ME);
		tell(DRAINED, Phase.REVOKING, TOKEN, ME);
		ended(DRAINED);
	}

	private List<HoldingAction> ended(ShardId shard) {
		return handle(new WorkerEnded(shard, TOKEN, Token.NONE, false));
	}

	private List<HoldingAction> tell(ShardId shard, Phase phase, Token token, MemberId self) {
		MemberId target = (phase == Phase.REVOKING) ? OTHER : null;
		return handle(
				new OwnershipChanged(new Ownership(shard, phase, token, self, target, token.value(), 0, 0), self));
	}

	private List<HoldingAction> handle(HoldingEvent event) {
		Step<HoldingAction> step = this.holdings.handle(event, NOW);
		this.wakeAt = step.wakeAt();
		return step.actions();
	}

	/** Returns the actions on shards, without the write-backs that follow claims. */
	private List<HoldingAction> claimed(Set<ShardId> granted, Set<ShardId> superseded) {
		List<HoldingAction> actions = new ArrayList<>(handle(new ClaimAnswered(granted, superseded)));
		assertThat(actions.remove(actions.size() - 1)).isEqualTo(new WriteBack());
		return actions;
	}

}
