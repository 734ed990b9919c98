package io.github.shardkeeper.coordination.member;

import java.time.Duration;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.protocol.leader.LeaderEvent.HeartbeatAnswered;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Availability of the group's store for a member. Logs each cause once per outage, which
 * lasts as long as any step fails, also if heartbeats are answered meanwhile; and once
 * sessions that are lost one after the other, because the store keeps losing its data.
 * Confined to the coordinator's loop, except {@link #text}, {@link #lasting} and
 * {@link #refusesMember}.
 */
public final class StoreAvailability implements HeartbeatObserver {

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

	/** Maximum duration of a step, if a part of the lease is not longer. */
	private static final Duration SHORTEST_STEP = Duration.ofSeconds(1);

	/** A step waits for replicas for a third of the lease at most. */
	private static final int STEPS_PER_LEASE = 3;

	/** Time for which a step may fail temporarily, above all in a failover. */
	private static final Duration LASTING = Duration.ofSeconds(5);

	private static final Logger logger = PrintableLogger.of(StoreAvailability.class);

	private final String group;

	private final Duration lease;

	/** Time without a failure after which a step works again. */
	private final Duration quiet;

	/** Last failure of heartbeats and joins. */
	private volatile @Nullable String text;

	private volatile @Nullable FailingStep step;

	/** First of the heartbeats and joins that the store has refused since its reply. */
	private volatile @Nullable MonotonicTime refusedSince;

	private volatile boolean misconfigured;

	private final ProblemLog log = new ProblemLog();

	private @Nullable MonotonicTime sessionBegunAt;

	/** Number of sessions in a row that were lost before they had lasted for a lease. */
	private int lostSessions;

	public StoreAvailability(String group, Duration lease) {
		this.group = group;
		this.lease = lease;
		Duration step = lease.dividedBy(STEPS_PER_LEASE);
		this.quiet = LONGEST_PAUSE.plus((step.compareTo(SHORTEST_STEP) > 0) ? step : SHORTEST_STEP);
	}

	@Override
	public void heartbeatFailed(StoreUnavailableException failure, MonotonicTime now) {
		unavailable(failure, now);
	}

	/** Records the failure of a heartbeat or a join. */
	public void unavailable(StoreUnavailableException failure, MonotonicTime now) {
		log(failure);
		this.text = failure.getMessage();
		this.misconfigured = false;
		MonotonicTime since = this.refusedSince;
		this.refusedSince = failure.isRefusal() ? ((since != null) ? since : now) : null;
	}

	/** Records the failure of another step, which is tried again. */
	public void stepFailed(StoreUnavailableException failure, MonotonicTime now) {
		log(failure);
		FailingStep before = this.step;
		this.step = new FailingStep(String.valueOf(failure.getMessage()), (before != null) ? before.since() : now, now);
	}

	private void log(StoreUnavailableException failure) {
		boolean begins = this.log.isEmpty();
		if (this.log.isNew(String.valueOf(failure.getMessage()))) {
			logger.warn(
					begins ? "The store of group '{}' cannot be used; retrying. {}"
							: "The store of group '{}' still cannot be used, for another reason. {}",
					this.group, failure.getMessage());
		}
		else {
			logger.debug("The store of group '{}' still cannot be used", this.group, failure);
		}
	}

	public void misconfigured(@Nullable String message) {
		this.text = message;
		this.misconfigured = true;
		if (this.log.isNew(String.valueOf(message))) {
			logger.error("Cannot join group '{}': {}", this.group, message);
		}
	}

	@Override
	public void heartbeatAnswered(HeartbeatAnswered reply, MonotonicTime now) {
		answered(now);
		sessionAnswered(reply.self(), now);
	}

	void answered(MonotonicTime now) {
		this.text = null;
		this.misconfigured = false;
		this.refusedSince = null;
		FailingStep failing = this.step;
		if (failing != null && failing.last().until(now).compareTo(this.quiet) >= 0) {
			this.step = null;
		}
		if (this.step == null && this.log.resolved()) {
			logger.info("The store replies again; group '{}' continues", this.group);
		}
	}

	public void sessionBegun(MonotonicTime now) {
		this.sessionBegunAt = now;
	}

	/** Returns whether to log the loss, because it is the first one in a row. */
	public boolean sessionLost() {
		this.sessionBegunAt = null;
		this.lostSessions++;
		return this.lostSessions == 1;
	}

	/** Records that the store knows the session; after a lease the session is stable. */
	void sessionAnswered(MemberId member, MonotonicTime now) {
		if (this.lostSessions == 0 || this.sessionBegunAt == null
				|| this.sessionBegunAt.until(now).compareTo(this.lease) < 0) {
			return;
		}
		if (this.lostSessions > 1) {
			logger.info("The session of {} in group '{}' is stable again; {} sessions in a row were lost before",
					member, this.group, this.lostSessions);
		}
		this.lostSessions = 0;
	}

	/** Returns the last failure since the store's last reply, {@code null} for none. */
	@Nullable public String text() {
		String current = this.text;
		FailingStep failing = this.step;
		return (current == null && failing != null) ? failing.text() : current;
	}

	/**
	 * Returns whether the store replies but refuses this member's heartbeats or joins,
	 * for longer than a failover lasts: somebody has to change something.
	 */
	public boolean refusesMember(MonotonicTime now) {
		MonotonicTime since = this.refusedSince;
		return this.misconfigured || since != null && since.until(now).compareTo(LASTING) > 0;
	}

	/** Returns the lasting failure of a step while heartbeats are answered. */
	public Optional<String> lasting(MonotonicTime now) {
		return Optional.ofNullable(this.step)
			.filter((failing) -> failing.since().until(failing.last()).compareTo(LASTING) > 0
					&& failing.last().until(now).compareTo(this.quiet) < 0)
			.map(FailingStep::text);
	}

	private record FailingStep(String text, MonotonicTime since, MonotonicTime last) {

	}

}
