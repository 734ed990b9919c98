package io.github.shardkeeper.protocol.member;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Step;
import io.github.shardkeeper.protocol.member.HoldingAction.Claim;
import io.github.shardkeeper.protocol.member.HoldingAction.Confirm;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.protocol.member.HoldingAction.Interrupt;
import io.github.shardkeeper.protocol.member.HoldingAction.Present;
import io.github.shardkeeper.protocol.member.HoldingAction.SendHeartbeat;
import io.github.shardkeeper.protocol.member.HoldingAction.WriteBack;
import io.github.shardkeeper.protocol.member.HoldingEvent.ClaimAnswered;
import io.github.shardkeeper.protocol.member.HoldingEvent.ClaimFailed;
import io.github.shardkeeper.protocol.member.HoldingEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.member.HoldingEvent.OwnershipChanged;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionForgotten;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionJoined;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionLost;
import io.github.shardkeeper.protocol.member.HoldingEvent.TimePassed;
import io.github.shardkeeper.protocol.member.HoldingEvent.WritesLost;
import io.github.shardkeeper.protocol.member.HoldingEvent.WrittenBack;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Times at which a member claims its shards, and at which its lease may be renewed again.
 */
class LostWritesTests {

	private static final MemberId ME = MemberId.of("me", "1");

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(10);

	private static final Duration RETRY_PAUSE = Duration.ofMillis(100);

	private final ShardHoldings holdings = new ShardHoldings(HandoverRules.DEFAULT);

	private MonotonicTime wakeAt;

	private MonotonicTime now = new MonotonicTime(0);

	@Test
	void nothingIsClaimedWithoutLostWrites() {
		own();
		answered(false, true);
		assertThat(due(true)).isEmpty();
		assertThat(this.holdings.isUnconfirmed()).isFalse();
		assertThat(this.wakeAt).isNull();
	}

	@Test
	void claimFollowsTheLastPageOfChanges() {
		own();
		handle(new WritesLost());
		answered(true, true);
		assertThat(due(true)).as("more to come").isEmpty();

		answered(false, true);
		assertThat(this.wakeAt).isEqualTo(this.now);
		assertThat(due(true)).containsExactly(claim());
	}

	@Test
	void grantedShardIsConfirmedByTheNextAnswer() {
		own();
		handle(new WritesLost());
		answered(false, true);
		due(true);
		assertThat(handle(new ClaimAnswered(Set.of(SHARD), Set.of()))).containsExactly(new WriteBack());
		assertThat(handle(new WrittenBack())).containsExactly(new SendHeartbeat());
		assertThat(this.holdings.isUnconfirmed()).isTrue();

		own();
		answered(false, true);
		assertThat(due(true)).containsExactly(new Confirm(1));
		assertThat(this.holdings.isUnconfirmed()).isFalse();
	}

	@Test
	void grantedShardMissingFromTheNextAnswerIsClaimedAgain() {
		own();
		handle(new WritesLost());
		answered(false, true);
		due(true);
		handle(new ClaimAnswered(Set.of(SHARD), Set.of()));
		handle(new WrittenBack());
		answered(false, true);
		assertThat(due(true)).containsExactly(claim());
	}

	/** Offsets and states may be lost where ownership is not. */
	@Test
	void stateIsWrittenBackEvenIfNothingIsClaimed() {
		handle(new WritesLost());
		own();
		answered(false, true);
		assertThat(due(true)).containsExactly(new Claim(new TreeMap<>()));
		assertThat(handle(new ClaimAnswered(Set.of(), Set.of()))).containsExactly(new WriteBack());
		assertThat(handle(new WrittenBack())).containsExactly(new Confirm(1));
	}

	@Test
	void confirmationCoversAllLosses() {
		own();
		handle(new WritesLost());
		handle(new WritesLost());
		answered(false, true);
		due(true);
		assertThat(handle(new ClaimAnswered(Set.of(), Set.of())))
			.containsExactly(new Forfeit(SHARD, Forfeit.Cause.TAKEN_OVER), new WriteBack());
		assertThat(handle(new WrittenBack())).containsExactly(new Confirm(2));
	}

	@Test
	void unansweredClaimIsRepeated() {
		own();
		handle(new WritesLost());
		answered(false, true);
		due(true);
		handle(new ClaimFailed());
		assertThat(due(true)).isEmpty();
		assertThat(this.wakeAt).isEqualTo(this.now.plus(RETRY_PAUSE));
		this.now = this.now.plus(RETRY_PAUSE);
		assertThat(due(true)).containsExactly(claim());
	}

	@Test
	void claimIsRepeatedIfItsAnswerWasNotCarriedOut() {
		own();
		handle(new WritesLost());
		answered(false, true);
		due(true);
		handle(new ClaimAnswered(Set.of(SHARD), Set.of()));
		assertThat(due(true)).as("nothing was written back").containsExactly(claim());
	}

	@Test
	void presentedShardIsConfirmedAfterTheClaimPeriod() {
		own();
		handle(new WritesLost());
		handle(new HeartbeatAnswered(false, true, false));
		assertThat(due(false)).containsExactly(new Present(new TreeMap<>(Map.of(SHARD, TOKEN))));
		handle(new ClaimAnswered(Set.of(SHARD), Set.of()));
		handle(new WrittenBack());
		assertThat(this.holdings.isPresenting()).isTrue();

		own();
		answered(false, true);
		assertThat(due(false)).as("others may come back with newer tokens").isEmpty();
		assertThat(this.holdings.isUnconfirmed()).isTrue();
		answered(false, false);
		assertThat(due(false)).containsExactly(new Confirm(1));
		handle(new HeartbeatAnswered(false, false, true));
		assertThat(this.holdings.isPresenting()).isFalse();
	}

	@Test
	void newSessionKeepsGrantedShards() {
		own();
		handle(new SessionForgotten());
		assertThat(handle(new SessionJoined(true))).containsExactly(claim());
		handle(new ClaimAnswered(Set.of(SHARD), Set.of()));
		assertThat(handle(new WrittenBack())).as("its heartbeats have not begun").isEmpty();
		assertThat(this.holdings.isUnconfirmed()).isTrue();

		own();
		answered(false, true);
		assertThat(due(true)).containsExactly(new Confirm(1));
	}

	@Test
	void newSessionWithoutGrantedShardsStartsConfirmed() {
		own();
		handle(new SessionForgotten());
		handle(new SessionJoined(true));
		handle(new ClaimAnswered(Set.of(), Set.of()));
		handle(new WrittenBack());
		assertThat(this.holdings.isUnconfirmed()).isFalse();
		assertThat(handle(new SessionJoined(true))).as("holds nothing").isEmpty();
	}

	@Test
	void unansweredClaimOfANewSessionIsRepeatedByTheNextJoin() {
		own();
		handle(new SessionForgotten());
		handle(new SessionJoined(true));
		handle(new ClaimFailed());
		assertThat(this.wakeAt).isNull();
		assertThat(handle(new SessionJoined(false))).containsExactly(new Present(new TreeMap<>(Map.of(SHARD, TOKEN))));
	}

	/**
	 * A deadline in the past would have the coordinator's loop spin until the next join.
	 */
	@Test
	void pendingClaimIsDroppedWithItsSession() {
		own();
		handle(new WritesLost());
		answered(false, true);
		due(true);
		handle(new ClaimFailed());
		assertThat(this.wakeAt).isNotNull();
		handle(new SessionForgotten());
		assertThat(this.wakeAt).isNull();

		handle(new SessionJoined(true));
		handle(new ClaimFailed());
		this.now = this.now.plus(RETRY_PAUSE);
		assertThat(due(true)).isEmpty();
		assertThat(this.wakeAt).isNull();
	}

	@Test
	void pendingClaimIsDroppedWithLostShards() {
		own();
		handle(new WritesLost());
		answered(false, true);
		due(true);
		handle(new ClaimFailed());
		handle(new SessionLost());
		assertThat(this.wakeAt).isNull();
	}

	@Test
	void otherDueActionsFollowTheClaim() {
		own();
		tell(Phase.REVOKING);
		handle(new WritesLost());
		answered(false, true);
		this.now = this.now.plus(HandoverRules.DEFAULT.timeout());
		assertThat(due(true)).containsExactly(claim());
		handle(new ClaimAnswered(Set.of(SHARD), Set.of()));
		assertThat(handle(new WrittenBack())).containsExactly(new SendHeartbeat(),
				new Interrupt(SHARD, HandoverRules.DEFAULT.timeout()));
	}

	private void own() {
		tell(Phase.OWNED);
	}

	private void tell(Phase phase) {
		handle(new OwnershipChanged(new Ownership(SHARD, phase, TOKEN, ME, null, 1, 0, 0), ME));
	}

	private void answered(boolean hasMore, boolean claimsOpen) {
		handle(new HeartbeatAnswered(hasMore, claimsOpen, true));
	}

	private List<HoldingAction> due(boolean leaseHeld) {
		return handle(new TimePassed(leaseHeld));
	}

	private static Claim claim() {
		return new Claim(new TreeMap<>(Map.of(SHARD, TOKEN)));
	}

	private List<HoldingAction> handle(HoldingEvent event) {
		Step<HoldingAction> step = this.holdings.handle(event, this.now);
		this.wakeAt = step.wakeAt();
		return step.actions();
	}

}
