package io.github.shardkeeper.loop;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Timer of a worker: sets one alarm at a time, unless an earlier one is needed. Confined
 * to the worker.
 */
public final class WakeTimer {

	private final ScheduledExecutorService timer;

	private final Runnable wake;

	private @Nullable MonotonicTime alarm;

	public WakeTimer(ScheduledExecutorService timer, Runnable wake) {
		this.timer = timer;
		this.wake = wake;
	}

	/** Wakes the worker at a time, or earlier. */
	public void wakeAt(MonotonicTime time, MonotonicTime now) {
		MonotonicTime set = this.alarm;
		boolean isEarlyEnough = set != null && now.isBefore(set) && !time.isBefore(set);
		if (isEarlyEnough || this.timer.isShutdown()) {
			return;
		}
		this.timer.schedule(this.wake, Math.max(0, now.until(time).toNanos()), TimeUnit.NANOSECONDS);
		// Only after scheduling: a timer that throws sets no alarm.
		this.alarm = time;
	}

}
