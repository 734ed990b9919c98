package io.github.shardkeeper.testsupport;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A clock that changes only by {@link #advance}. Thread-safe.
 */
public final class SettableClock implements MonotonicClock {

	private final AtomicLong nanos = new AtomicLong();

	private final AtomicInteger failures = new AtomicInteger();

	@Override
	public MonotonicTime now() {
		if (this.failures.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
			throw new InternalError("no memory, caused by the test");
		}
		return new MonotonicTime(this.nanos.get());
	}

	/** Fails the next readings with an error. */
	public void failNext(int readings) {
		this.failures.set(readings);
	}

	public void advance(Duration duration) {
		this.nanos.addAndGet(duration.toNanos());
	}

}
