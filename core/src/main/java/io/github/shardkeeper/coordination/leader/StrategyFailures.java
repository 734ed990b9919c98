package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Failures of the assignment strategy and of the catalog: logs each problem once, and
 * remembers since when the strategy fails. Confined to the coordinator's loop, except
 * {@link #text} and {@link #isFailing}.
 */
final class StrategyFailures {

	private static final Logger logger = PrintableLogger.of(StrategyFailures.class);

	private static final String MEANWHILE = " What was assigned last stands; shards without an owner are placed by "
			+ "the built-in sticky strategy. Tried again after 1 s to 30 s";

	/** Maximum number of problems in each of the sets. */
	private static final int MOST_REMEMBERED = 100;

	private static final int MOST_PATIENCE = 32;

	private final Set<String> stacksLogged = new HashSet<>();

	/** Since the strategy worked last. */
	private final Set<String> logged = new HashSet<>();

	private volatile @Nullable String text;

	private volatile @Nullable MonotonicTime since;

	/** Number of leases before this leader resigns; doubles with each resignation. */
	private volatile int patience = 1;

	void failed(StrategyCalls.Failed failure, MonotonicTime now) {
		if (this.since == null) {
			this.since = now;
		}
		this.text = failure.text() + MEANWHILE + ".";
		if (this.logged.size() < MOST_REMEMBERED && this.logged.add(failure.kind())) {
			boolean withStack = this.stacksLogged.size() < MOST_REMEMBERED && this.stacksLogged.add(failure.kind());
			logger.error("{}{}", failure.text(), MEANWHILE, withStack ? failure.cause() : null);
		}
	}

	void worked() {
		this.patience = 1;
		if (this.text != null) {
			logger.info("The assignment of shards works again");
			over();
			this.logged.clear();
		}
	}

	void deposed() {
		if (this.text != null) {
			this.patience = Math.min(this.patience * 2, MOST_PATIENCE);
			over();
		}
	}

	private void over() {
		this.text = null;
		this.since = null;
	}

	/** Returns the problem and how to fix it, {@code null} for none. */
	@Nullable String text() {
		return this.text;
	}

	/** Returns whether another member should lead; at first after one lease. */
	boolean isFailing(MonotonicTime now, Duration lease) {
		MonotonicTime failingSince = this.since;
		return failingSince != null && failingSince.until(now).compareTo(lease.multipliedBy(this.patience)) >= 0;
	}

}
