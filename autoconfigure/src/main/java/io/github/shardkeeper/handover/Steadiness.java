package io.github.shardkeeper.handover;

import java.time.Duration;

/**
 * Since when this member's own heartbeats have been answered without a gap: the only time
 * over which it may judge the silence of others. An outage of the store must not look
 * like the death of everybody, nor must a jump of its clock. Not thread-safe: confined to
 * the coordinator's loop.
 */
final class Steadiness {

	private static final Duration CLOCK_DISAGREEMENT = Duration.ofSeconds(1);

	private final Duration longestGap;

	private boolean started;

	private long sinceMillis;

	private long lastMillis;

	private long lastSetBacks;

	private MonotonicTime lastAnswered = new MonotonicTime(0);

	/**
	 * Creates it.
	 * @param heartbeatInterval twice this between two answers is a gap
	 */
	Steadiness(Duration heartbeatInterval) {
		this.longestGap = heartbeatInterval.multipliedBy(2);
	}

	/**
	 * A heartbeat was answered.
	 * @param setBacks how often the store has seen its clock set back: it may have been
	 * put forward again before this answer
	 */
	void answered(long serverTimeMillis, long setBacks, MonotonicTime now) {
		Duration byServer = Duration.ofMillis(serverTimeMillis - this.lastMillis);
		Duration byMonotonic = this.lastAnswered.until(now);
		boolean gap = byServer.compareTo(this.longestGap) > 0 || byMonotonic.compareTo(this.longestGap) > 0;
		boolean jump = byServer.minus(byMonotonic).abs().compareTo(CLOCK_DISAGREEMENT) > 0;
		jump |= setBacks != this.lastSetBacks;
		if (!this.started || gap || jump) {
			this.sinceMillis = serverTimeMillis;
			this.started = true;
		}
		this.lastMillis = serverTimeMillis;
		this.lastSetBacks = setBacks;
		this.lastAnswered = now;
	}

	/**
	 * Whether the last answer is not older than a gap may be; after that nothing can be
	 * said until the next one.
	 */
	boolean isRecent(MonotonicTime now) {
		return this.started && this.lastAnswered.until(now).compareTo(this.longestGap) <= 0;
	}

	void restart() {
		this.started = false;
	}

	long sinceMillis() {
		return this.sinceMillis;
	}

}
