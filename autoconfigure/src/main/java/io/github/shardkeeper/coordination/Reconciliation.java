package io.github.shardkeeper.coordination;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.handover.HeartbeatReply;
import io.github.shardkeeper.handover.Lease;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.MemberId;

/**
 * Brings this member and a store that has lost writes together again, within a session
 * that it still knows: it tells all that it knows, and what it does not is claimed, or
 * presented if the lease has ended meanwhile. Until then the lease is not renewed, so
 * that nothing is consumed for longer than the others wait for claims; and what was
 * presented is not consumed before that time is over, because others may come back with
 * newer tokens. Confined to the coordinator's loop.
 */
final class Reconciliation {

	private static final Logger logger = LoggerFactory.getLogger(Reconciliation.class);

	private static final Duration RETRY_PAUSE = Duration.ofMillis(100);

	private final HoldingDriver holdings;

	private final HeartbeatScheduler heartbeats;

	private final Lease lease;

	private final MonotonicClock clock;

	/** How many losses this session has been told of. */
	private int losses;

	private boolean begun;

	/** Whether a loss was told of since the last claim. */
	private boolean lossTold;

	/** Whether something was presented, and the lease is not held again yet. */
	private boolean presented;

	/** Whether it may, by what was told last. */
	private boolean claimsOpen;

	/** When to claim, {@code null} while that is not known yet, or not needed. */
	private @Nullable MonotonicTime claimAt;

	Reconciliation(HoldingDriver holdings, HeartbeatScheduler heartbeats, Lease lease, MonotonicClock clock) {
		this.holdings = holdings;
		this.heartbeats = heartbeats;
		this.lease = lease;
		this.clock = clock;
	}

	/**
	 * A session begins.
	 * @param withClaims whether it takes along what the store has granted, but not told
	 * @param presented whether that was presented, not claimed
	 */
	void begin(boolean withClaims, boolean presented) {
		this.presented = presented;
		this.claimsOpen = presented;
		this.losses = withClaims ? 1 : 0;
		this.begun = withClaims;
		this.lossTold = false;
		this.claimAt = null;
	}

	/** To be called before what the reply tells is taken in. */
	void answered(HeartbeatReply.Alive reply) {
		if (reply.lost()) {
			logger.warn("The store has lost writes, perhaps by a failover: comparing what it knows with what is held");
			this.losses++;
			this.begun = true;
			this.lossTold = true;
			this.claimAt = null;
			this.holdings.writesLost();
		}
	}

	/** To be called after what the reply tells was taken in. */
	void told(HeartbeatReply.Alive reply) {
		this.claimsOpen = reply.claimsUntilMillis() > 0;
		this.presented &= this.begun || !this.lease.isHeld(this.clock.now());
		if (this.begun && this.claimAt == null && !reply.hasMore()) {
			this.claimAt = this.clock.now();
		}
	}

	/** Claims when it is time to, until all that is held was told by the store itself. */
	void run(MemberId self) {
		MonotonicTime now = this.clock.now();
		if (this.claimAt == null || now.isBefore(this.claimAt)) {
			return;
		}
		boolean granted = (this.lossTold || !this.holdings.isConfirmed()) && claim(self, now);
		this.claimAt = null;
		if (granted) {
			this.heartbeats.beatNow();
			return;
		}
		if (this.presented && this.claimsOpen) {
			return;
		}
		this.begun = false;
		this.heartbeats.reconciled(this.losses);
	}

	private boolean claim(MemberId self, MonotonicTime now) {
		try {
			boolean leaseHeld = this.lease.isHeld(now);
			boolean granted = this.holdings.claimUnconfirmed(self, leaseHeld);
			this.lossTold = false;
			if (granted && !leaseHeld) {
				this.presented = true;
				this.claimsOpen = true;
			}
			return granted;
		}
		catch (StoreUnavailableException ex) {
			this.claimAt = now.plus(RETRY_PAUSE);
			throw ex;
		}
	}

	/** Whether what is held was presented, and is not consumed yet. */
	boolean isPresenting() {
		return this.presented;
	}

	@Nullable MonotonicTime wakeAt() {
		return this.claimAt;
	}

}
