package io.github.shardkeeper.consumer;

import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handover.MonotonicTime;

/**
 * What has been done for one shard. Written by the shard's worker alone, without waiting
 * for anybody; may be read from any thread, which sees the end of a call in one of both
 * numbers a moment later than in the other at worst.
 */
final class WorkMeter {

	private final AtomicLong handlerNanos = new AtomicLong();

	private final AtomicLong records = new AtomicLong();

	/** {@code null} between two calls. */
	private volatile @Nullable MonotonicTime callSince;

	void callBegins(MonotonicTime now) {
		this.callSince = now;
	}

	void callEnds(MonotonicTime begun, MonotonicTime now) {
		// In this order: so no time of a call is counted twice.
		this.callSince = null;
		this.handlerNanos.lazySet(this.handlerNanos.get() + begun.until(now).toNanos());
	}

	void handled() {
		this.records.lazySet(this.records.get() + 1);
	}

	/** How long calls have taken, one that runs now included. */
	long handlerNanos(MonotonicTime now) {
		long ended = this.handlerNanos.get();
		MonotonicTime since = this.callSince;
		return (since != null) ? ended + Math.max(since.until(now).toNanos(), 0) : ended;
	}

	long records() {
		return this.records.get();
	}

}
