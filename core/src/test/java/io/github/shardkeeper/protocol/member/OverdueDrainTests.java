package io.github.shardkeeper.protocol.member;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.protocol.HandoverRules.OnTimeout;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.protocol.Step;
import io.github.shardkeeper.protocol.member.HoldingAction.Abandon;
import io.github.shardkeeper.protocol.member.HoldingAction.Attend;
import io.github.shardkeeper.protocol.member.HoldingAction.CancelDrain;
import io.github.shardkeeper.protocol.member.HoldingAction.Interrupt;
import io.github.shardkeeper.protocol.member.HoldingAction.Release;
import io.github.shardkeeper.protocol.member.HoldingEvent.DrainCancelled;
import io.github.shardkeeper.protocol.member.HoldingEvent.LeaveTimedOut;
import io.github.shardkeeper.protocol.member.HoldingEvent.OwnershipChanged;
import io.github.shardkeeper.protocol.member.HoldingEvent.SessionLost;
import io.github.shardkeeper.protocol.member.HoldingEvent.ShardReleased;
import io.github.shardkeeper.protocol.member.HoldingEvent.TimePassed;
import io.github.shardkeeper.protocol.member.HoldingEvent.WorkerEnded;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reactions of a member to a drain that takes too long.
 */
class OverdueDrainTests {

	private static final MemberId ME = MemberId.of("me", "1");

	private static final MemberId OTHER = MemberId.of("other", "1");

	private static final ShardId FIRST = ShardId.of("orders", 1);

	private static final ShardId SECOND = ShardId.of("orders", 2);

	private static final Token TOKEN = new Token(10);

	private static final Token NEWER = new Token(20);

	private static final Duration TIMEOUT = Duration.ofSeconds(50);

	private ShardHoldings holdings = holdings(OnTimeout.HOLD);

	private MonotonicTime wakeAt;

	private MonotonicTime now = new MonotonicTime(0);

	@Test
	void noWakeUpWithoutADrain() {
		owned(FIRST, TOKEN);
		assertThat(this.wakeAt).isNull();
		pass(TIMEOUT.multipliedBy(2));
		assertThat(due()).isEmpty();
	}

	@Test
	void callIsInterruptedAfterEachTimeout() {
		drain(FIRST);
		assertThat(this.wakeAt).isEqualTo(this.now.plus(TIMEOUT));
		pass(TIMEOUT.minusNanos(1));
		assertThat(due()).isEmpty();
		pass(Duration.ofNanos(1));
		assertThat(due()).containsExactly(new Interrupt(FIRST, TIMEOUT));
		assertThat(due()).as("once").isEmpty();
		assertThat(this.wakeAt).isEqualTo(this.now.plus(TIMEOUT));
		pass(TIMEOUT);
		assertThat(due()).containsExactly(new Interrupt(FIRST, TIMEOUT.multipliedBy(2)));
		assertThat(this.holdings.isEmpty()).as("it holds the shard").isFalse();
	}

	@Test
	void eachDrainHasItsOwnTimeout() {
		drain(SECOND);
		pass(Duration.ofSeconds(10));
		drain(FIRST);
		pass(Duration.ofSeconds(40));
		assertThat(due()).containsExactly(new Interrupt(SECOND, TIMEOUT));
		assertThat(this.wakeAt).isEqualTo(this.now.plus(Duration.ofSeconds(10)));
		pass(Duration.ofSeconds(10));
		assertThat(due()).containsExactly(new Interrupt(FIRST, TIMEOUT));
	}

	@Test
	void repeatedRevokeDoesNotRestartTheTimeout() {
		drain(FIRST);
		pass(Duration.ofSeconds(30));
		tell(FIRST, Phase.REVOKING, TOKEN);
		tell(FIRST, Phase.REVOKING, NEWER);
		pass(Duration.ofSeconds(20));
		assertThat(due()).containsExactly(new Interrupt(FIRST, TIMEOUT));
	}

	@Test
	void drainedShardIsNotOverdue() {
		drain(FIRST);
		handle(new WorkerEnded(FIRST, TOKEN, Token.NONE, false));
		assertThat(this.wakeAt).isNull();
	}

	@Test
	void cancelledDrainIsNotOverdueAndTheNextOneHasAWholeTimeout() {
		drain(FIRST);
		pass(Duration.ofSeconds(30));
		owned(FIRST, TOKEN);
		handle(new DrainCancelled(FIRST));
		assertThat(this.wakeAt).isNull();
		tell(FIRST, Phase.REVOKING, TOKEN);
		assertThat(this.wakeAt).isEqualTo(this.now.plus(TIMEOUT));
	}

	@Test
	void drainCancelledTooLateKeepsItsDeadline() {
		drain(FIRST);
		pass(Duration.ofSeconds(30));
		assertThat(owned(FIRST, TOKEN)).as("its revocation callback is running")
			.containsExactly(new CancelDrain(FIRST), new Attend(FIRST));
		pass(Duration.ofSeconds(20));
		assertThat(due()).containsExactly(new Interrupt(FIRST, TIMEOUT));
		assertThat(handle(new WorkerEnded(FIRST, TOKEN, Token.NONE, false)))
			.containsExactly(new Release(FIRST, TOKEN, Token.NONE, false));
		assertThat(this.wakeAt).isNull();
	}

	@Test
	void leaveWithoutPlanHasTheSameTimeout() {
		owned(FIRST, TOKEN);
		handle(new LeaveTimedOut());
		pass(TIMEOUT);
		assertThat(due()).containsExactly(new Interrupt(FIRST, TIMEOUT));
	}

	@Test
	void lostSessionEndsAllDrains() {
		drain(FIRST);
		handle(new SessionLost());
		assertThat(this.wakeAt).isNull();
	}

	@Test
	void forcedHandoverReleasesTheShardWhileTheCallMayStillRun() {
		this.holdings = holdings(OnTimeout.FORCE);
		drain(FIRST);
		pass(TIMEOUT);
		assertThat(due()).containsExactly(new Interrupt(FIRST, TIMEOUT), new Abandon(FIRST),
				new Release(FIRST, TOKEN, Token.NONE, false));
		assertThat(this.wakeAt).isNull();
		assertThat(owned(FIRST, TOKEN)).as("too late to be wanted back").isEmpty();
		handle(new ShardReleased(FIRST, TOKEN));
		assertThat(this.holdings.isEmpty()).isTrue();
	}

	private void drain(ShardId shard) {
		owned(shard, TOKEN);
		tell(shard, Phase.REVOKING, TOKEN);
	}

	private List<HoldingAction> owned(ShardId shard, Token token) {
		return tell(shard, Phase.OWNED, token);
	}

	private List<HoldingAction> tell(ShardId shard, Phase phase, Token token) {
		MemberId target = (phase == Phase.REVOKING) ? OTHER : null;
		return handle(new OwnershipChanged(new Ownership(shard, phase, token, ME, target, token.value(), 0, 0), ME));
	}

	private List<HoldingAction> due() {
		return handle(new TimePassed(false));
	}

	private void pass(Duration duration) {
		this.now = this.now.plus(duration);
	}

	private static ShardHoldings holdings(OnTimeout onTimeout) {
		return new ShardHoldings(new HandoverRules(TIMEOUT, onTimeout, Duration.ZERO, Duration.ZERO, 0));
	}

	private List<HoldingAction> handle(HoldingEvent event) {
		Step<HoldingAction> step = this.holdings.handle(event, this.now);
		this.wakeAt = step.wakeAt();
		return step.actions();
	}

}
