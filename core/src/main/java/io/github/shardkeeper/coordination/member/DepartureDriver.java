package io.github.shardkeeper.coordination.member;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Leaves the group: announces it, waits until no shard is held any more, with patience
 * for the leader's plan, and ends the session. Confined to the coordinator's loop.
 */
public final class DepartureDriver {

	private static final Logger logger = PrintableLogger.of(DepartureDriver.class);

	private final CoordinationSettings settings;

	private final CoordinationStore store;

	private final Lease lease;

	private final MonotonicClock clock;

	private final Membership membership;

	private final HoldingDriver holdings;

	private final Consumer<MemberId> onLeaving;

	private final Runnable onDeparted;

	private @Nullable Departure departure;

	/**
	 * Creates a driver without a departure.
	 * @param onLeaving called before the member leaves the group
	 * @param onDeparted ends the session
	 */
	public DepartureDriver(CoordinationSettings settings, CoordinationStore store, Lease lease, MonotonicClock clock,
			Membership membership, HoldingDriver holdings, Consumer<MemberId> onLeaving, Runnable onDeparted) {
		this.settings = settings;
		this.store = store;
		this.lease = lease;
		this.clock = clock;
		this.membership = membership;
		this.holdings = holdings;
		this.onLeaving = onLeaving;
		this.onDeparted = onDeparted;
	}

	public void begin(Departure requested) {
		this.departure = requested;
	}

	/** Clears what a stop that timed out has left. */
	public void forget() {
		this.departure = null;
	}

	public boolean isUnderWay() {
		return this.departure != null;
	}

	public void sessionBegun() {
		if (this.departure != null) {
			this.departure.sessionBegun();
		}
	}

	/** Does what is due for the departure, if there is one. */
	public void run() {
		Departure departing = this.departure;
		if (departing == null) {
			return;
		}
		MonotonicTime now = this.clock.now();
		if (restoresHoldings() && (this.lease.isHeld(now) || !departing.isImpatient(now))) {
			return;
		}
		MemberId self = this.membership.member();
		if (self != null && this.lease.isEnded() && this.holdings.isEmpty()) {
			// The session has just begun: without this the group waits for its expiry.
			leaveGroup(self, departing);
			return;
		}
		if (self == null || !this.lease.isHeld(this.clock.now())) {
			// Without a lease nothing runs, and nothing can be committed.
			departed(departing);
			return;
		}
		if (departing.hurriesNow(this.clock.now())) {
			this.holdings.leaveWithoutPlan();
		}
		if (!departing.isAnnounced()) {
			announce(self);
			departing.announced();
		}
		if (this.holdings.isEmpty()) {
			leaveGroup(self, departing);
		}
	}

	private boolean restoresHoldings() {
		MemberId self = this.membership.member();
		return this.holdings.outlive(self) || self != null && this.holdings.isPresenting();
	}

	/** Before a restart no shard moves: the member drains all of them itself. */
	private void announce(MemberId self) {
		if (this.settings.restartsInPlace()) {
			this.store.announceRestart(self);
			this.holdings.leaveWithoutPlan();
		}
		else {
			this.store.announceLeave(self);
		}
	}

	private void leaveGroup(MemberId self, Departure departing) {
		this.onLeaving.accept(self);
		try {
			if (this.settings.restartsInPlace()) {
				this.store.leaveForRestart(self, this.settings.handover().quietPeriod(), this.settings.awayTimeout());
				logger.info("Left group '{}' for a restart; its shards are kept for {} ms", this.settings.group(),
						this.settings.awayTimeout().toMillis());
			}
			else {
				this.store.leaveGroup(self, this.settings.handover().quietPeriod());
				logger.info("Left group '{}'", this.settings.group());
			}
		}
		finally {
			// If the store did not get the message, the closed subscription shows it.
			departed(departing);
		}
	}

	private void departed(Departure departing) {
		this.departure = null;
		try {
			this.holdings.stopped();
			this.onDeparted.run();
		}
		finally {
			departing.departed();
		}
	}

	/** Returns the time of the next {@link #run}, {@code null} for none. */
	@Nullable public MonotonicTime wakeAt() {
		Departure departing = this.departure;
		boolean waitsForLease = this.holdings.outlive(this.membership.member()) && this.lease.isHeld(this.clock.now());
		return (departing != null && !waitsForLease) ? departing.wakeAt() : null;
	}

}
