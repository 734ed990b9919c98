package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * What keeps a member from using its group's store; each cause is said once for an
 * outage. The store may answer heartbeats and refuse other steps, which are then tried
 * again and again: as long as they are, that is one outage. It may also keep losing its
 * data, and with it one session after the other: that, too, is said once. Confined to the
 * coordinator's loop, but for {@link #text} and {@link #lasting}.
 */
final class StoreAvailability {

	/** Longer than any step waits before it is tried again … */
	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

	/** … which takes no longer than a part of the lease, or this. */
	private static final Duration SHORTEST_STEP = Duration.ofSeconds(1);

	/** Waiting for replicas takes a third of the lease at most. */
	private static final int STEPS_PER_LEASE = 3;

	/** So long something may be refused that passes, above all in a failover. */
	private static final Duration LASTING = Duration.ofSeconds(5);

	private static final Logger logger = LoggerFactory.getLogger(StoreAvailability.class);

	private final String group;

	private final Duration lease;

	/** Longer than from one failure of a step to the next. */
	private final Duration quiet;

	/** Of heartbeats and joins. */
	private volatile @Nullable String text;

	private volatile @Nullable FailingStep step;

	private final ProblemLog log = new ProblemLog();

	private @Nullable MonotonicTime sessionBegunAt;

	/** Number of sessions that were lost since one has lasted. */
	private int lostSessions;

	/**
	 * Begins without a problem.
	 * @param lease for how long the member holds its lease
	 */
	StoreAvailability(String group, Duration lease) {
		this.group = group;
		this.lease = lease;
		Duration step = lease.dividedBy(STEPS_PER_LEASE);
		this.quiet = LONGEST_PAUSE.plus((step.compareTo(SHORTEST_STEP) > 0) ? step : SHORTEST_STEP);
	}

	/** A heartbeat or a join has failed. */
	void unavailable(StoreUnavailableException failure) {
		say(failure);
		this.text = failure.getMessage();
	}

	/** Another step has failed, and is tried again. */
	void stepFailed(StoreUnavailableException failure, MonotonicTime now) {
		say(failure);
		FailingStep before = this.step;
		this.step = new FailingStep(String.valueOf(failure.getMessage()), (before != null) ? before.since() : now, now);
	}

	private void say(StoreUnavailableException failure) {
		boolean begins = this.log.isEmpty();
		if (this.log.isNew(String.valueOf(failure.getMessage()))) {
			logger.warn(
					begins ? "The store of group '{}' cannot be used; trying on. {}"
							: "The store of group '{}' still cannot be used, for another reason. {}",
					this.group, failure.getMessage());
		}
		else {
			logger.debug("The store of group '{}' still cannot be used", this.group, failure);
		}
	}

	void misconfigured(@Nullable String message) {
		this.text = message;
		if (this.log.isNew(String.valueOf(message))) {
			logger.error("Cannot join group '{}': {}", this.group, message);
		}
	}

	/** A heartbeat was answered. */
	void answered(MonotonicTime now) {
		this.text = null;
		FailingStep failing = this.step;
		if (failing != null && failing.last().until(now).compareTo(this.quiet) >= 0) {
			this.step = null;
		}
		if (this.step == null && this.log.resolved()) {
			logger.info("The store answers again; group '{}' goes on", this.group);
		}
	}

	void sessionBegun(MonotonicTime now) {
		this.sessionBegunAt = now;
	}

	/**
	 * Counts a session that is lost because the store has lost its data.
	 * @return whether it is the first since one has lasted, and has to be logged
	 */
	boolean sessionLost() {
		this.sessionBegunAt = null;
		this.lostSessions++;
		return this.lostSessions == 1;
	}

	/** Takes in that the store knows the session, which has to last for a lease. */
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

	/** The last failure since the store answered last, {@code null} for none. */
	@Nullable String text() {
		String current = this.text;
		FailingStep failing = this.step;
		return (current == null && failing != null) ? failing.text() : current;
	}

	/** What the store has refused for long, although it answers heartbeats. */
	Optional<String> lasting(MonotonicTime now) {
		return Optional.ofNullable(this.step)
			.filter((failing) -> failing.since().until(failing.last()).compareTo(LASTING) > 0
					&& failing.last().until(now).compareTo(this.quiet) < 0)
			.map(FailingStep::text);
	}

	/**
	 * Since when it fails, and when it has failed last.
	 */
	private record FailingStep(String text, MonotonicTime since, MonotonicTime last) {

	}

}
