package io.github.shardkeeper.coordination;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.handover.HandoverRules.OnTimeout;
import io.github.shardkeeper.handover.HoldingAction;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.handover.Ownership;
import io.github.shardkeeper.handover.ShardHoldings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Carries out what {@link ShardHoldings} decides. Confined to the coordinator's loop.
 */
final class HoldingDriver {

	private static final Logger logger = LoggerFactory.getLogger(HoldingDriver.class);

	private final CoordinationSettings settings;

	private final CoordinationStore store;

	private final MonotonicClock clock;

	private final ShardHoldings holdings;

	private final PendingReleases releases;

	private @Nullable ShardConsumption consumption;

	HoldingDriver(CoordinationSettings settings, CoordinationStore store, MonotonicClock clock) {
		this.settings = settings;
		this.store = store;
		this.clock = clock;
		this.holdings = new ShardHoldings(settings.handover());
		this.releases = new PendingReleases(store, settings.handover().quietPeriod(), this.holdings, clock);
	}

	/** Begins anew, with nothing. */
	void start(ShardConsumption consumption) {
		this.consumption = consumption;
		this.releases.clear();
		this.holdings.sessionLost();
	}

	/** The store told what has changed. */
	void told(List<Ownership> changes, MemberId self) {
		changes.forEach((change) -> perform(this.holdings.ownershipChanged(change, self, this.clock.now()), self));
	}

	void workerEnded(ShardId shard, Token token, Token fence, boolean completed) {
		perform(this.holdings.workerEnded(shard, token, fence, completed), null);
	}

	/** Does all that is due. */
	void run(@Nullable MemberId self) {
		perform(this.holdings.timePassed(this.clock.now()), self);
		if (self != null) {
			this.releases.sendDue(self);
		}
	}

	/** When something is due next, {@code null} for nothing. */
	@Nullable MonotonicTime wakeAt(@Nullable MemberId self) {
		MonotonicTime overdue = this.holdings.wakeAt();
		// Between two sessions nothing can be released.
		MonotonicTime release = (self != null) ? this.releases.wakeAt() : null;
		if (overdue == null || release == null) {
			return (overdue != null) ? overdue : release;
		}
		return MonotonicTime.earliest(overdue, release);
	}

	void leaveWithoutPlan() {
		perform(this.holdings.leaveWithoutPlan(this.clock.now()), null);
	}

	/** The store has lost writes: what it tells from now on confirms what is held. */
	void writesLost() {
		this.holdings.writesLost();
	}

	/** The store does not know the session any more. */
	void sessionForgotten() {
		this.releases.clear();
		this.holdings.sessionForgotten();
	}

	/** Whether nothing is to be claimed. */
	boolean isConfirmed() {
		return this.holdings.unconfirmed().isEmpty();
	}

	/**
	 * Claims what the store has not confirmed, and lets go of what is not granted.
	 * @param leaseHeld whether the lease under which it is held has not ended: otherwise
	 * nothing may be claimed, but what can be given back to the store is presented
	 * @return whether something was granted, which what is told next has to confirm
	 */
	boolean claimUnconfirmed(MemberId self, boolean leaseHeld) {
		Map<ShardId, Token> unconfirmed = this.holdings.unconfirmed();
		ClaimReply reply = leaseHeld ? claim(self, unconfirmed) : present(self, unconfirmed);
		perform(this.holdings.claimed(reply.granted(), reply.superseded()), self);
		consumption().writeBack();
		return !reply.granted().isEmpty();
	}

	private ClaimReply claim(MemberId self, Map<ShardId, Token> held) {
		if (held.isEmpty()) {
			return ClaimReply.NONE;
		}
		ClaimReply reply = this.store.claim(self, held);
		logger.info("Keeps {} of {} shards whose ownership the store of group '{}' had lost", reply.granted().size(),
				held.size(), this.settings.group());
		return reply;
	}

	private ClaimReply present(MemberId self, Map<ShardId, Token> held) {
		Map<ShardId, Token> restorable = new TreeMap<>(held);
		restorable.keySet().retainAll(consumption().restorable());
		if (restorable.isEmpty()) {
			return ClaimReply.NONE;
		}
		ClaimReply reply = this.store.present(self, restorable);
		if (!reply.granted().isEmpty()) {
			logger.warn(
					"The store of group '{}' has lost the shards that were held here before the lease ended: takes back {} "
							+ "of {} under their tokens, unless other instances come back with newer ones",
					this.settings.group(), reply.granted().size(), held.size());
		}
		return reply;
	}

	/** Session and lease are over. */
	void sessionLost() {
		this.releases.clear();
		perform(this.holdings.sessionLost(), null);
	}

	/** This instance stops without a lease. */
	void stopped() {
		this.releases.clear();
		perform(this.holdings.stopped(), null);
	}

	/** Whether nothing is held. */
	boolean isEmpty() {
		return this.holdings.isEmpty();
	}

	private void perform(List<HoldingAction> actions, @Nullable MemberId self) {
		for (HoldingAction action : actions) {
			if (action instanceof HoldingAction.Start start && self != null) {
				start(start, self);
			}
			else if (action instanceof HoldingAction.Prepare prepare && self != null) {
				consumption().prepare(prepare.shard(), self);
			}
			else if (action instanceof HoldingAction.Drain drain) {
				consumption().drain(drain.shard());
			}
			else if (action instanceof HoldingAction.CancelDrain cancel) {
				cancelDrain(cancel.shard());
			}
			else if (action instanceof HoldingAction.Attend attend) {
				consumption().attend(attend.shard());
			}
			else if (action instanceof HoldingAction.Interrupt interrupt) {
				interrupt(interrupt);
			}
			else if (action instanceof HoldingAction.Abandon abandon) {
				consumption().abandon(abandon.shard());
			}
			else if (action instanceof HoldingAction.Forfeit forfeit) {
				consumption().forfeit(forfeit.shard(), forfeit.cause());
			}
			else if (action instanceof HoldingAction.Release release) {
				this.releases.add(release);
			}
		}
	}

	private void start(HoldingAction.Start start, MemberId self) {
		try {
			consumption().start(start.shard(), start.token(), self);
		}
		catch (Throwable ex) {
			this.holdings.notStarted(start.shard());
			throw ex;
		}
	}

	private void cancelDrain(ShardId shard) {
		if (consumption().cancelDrain(shard)) {
			this.holdings.drainCancelled(shard);
		}
	}

	private void interrupt(HoldingAction.Interrupt interrupt) {
		consumption().interrupt(interrupt.shard(), interrupt.draining());
		if (this.settings.handover().onTimeout() == OnTimeout.FORCE) {
			logger
				.warn("Gives {} up by force, as 'shardkeeper.handover.on-timeout' says: the next owner may start while "
						+ "a call still runs here", interrupt.shard());
		}
	}

	private ShardConsumption consumption() {
		return Objects.requireNonNull(this.consumption);
	}

}
