package io.github.shardkeeper.time;

import java.time.Duration;
import java.util.Objects;

/**
 * Pauses between attempts that fail: each is twice as long as the one before, up to the
 * longest. Without randomness: for attempts of one instance, or of one shard. Confined to
 * one thread at a time.
 */
public final class Backoff {

	private final Duration first;

	private final Duration longest;

	private Duration next;

	/** Creates pauses that begin with the first one. */
	public Backoff(Duration first, Duration longest) {
		this.first = Objects.requireNonNull(first, "first must not be null");
		this.longest = Objects.requireNonNull(longest, "longest must not be null");
		this.next = first;
	}

	/** Returns the pause after an attempt that has failed. */
	public Duration next() {
		Duration pause = this.next;
		Duration doubled = pause.multipliedBy(2);
		this.next = (doubled.compareTo(this.longest) < 0) ? doubled : this.longest;
		return pause;
	}

	/** Begins with the first pause again, after an attempt that has succeeded. */
	public void reset() {
		this.next = this.first;
	}

}
