package io.github.shardkeeper.worker;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.schedule.NoNextRunException;
import io.github.shardkeeper.schedule.RunPosition;
import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.schedule.RunSchedule;
import io.github.shardkeeper.schedule.RunSchedule.Skipped;
import io.github.shardkeeper.schedule.RunTrigger;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.commit.Committer;
import io.github.shardkeeper.worker.failure.ShardProblems;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Runs of an owned shard by its schedule: drives the {@link RunSchedule}, and commits its
 * position as the offset of the shard. Confined to the shard's worker, except for
 * {@link #wake}.
 */
final class ShardRuns {

	private static final Logger logger = PrintableLogger.of(ShardRuns.class);

	/** Maximum wait before the wall clock is read again: it may have been set. */
	private static final Duration MAX_WAIT = Duration.ofMinutes(1);

	private final RunRules rules;

	private final OwnedShard owned;

	private final ShardProblems problems;

	private final WorkerContext context;

	private final ShardProgress progress;

	private final Committer committer;

	private final RunSchedule schedule;

	/** Whether the end of a run is committed at once. */
	private final boolean commitsEnds;

	/**
	 * Number of the commit without which no run is called: it has the end of the last
	 * run, and the begin of this one if the rules want that.
	 */
	private long required;

	/**
	 * Time at which the timer of runs has woken the worker, {@code null} since its turn.
	 */
	private volatile @Nullable Instant wokenAt;

	private RunPosition position;

	ShardRuns(RunRules rules, OwnedShard owned, ShardProblems problems, Committer committer) {
		this.rules = rules;
		this.owned = owned;
		this.problems = problems;
		this.context = owned.context();
		this.progress = committer.progress();
		this.committer = committer;
		// An interval that is longer than that of commits needs no more of them.
		this.commitsEnds = rules.marks() || rules.trigger() instanceof RunTrigger.Every every
				&& every.interval().compareTo(owned.settings().commits().interval()) >= 0;
		RunPosition stored = RunPosition.of(this.progress.begin());
		this.schedule = new RunSchedule(rules, stored, wallTime());
		this.position = this.schedule.position();
		problems.scheduledAt(this.position);
		if (!this.position.equals(stored)) {
			this.progress.moveTo(this.position.toOffset(), this.context.clock().now());
		}
	}

	private Instant wallTime() {
		return this.context.wallClock().instant();
	}

	/**
	 * Wakes the worker, and notes that the shard is ready for a run: waiting for a thread
	 * does not make the run a missed one.
	 */
	void wake() {
		if (this.wokenAt == null && this.context.lease().permitsHandOut(this.context.clock().now())) {
			this.wokenAt = wallTime();
		}
		this.owned.wake();
	}

	@Nullable Instant takeWoken() {
		Instant woken = this.wokenAt;
		this.wokenAt = null;
		return woken;
	}

	/**
	 * Begins the run that is due, if any; returns now if one is, or when to ask again.
	 * @param woken the time at which the timer has woken the worker for this turn
	 */
	MonotonicTime begin(MonotonicTime now, @Nullable Instant woken) {
		Instant time = wallTime();
		if (this.schedule.isUnderWay()) {
			return now;
		}
		try {
			MonotonicTime next = next(time, (woken != null && woken.isBefore(time)) ? woken : time, now);
			if (!now.isBefore(next)) {
				this.schedule.begin(time);
				moved(now, this.rules.marks());
				if (this.rules.marksFirst()) {
					this.required = this.committer.numbers().upcoming();
				}
			}
			this.problems.scheduleContinues();
			return next;
		}
		catch (NoNextRunException ex) {
			this.problems.scheduleStopped(ex);
			return now.plus(MAX_WAIT);
		}
	}

	private MonotonicTime next(Instant time, Instant ready, MonotonicTime now) {
		Instant next = this.schedule.decide(time, ready);
		this.schedule.takeSkipped().forEach(this::report);
		moved(now, false);
		if (next == null) {
			return now;
		}
		Duration wait = Duration.between(time, next);
		return now.plus((wait.compareTo(MAX_WAIT) < 0) ? wait : MAX_WAIT);
	}

	private void report(Skipped skipped) {
		if (skipped.interrupted()) {
			logger.warn(
					"The run of {} that was due at {} was interrupted and is not repeated; the next one is due at {}",
					this.owned, skipped.from(), skipped.until());
		}
		else {
			logger.warn("The runs of {} from {} on were missed and are left out; the next one is of {}", this.owned,
					skipped.from(), skipped.until());
		}
	}

	/** Returns the time of the run that is under way. */
	Instant time() {
		return this.position.next();
	}

	/** Returns whether a run has begun and its call has not returned. */
	boolean isUnderWay() {
		return this.schedule.isUnderWay();
	}

	/**
	 * Returns whether the run that has begun may be called: the store knows the end of
	 * the last one, which is never called again, and of this one what the rules want.
	 */
	boolean mayCall() {
		return this.committer.numbers().acknowledged() >= this.required;
	}

	/** Ends the run. */
	void succeeded(MonotonicTime now) {
		this.schedule.succeeded(wallTime());
		moved(now, this.commitsEnds);
		if (this.commitsEnds) {
			this.required = this.committer.numbers().upcoming();
		}
	}

	void failed(MonotonicTime now) {
		this.schedule.failed();
		moved(now, false);
	}

	void interrupted(MonotonicTime now) {
		this.schedule.interrupted();
		moved(now, false);
	}

	/** Cancels a run whose call has not been made: another owner will make it. */
	void stop(MonotonicTime now) {
		if (this.schedule.isUnderWay()) {
			this.schedule.cancel();
			moved(now, false);
		}
	}

	private void moved(MonotonicTime now, boolean soon) {
		RunPosition next = this.schedule.position();
		if (!next.equals(this.position)) {
			this.position = next;
			this.progress.moveTo(next.toOffset(), now);
			this.problems.scheduledAt(next);
		}
		if (soon) {
			this.progress.nextCommit().commitSoon();
		}
	}

}
