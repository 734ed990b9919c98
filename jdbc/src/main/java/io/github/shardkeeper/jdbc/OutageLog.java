package io.github.shardkeeper.jdbc;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.loop.ProblemLog;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Logs each cause of an outage of the database once, and its end: the first success after
 * some time without a failure, because one shard may succeed where another one fails.
 * What the database has answered, and refuses, is no outage; the shards that it concerns
 * log it. Thread-safe.
 */
final class OutageLog {

	private static final Logger logger = PrintableLogger.of(OutageLog.class);

	/** Time without a failure after which the database works again. */
	static final Duration QUIET = Duration.ofSeconds(5);

	private final String group;

	private final MonotonicClock clock;

	private final ProblemLog causes = new ProblemLog();

	/** Time of the last failure, {@code null} if there is no outage. */
	private volatile @Nullable MonotonicTime failedAt;

	OutageLog(String group, MonotonicClock clock) {
		this.group = group;
		this.clock = clock;
	}

	synchronized void failed(Throwable failure) {
		boolean begins = this.causes.isEmpty();
		this.failedAt = this.clock.now();
		if (this.causes.isNew(DatabaseFailure.innermost(failure))) {
			logger.warn(
					begins ? "The database of group '{}' cannot be used; retrying. {}"
							: "The database of group '{}' still cannot be used, for another reason. {}",
					this.group, failure.getMessage());
		}
		else {
			logger.debug("The database of group '{}' still cannot be used", this.group, failure);
		}
	}

	/** Costs nothing while there is no outage. */
	void succeeded() {
		if (this.failedAt != null) {
			endIfQuiet();
		}
	}

	private synchronized void endIfQuiet() {
		MonotonicTime last = this.failedAt;
		if (last != null && last.until(this.clock.now()).compareTo(QUIET) >= 0) {
			this.failedAt = null;
			this.causes.resolved();
			logger.info("The database replies again; group '{}' continues", this.group);
		}
	}

}
