package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.ClaimReply;
import io.github.shardkeeper.protocol.HandoverRules.OnTimeout;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Step;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.protocol.member.HoldingAction.Release;
import io.github.shardkeeper.protocol.member.HoldingEvent;
import io.github.shardkeeper.protocol.member.ShardHoldings;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Carries out the actions of {@link ShardHoldings} and feeds back their results. Releases
 * are sent in batches and repeated until the store has answered. Confined to the
 * coordinator's loop.
 */
public final class HoldingDriver implements HeartbeatObserver {

	private static final Logger logger = PrintableLogger.of(HoldingDriver.class);

	private static final Duration RELEASE_RETRY_PAUSE = Duration.ofMillis(200);

	private final CoordinationSettings settings;

	private final CoordinationStore store;

	private final HeartbeatScheduler heartbeats;

	private final Lease lease;

	private final MonotonicClock clock;

	private final ShardHoldings holdings;

	private @Nullable MonotonicTime wakeAt;

	private final Deque<Release> releases = new ArrayDeque<>();

	private MonotonicTime nextRelease;

	private boolean releaseFailed;

	private @Nullable ShardConsumption consumption;

	private final OwnershipLog log = new OwnershipLog();

	public HoldingDriver(CoordinationSettings settings, CoordinationStore store, HeartbeatScheduler heartbeats,
			Lease lease, MonotonicClock clock) {
		this.settings = settings;
		this.store = store;
		this.heartbeats = heartbeats;
		this.lease = lease;
		this.clock = clock;
		this.holdings = new ShardHoldings(settings.handover());
		this.nextRelease = clock.now();
	}

	/** Has shards consumed from now on; none may be held. */
	public void consume(ShardConsumption consumption) {
		this.consumption = consumption;
	}

	public void start(ShardConsumption consumption) {
		this.consumption = consumption;
		clearReleases();
		this.wakeAt = this.holdings.handle(new HoldingEvent.SessionLost(), this.clock.now()).wakeAt();
	}

	@Override
	public void writesLost() {
		logger.warn(
				"The store has lost writes, perhaps by a failover: comparing its shards with those that are held here");
		on(new HoldingEvent.WritesLost(), null);
	}

	@Override
	public void heartbeatAnswered(HeartbeatAnswered event, MonotonicTime now) {
		HeartbeatReply.Alive reply = event.reply();
		try {
			ownershipsChanged(reply.changes(), event.self());
		}
		catch (Throwable ex) {
			// The store counts these changes as delivered: request them again.
			this.heartbeats.requestAllChanges();
			throw ex;
		}
		on(new HoldingEvent.HeartbeatAnswered(reply.hasMore(), reply.claimsUntilMillis() > 0, this.lease.isHeld(now)),
				null);
	}

	private void ownershipsChanged(List<Ownership> changes, MemberId self) {
		changes.forEach((change) -> on(new HoldingEvent.OwnershipChanged(change, self), self));
	}

	public void workerEnded(ShardId shard, Token token, Token fence, boolean completed) {
		on(new HoldingEvent.WorkerEnded(shard, token, fence, completed), null);
	}

	public void run(@Nullable MemberId self) {
		on(new HoldingEvent.TimePassed(this.lease.isHeld(this.clock.now())), self);
		if (self != null) {
			sendReleases(self);
		}
	}

	@Nullable public MonotonicTime wakeAt(@Nullable MemberId self) {
		// Between two sessions nothing can be released.
		boolean releases = self != null && !this.releases.isEmpty();
		return MonotonicTime.earliestOf(this.wakeAt, releases ? this.nextRelease : null);
	}

	/**
	 * Logs which shards were assigned, revoked and lost since the last call, in a line
	 * for each of these: a rebalance of a thousand shards must not be a thousand lines.
	 */
	public void logChanges() {
		this.log.write(this.settings.group());
	}

	/** Drains all shards without waiting for the leader any longer. */
	void leaveWithoutPlan() {
		on(new HoldingEvent.LeaveTimedOut(), null);
	}

	public void sessionForgotten() {
		clearReleases();
		on(new HoldingEvent.SessionForgotten(), null);
	}

	/**
	 * Claims or presents the held shards in a session that is about to begin, before
	 * heartbeats renew the lease: shards that are not granted must not be consumed longer
	 * than the old session permits.
	 * @return whether shards were granted, which must be confirmed before the lease is
	 * renewed
	 */
	public boolean joined(MemberId self) {
		on(new HoldingEvent.SessionJoined(this.lease.isHeld(this.clock.now())), self);
		return this.holdings.isUnconfirmed();
	}

	public void sessionLost() {
		clearReleases();
		on(new HoldingEvent.SessionLost(), null);
	}

	void stopped() {
		clearReleases();
		on(new HoldingEvent.MemberStopped(), null);
	}

	boolean isEmpty() {
		return this.holdings.isEmpty();
	}

	/** Returns whether shards belong to a session that the store no longer knows. */
	public boolean outlive(@Nullable MemberId session) {
		return session == null && !isEmpty();
	}

	boolean isPresenting() {
		return this.holdings.isPresenting();
	}

	private void on(HoldingEvent event, @Nullable MemberId self) {
		Step<HoldingAction> step = this.holdings.handle(event, this.clock.now());
		this.wakeAt = step.wakeAt();
		for (HoldingAction action : step.actions()) {
			perform(action, self);
		}
	}

	private void perform(HoldingAction action, @Nullable MemberId self) {
		if (action instanceof HoldingAction.Start start && self != null) {
			start(start, self);
		}
		else if (action instanceof HoldingAction.Prepare prepare && self != null) {
			consumption().prepare(prepare.shard(), self);
		}
		else if (action instanceof HoldingAction.Drain drain) {
			this.log.revoked.add(drain.shard().toString());
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
			this.log.lost.add(abandon.shard().toString());
			consumption().abandon(abandon.shard());
		}
		else if (action instanceof HoldingAction.Forfeit forfeit) {
			this.log.lost.add(forfeit.shard().toString());
			consumption().forfeit(forfeit.shard(), forfeit.cause());
		}
		else if (action instanceof Release release) {
			this.releases.add(release);
		}
		else {
			afterLostWrites(action, self);
		}
	}

	private void afterLostWrites(HoldingAction action, @Nullable MemberId self) {
		if (action instanceof HoldingAction.Claim claim && self != null) {
			claim(claim.held(), true, self);
		}
		else if (action instanceof HoldingAction.Present present && self != null) {
			claim(present.held(), false, self);
		}
		else if (action instanceof HoldingAction.WriteBack) {
			consumption().writeBack();
			on(new HoldingEvent.WrittenBack(), self);
		}
		else if (action instanceof HoldingAction.SendHeartbeat) {
			this.heartbeats.beatNow();
		}
		else if (action instanceof HoldingAction.Confirm confirm) {
			this.heartbeats.confirmed(confirm.losses());
		}
	}

	private void start(HoldingAction.Start start, MemberId self) {
		this.log.assigned.add(start.shard() + " (token " + start.token() + ")");
		try {
			consumption().start(start.shard(), start.token(), self);
		}
		catch (Throwable ex) {
			on(new HoldingEvent.StartFailed(start.shard()), self);
			throw ex;
		}
	}

	private void cancelDrain(ShardId shard) {
		if (consumption().cancelDrain(shard)) {
			on(new HoldingEvent.DrainCancelled(shard), null);
		}
	}

	private void interrupt(HoldingAction.Interrupt interrupt) {
		consumption().interrupt(interrupt.shard(), interrupt.draining());
		if (this.settings.handover().onTimeout() == OnTimeout.FORCE) {
			logger.warn(
					"Releasing {} by force, as 'shardkeeper.handover.on-timeout' says: the next owner may start while "
							+ "a call still runs here",
					interrupt.shard());
		}
	}

	private void claim(Map<ShardId, Token> held, boolean leaseHeld, MemberId self) {
		MonotonicTime now = this.clock.now();
		ClaimReply reply;
		try {
			reply = leaseHeld ? claim(held, self) : present(held, self);
		}
		catch (StoreUnavailableException ex) {
			this.wakeAt = this.holdings.handle(new HoldingEvent.ClaimFailed(), now).wakeAt();
			throw ex;
		}
		on(new HoldingEvent.ClaimAnswered(reply.granted(), reply.superseded()), self);
	}

	private ClaimReply claim(Map<ShardId, Token> held, MemberId self) {
		if (held.isEmpty()) {
			return ClaimReply.NONE;
		}
		ClaimReply reply = this.store.claimShards(self, held);
		logger.info("Keeps {} of {} shards whose ownership the store of group '{}' had lost", reply.granted().size(),
				held.size(), this.settings.group());
		return reply;
	}

	private ClaimReply present(Map<ShardId, Token> held, MemberId self) {
		Map<ShardId, Token> restorable = new TreeMap<>(held);
		restorable.keySet().retainAll(consumption().restorable());
		if (restorable.isEmpty()) {
			return ClaimReply.NONE;
		}
		ClaimReply reply = this.store.presentShards(self, restorable);
		if (!reply.granted().isEmpty()) {
			logger.warn(
					"The store of group '{}' has lost the shards that were held here before the lease ended: takes back {} "
							+ "of {} under their tokens, unless other instances come back with newer ones",
					this.settings.group(), reply.granted().size(), held.size());
		}
		return reply;
	}

	private void clearReleases() {
		this.releases.clear();
		this.releaseFailed = false;
	}

	private void sendReleases(MemberId self) {
		if (this.clock.now().isBefore(this.nextRelease)) {
			return;
		}
		while (!this.releases.isEmpty()) {
			List<Release> batch = takeBatch();
			try {
				// A stale reply counts as released: the member does not own the shard.
				this.store.releaseShards(self, batch, this.settings.handover().quietPeriod());
				this.releaseFailed = false;
			}
			catch (StoreUnavailableException ex) {
				this.releases.addAll(batch);
				this.releaseFailed = true;
				this.nextRelease = this.clock.now().plus(RELEASE_RETRY_PAUSE);
				throw ex;
			}
			batch.forEach((release) -> on(new HoldingEvent.ShardReleased(release.shard(), release.token()), self));
		}
	}

	/**
	 * Takes all releases, or only one after a failure, which requeues its batch at the
	 * end: a release that always fails must not delay the others.
	 */
	private List<Release> takeBatch() {
		List<Release> batch = new ArrayList<>();
		do {
			batch.add(this.releases.remove());
		}
		while (!this.releaseFailed && !this.releases.isEmpty());
		return batch;
	}

	private ShardConsumption consumption() {
		return Objects.requireNonNull(this.consumption);
	}

	/** Changes of ownership that are not logged yet. */
	private static final class OwnershipLog {

		private static final int MOST_NAMED = 10;

		private final List<String> assigned = new ArrayList<>();

		private final List<String> revoked = new ArrayList<>();

		private final List<String> lost = new ArrayList<>();

		void write(String group) {
			write("Assigned", this.assigned, group);
			write("Revoked", this.revoked, group);
			write("Lost", this.lost, group);
		}

		private static void write(String what, List<String> shards, String group) {
			if (shards.isEmpty()) {
				return;
			}
			String first = String.join(", ", shards.subList(0, Math.min(MOST_NAMED, shards.size())));
			int more = shards.size() - MOST_NAMED;
			logger.info("{} {} of group '{}': {}{}", what, (shards.size() == 1) ? "a shard" : shards.size() + " shards",
					group, first, (more > 0) ? " and " + more + " more" : "");
			shards.clear();
		}

	}

}
