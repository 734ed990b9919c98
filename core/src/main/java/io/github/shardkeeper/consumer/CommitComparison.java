package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.Replies;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Finds commits that the application's database has accepted and lost, as in a failover
 * to a replica that lacked them, of shards that have no records: with a record, the next
 * transaction finds them. Compares every 10 s, and as soon as the database replies after
 * an outage that it has met. Each comparison has a thread of its own: the loop would
 * count as hanging while a connection or a reply is waited for. Confined to its loop.
 */
final class CommitComparison {

	static final Duration INTERVAL = Duration.ofSeconds(10);

	private static final Logger logger = PrintableLogger.of(CommitComparison.class);

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final ShardWorkers workers;

	private final MonotonicClock clock;

	/** {@code null} unless one is under way. */
	private @Nullable CompletableFuture<Void> comparison;

	CommitComparison(ShardWorkers workers, MonotonicClock clock) {
		this.workers = workers;
		this.clock = clock;
	}

	/** Compares, and returns when to look again. */
	MonotonicTime step() {
		CompletableFuture<Void> current = this.comparison;
		if (current == null) {
			current = CompletableFuture.runAsync(this.workers::compareCommits, CommitComparison::start);
			this.comparison = current;
		}
		if (!current.isDone()) {
			return this.clock.now().plus(PAUSE);
		}
		this.comparison = null;
		try {
			Replies.await(current);
		}
		catch (StoreUnavailableException ex) {
			logger.debug("What the database has of the owned shards cannot be compared now", ex);
			return this.clock.now().plus(PAUSE);
		}
		return this.clock.now().plus(INTERVAL.minus(PAUSE));
	}

	private static void start(Runnable work) {
		Thread thread = new Thread(work, "shardkeeper-comparison");
		thread.setDaemon(true);
		thread.start();
	}

}
