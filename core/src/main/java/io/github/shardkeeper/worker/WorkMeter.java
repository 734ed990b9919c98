package io.github.shardkeeper.worker;

import java.util.concurrent.atomic.AtomicLong;

import io.github.shardkeeper.time.MonotonicTime;

/**
 * Measures the work done for one shard. Thread-safe.
 */
final class WorkMeter {

	private final AtomicLong records = new AtomicLong();

	/** Up to {@link #since}; guarded by this, as is all below. */
	private long handlerNanos;

	private int running;

	private MonotonicTime since = new MonotonicTime(0);

	synchronized void callBegins(MonotonicTime now) {
		count(now);
		this.running++;
	}

	synchronized void callEnds(MonotonicTime now) {
		count(now);
		this.running--;
	}

	private void count(MonotonicTime now) {
		if (this.running == 0 || this.since.isBefore(now)) {
			this.handlerNanos += this.running * this.since.until(now).toNanos();
			this.since = now;
		}
	}

	void handled(int count) {
		this.records.addAndGet(count);
	}

	/**
	 * How long calls have taken, those that run now included; of calls at the same time
	 * each counts.
	 */
	synchronized long handlerNanos(MonotonicTime now) {
		count(now);
		return this.handlerNanos;
	}

	long records() {
		return this.records.get();
	}

}
