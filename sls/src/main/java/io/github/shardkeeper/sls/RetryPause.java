package io.github.shardkeeper.sls;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Pauses between attempts of a request that fails. */
final class RetryPause {

	private RetryPause() {
	}

	/**
	 * Returns half to all of a pause that doubles with each failure: requests that were
	 * refused together, because a quota is exceeded, are not repeated together.
	 * @param failures the number of failures in a row, at least 1
	 * @param first the longest pause after the first failure
	 * @param longest the longest pause
	 */
	static Duration after(int failures, Duration first, Duration longest) {
		long doubled = first.toNanos();
		for (int i = 1; i < failures && doubled < longest.toNanos(); i++) {
			doubled *= 2;
		}
		long pause = Math.min(doubled, longest.toNanos());
		return Duration.ofNanos(pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1));
	}

}
