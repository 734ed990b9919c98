package io.github.shardkeeper.coordination.member;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.Lease;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * Has consumption suspended at the end of the lease, and resumed once it is held again.
 * Each end is reported once, though both the heartbeats and the coordinator's loop may
 * find it. Thread-safe.
 */
public final class LeaseReports {

	private static final Logger logger = PrintableLogger.of(LeaseReports.class);

	private final String group;

	private final Lease lease;

	private final MonotonicClock clock;

	private final Supplier<ShardConsumption> consumption;

	private final SessionListeners listeners;

	/** Whether the end of the lease was reported, but not yet its renewal. */
	private final AtomicBoolean ended = new AtomicBoolean();

	public LeaseReports(String group, Lease lease, MonotonicClock clock, Supplier<ShardConsumption> consumption,
			SessionListeners listeners) {
		this.group = group;
		this.lease = lease;
		this.clock = clock;
		this.consumption = consumption;
		this.listeners = listeners;
	}

	public void leaseEnded() {
		if (this.ended.compareAndSet(false, true)) {
			logger.warn("The lease in group '{}' has ended: nothing is consumed until a heartbeat is answered",
					this.group);
			this.consumption.get().suspend();
			this.listeners.leaseEnded();
			if (this.lease.isHeld(this.clock.now())) {
				// Another thread renewed it and reported that before the end.
				handOutResumed();
			}
		}
	}

	public void handOutResumed() {
		if (this.ended.compareAndSet(true, false)) {
			logger.info("The lease in group '{}' is held again", this.group);
		}
		this.consumption.get().resume();
		this.listeners.leaseResumed();
	}

}
