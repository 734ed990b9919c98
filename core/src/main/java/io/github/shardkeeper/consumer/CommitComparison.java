package io.github.shardkeeper.consumer;

import java.time.Duration;

import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Finds commits that the application's database has accepted and lost, as in a failover
 * to a replica that lacked them, of shards that have no records: with a record, the next
 * transaction finds them. Compares every 10 s, and as soon as the database answers after
 * an outage that it has met. Confined to its loop.
 */
final class CommitComparison {

	static final Duration INTERVAL = Duration.ofSeconds(10);

	private static final Logger logger = PrintableLogger.of(CommitComparison.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);

	private final ShardWorkers workers;

	private final MonotonicClock clock;

	CommitComparison(ShardWorkers workers, MonotonicClock clock) {
		this.workers = workers;
		this.clock = clock;
	}

	/** Compares, and returns when to do so again. */
	MonotonicTime step() {
		try {
			this.workers.compareCommits();
		}
		catch (StoreUnavailableException ex) {
			logger.debug("What the database has of the owned shards cannot be compared now", ex);
			return this.clock.now().plus(PAUSE_AFTER_FAILURE);
		}
		return this.clock.now().plus(INTERVAL);
	}

}
