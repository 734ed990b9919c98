package io.github.shardkeeper.benchmarks.locks;

import java.util.List;

import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.locks.Trace.Acquisition;

/**
 * Figures of threads that wanted one lock. Immutable.
 *
 * @param handOverMicros the times from the call of {@code unlock()} in one thread to the
 * return of {@code lock()} in another one
 * @param perSecond acquisitions per second
 * @param longestWaitMillis the longest time from the call of {@code lock()} to its return
 */
record Contention(Samples handOverMicros, double perSecond, double longestWaitMillis) {

	/**
	 * Evaluates what happened in a time.
	 * @param trace all acquisitions, in their order
	 * @param acquired the number of them that the threads have counted
	 */
	static Contention of(List<Acquisition> trace, long acquired, long beginNanos, long endNanos) {
		if (trace.size() != acquired) {
			throw new IllegalStateException("Two threads held one lock: of %d acquisitions %d were written down"
				.formatted(acquired, trace.size()));
		}
		Samples handOverMicros = new Samples();
		int counted = 0;
		long longestWait = 0;
		for (int i = 1; i < trace.size(); i++) {
			Acquisition before = trace.get(i - 1);
			Acquisition next = trace.get(i);
			if (next.acquiredAt() - before.unlockAt() < 0) {
				throw new IllegalStateException("Two threads held one lock: %s and %s".formatted(before, next));
			}
			longestWait = Math.max(longestWait, next.acquiredAt() - next.askedAt());
			if (before.unlockAt() - beginNanos >= 0 && next.acquiredAt() - endNanos <= 0) {
				counted++;
				if (next.thread() != before.thread()) {
					handOverMicros.add((next.acquiredAt() - before.unlockAt()) / 1e3);
				}
			}
		}
		return new Contention(handOverMicros, counted * 1e9 / (endNanos - beginNanos), longestWait / 1e6);
	}

}
