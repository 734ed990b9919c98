package io.github.shardkeeper.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.slf4j.Logger;

import org.springframework.dao.QueryTimeoutException;

import io.github.shardkeeper.text.PrintableLogger;

/**
 * Limits how long the last statement of a call waits for the lock of its shard's row. A
 * time limit of JDBC does the same, and costs a timer, and in most drivers a wake-up of
 * its thread, for each statement. Here one task per second looks at those that wait.
 * Thread-safe.
 */
final class LockWaits {

	private static final Logger logger = PrintableLogger.of(LockWaits.class);

	private final int maxSeconds;

	private final Set<Waiting> waiting = ConcurrentHashMap.newKeySet();

	private final AtomicBoolean looks = new AtomicBoolean();

	/** Runs a task in a second, on a thread of its own: a request to cancel blocks. */
	private final Executor inOneSecond = CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS, this::start);

	/**
	 * Creates a limit in whole seconds; a statement may wait for one second more.
	 */
	LockWaits(Duration limit) {
		this.maxSeconds = (int) Math.max(1, limit.toSeconds());
	}

	private void start(Runnable look) {
		try {
			Thread thread = new Thread(look, "shardkeeper-jdbc-locks");
			thread.setDaemon(true);
			thread.start();
		}
		catch (OutOfMemoryError ex) {
			logger.warn("No thread for statements that wait too long; trying again", ex);
			this.looks.set(false);
		}
	}

	/**
	 * Executes an update.
	 * @return the number of rows
	 * @throws QueryTimeoutException if it was cancelled
	 */
	int update(PreparedStatement statement) throws SQLException {
		Waiting one = new Waiting(statement);
		this.waiting.add(one);
		if (!this.looks.get()) {
			lookLater();
		}
		try {
			return statement.executeUpdate();
		}
		catch (SQLException ex) {
			if (one.isCancelled()) {
				throw new QueryTimeoutException("Cancelled after %d s".formatted(this.maxSeconds), ex);
			}
			throw ex;
		}
		finally {
			this.waiting.remove(one);
			one.end();
		}
	}

	private void lookLater() {
		if (this.looks.compareAndSet(false, true)) {
			this.inOneSecond.execute(this::look);
		}
	}

	private void look() {
		this.looks.set(false);
		for (Waiting one : this.waiting) {
			one.look(this.maxSeconds);
		}
		if (!this.waiting.isEmpty()) {
			lookLater();
		}
	}

	/** Statement that may wait. Thread-safe. */
	private static final class Waiting {

		private final PreparedStatement statement;

		private int seconds;

		private boolean cancelled;

		private boolean ended;

		Waiting(PreparedStatement statement) {
			this.statement = statement;
		}

		/** Holds the lock during the request, which must not hit the next statement. */
		synchronized void look(int maxSeconds) {
			if (this.ended || this.cancelled || this.seconds++ < maxSeconds) {
				return;
			}
			this.cancelled = true;
			try {
				this.statement.cancel();
			}
			catch (SQLException ex) {
				logger.warn("A statement that has waited for {} s cannot be cancelled: {}", maxSeconds,
						ex.getMessage());
			}
		}

		synchronized boolean isCancelled() {
			return this.cancelled;
		}

		synchronized void end() {
			this.ended = true;
		}

	}

}
