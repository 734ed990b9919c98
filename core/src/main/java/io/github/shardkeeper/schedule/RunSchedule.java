package io.github.shardkeeper.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.schedule.RunTrigger.Cron;
import io.github.shardkeeper.schedule.RunTrigger.Every;

/**
 * The machine of one shard's schedule: which run is due, and the position to commit. All
 * times are of the wall clock, which may be set and differs between owners. The next time
 * of a cron expression is later than those of all runs that were made, so that none is
 * made again: if the clock is set back, it waits until the clock has caught up. An
 * interval has no such times; its pause starts over. Confined to the shard's worker.
 */
public final class RunSchedule {

	/** Maximum number of missed runs that are made up one by one. */
	public static final int MAX_MISSED_RUNS = 100;

	private final RunRules rules;

	private RunPosition position;

	/** The position before the run that is under way. */
	private RunPosition before;

	/** Whether the run was started by this owner and has not ended. */
	private boolean underWay;

	/**
	 * The time after the run that is under way; {@code null} if that is decided at its
	 * end.
	 */
	private @Nullable Instant following;

	private final List<Skipped> skipped = new ArrayList<>();

	/**
	 * Creates the machine of a shard that was just acquired.
	 * @param stored the committed position, {@code null} for none
	 * @throws NoNextRunException if there is no next run
	 */
	public RunSchedule(RunRules rules, @Nullable RunPosition stored, Instant now) {
		this.rules = rules;
		String by = rules.trigger().text();
		if (stored == null) {
			this.position = new RunPosition(first(null, now), null, false, null, null, by);
		}
		else if (stored.started() != null || stored.by().equals(by)) {
			this.position = stored;
		}
		else {
			this.position = stored.waitingFor(first(stored, now), by);
		}
		this.before = this.position;
	}

	/**
	 * Returns the first run of a new schedule. It is after every run of an earlier one,
	 * even if the clock was set back: the new one may have some of the same times.
	 */
	private Instant first(@Nullable RunPosition earlier, Instant now) {
		Instant time = millis(now);
		if (this.rules.trigger() instanceof Every) {
			return (earlier != null && earlier.ended() != null) ? after(earlier.ended()) : time;
		}
		Instant latest = (earlier != null) ? earlier.latest() : null;
		return after((latest != null && latest.isAfter(time)) ? latest : time);
	}

	/** Returns the run after a time: of a run for a cron, of its end for an interval. */
	private Instant after(Instant time) {
		return this.rules.trigger().next(time);
	}

	private static Instant millis(Instant time) {
		return time.truncatedTo(ChronoUnit.MILLIS);
	}

	/** Returns the position to commit. */
	public RunPosition position() {
		return this.position;
	}

	/** Returns whether a run was {@linkplain #begin begun} and has not ended. */
	public boolean isUnderWay() {
		return this.underWay;
	}

	/** Returns the runs that were left out since the last call. */
	public List<Skipped> takeSkipped() {
		List<Skipped> taken = List.copyOf(this.skipped);
		this.skipped.clear();
		return taken;
	}

	/**
	 * Decides which run is due, and moves the position there.
	 * @param ready the time since which the run could have been started, but for a free
	 * thread; at most now. Only the delay until then makes a run a missed one
	 * @return the time of the next run if none is due, otherwise {@code null}
	 * @throws NoNextRunException if there is no next run; the position stays
	 */
	public @Nullable Instant decide(Instant now, Instant ready) {
		if (this.underWay || isToRepeat()) {
			return null;
		}
		if (this.position.next().isAfter(now)) {
			correct(now);
		}
		else if (this.rules.trigger() instanceof Cron cron) {
			chooseDue(cron, now, ready);
		}
		return this.position.next().isAfter(now) ? this.position.next() : null;
	}

	/** Returns whether a run that was started before is to be repeated. */
	private boolean isToRepeat() {
		if (this.position.started() == null) {
			return false;
		}
		if (this.position.failed() || this.rules.onInterruption() == OnInterruption.REPEAT) {
			return true;
		}
		Instant interrupted = this.position.next();
		Instant started = this.position.started();
		Instant next = after((this.rules.trigger() instanceof Every) ? started : interrupted);
		this.position = this.position.endedAt(null, next, this.rules.trigger().text());
		this.skipped.add(new Skipped(interrupted, next, true));
		return false;
	}

	/**
	 * Starts over if the next run is later than it can be: the clock was set back. Runs
	 * that were made while it was ahead are not made again.
	 */
	private void correct(Instant now) {
		boolean cron = this.rules.trigger() instanceof Cron;
		Instant latest = cron ? first(this.position, now) : after(millis(now));
		// The end of a run was truncated, too.
		if (this.position.next().isAfter(cron ? latest : latest.plusMillis(1))) {
			this.position = this.position.waitingFor(latest, this.rules.trigger().text());
		}
	}

	/** Chooses one of the runs that are due, or the next one if they are missed. */
	private void chooseDue(Cron cron, Instant now, Instant ready) {
		Instant due = this.position.next();
		boolean each = this.rules.missedRuns() == MissedRuns.ALL;
		List<Instant> latest = latest(cron, due, now, each ? MAX_MISSED_RUNS : 1);
		Instant chosen = latest.get(0);
		boolean missed = Duration.between(chosen, ready).compareTo(this.rules.missedAfter()) > 0;
		if (missed && this.rules.missedRuns() == MissedRuns.SKIP) {
			chosen = after(now);
		}
		if (!chosen.equals(due)) {
			this.position = this.position.waitingFor(chosen, cron.text());
			if (this.rules.missedRuns() != MissedRuns.ONCE) {
				this.skipped.add(new Skipped(due, chosen, false));
			}
		}
	}

	/**
	 * Returns the last times from one that is due until now, in order. Looks back in
	 * steps that grow, because a cron expression only knows the next time.
	 */
	private static List<Instant> latest(Cron cron, Instant due, Instant now, int most) {
		Duration back = Duration.ofSeconds(1);
		while (true) {
			Instant begin = now.minus(back);
			boolean whole = !begin.isAfter(due);
			Deque<Instant> found = new ArrayDeque<>();
			Instant next = whole ? due : cron.next(begin);
			while (next != null && !next.isAfter(now)) {
				found.add(next);
				if (found.size() > most) {
					found.remove();
				}
				next = cron.next(next);
			}
			if (whole || found.size() == most) {
				return List.copyOf(found);
			}
			back = back.multipliedBy(2);
		}
	}

	/**
	 * Notes that the handler is about to be called for the run that is due.
	 * @throws NoNextRunException if no run could follow this one, which is not begun
	 */
	public void begin(Instant now) {
		Instant started = millis(now);
		Instant time = this.position.next();
		this.following = null;
		if (this.rules.trigger() instanceof Cron) {
			// Now: a run that has been made must not fail because none follows it.
			this.following = after(time);
			// An owner whose clock is behind may repeat a run before its time.
			started = started.isBefore(time) ? time : started;
		}
		this.before = this.position;
		this.position = this.position.startedAt(started);
		this.underWay = true;
	}

	/** Notes that the handler was not called after all. */
	public void cancel() {
		this.position = this.before;
		this.underWay = false;
	}

	/** Notes that the handler has returned. */
	public void succeeded(Instant now) {
		Instant end = millis(now);
		Instant next = (this.following != null) ? this.following : after(end);
		this.position = this.position.endedAt(end, next, this.rules.trigger().text());
		this.underWay = false;
	}

	/** Notes that the handler has thrown: the run is repeated. */
	public void failed() {
		this.position = this.position.withFailure();
		this.underWay = false;
	}

	/** Notes that the call was interrupted: the rules say what happens to the run. */
	public void interrupted() {
		this.underWay = false;
	}

	/**
	 * Runs that were left out.
	 *
	 * @param from the first of them
	 * @param until the next run, which is not left out
	 * @param interrupted whether it is one run that was started and not finished;
	 * otherwise they were missed
	 */
	public record Skipped(Instant from, Instant until, boolean interrupted) {

	}

}
