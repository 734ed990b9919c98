package io.github.shardkeeper.testsupport;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A clock that changes only by {@link #advance}. Thread-safe.
 */
public final class SettableClock implements MonotonicClock {

	private final AtomicLong nanos = new AtomicLong();

	@Override
	public MonotonicTime now() {
		return new MonotonicTime(this.nanos.get());
	}

	public void advance(Duration duration) {
		this.nanos.addAndGet(duration.toNanos());
	}

}
