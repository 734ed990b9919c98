package io.github.shardkeeper.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Transactions of the application with the commits of their shards. Thread-safe.
 */
final class JdbcTransactions implements CallTransactions {

	private static final int SECONDS_TO_CHECK = 2;

	private static final String LOST = "The transaction of the call ended before the call did, so rows that it wrote "
			+ "until then would not be stored together with its offset. After some errors, such as a deadlock, the database "
			+ "rolls back the whole transaction, also with a savepoint: do not catch them in the handler. Commits and "
			+ "rollbacks of its own, and in MySQL and MariaDB statements such as 'create table', end it, too.";

	private final JdbcDataPlane database;

	JdbcTransactions(JdbcDataPlane database) {
		this.database = database;
	}

	@Override
	public Result call(ShardId shard, Token token, Call call) {
		Attempt attempt = new Attempt(shard, token, call);
		try {
			this.database.steps().transactions().executeWithoutResult(attempt::run);
		}
		catch (UnexpectedRollbackException ex) {
			// A part of the handler has marked the transaction, and the handler returned.
			return new Result.Failed(ex);
		}
		catch (RuntimeException | Error ex) {
			return attempt.ended(ex);
		}
		Result before = attempt.result;
		if (before instanceof Result.Failed failed && DatabaseFailure.isReadOnly(failed.failure())) {
			return readOnly(failed);
		}
		return (before != null) ? before : new Result.Committed();
	}

	/**
	 * After a failover, connections may lead to a server that has become a replica. That
	 * is not a failure of the call, unless it has made only its own part read-only.
	 */
	private Result readOnly(Result.Failed failed) {
		try {
			this.database.steps().run("write", this.database.shards()::writeNothing);
			return failed;
		}
		catch (StoreUnavailableException ex) {
			return new Result.Unavailable(ex);
		}
	}

	@Override
	public Duration lockWait() {
		return this.database.steps().lockWait();
	}

	/** One transaction. Confined to its thread. */
	private final class Attempt implements TransactionSynchronization {

		private final ShardId shard;

		private final Token token;

		private final Call call;

		/** Why the transaction is rolled back, {@code null} if it is to be committed. */
		private @Nullable Result result;

		private boolean written;

		/** What the transaction begins with, {@code null} if nothing is needed. */
		private TransactionMarks.@Nullable Mark mark;

		Attempt(ShardId shard, Token token, Call call) {
			this.shard = shard;
			this.token = token;
			this.call = call;
		}

		void run(TransactionStatus status) {
			DatabaseSteps steps = JdbcTransactions.this.database.steps();
			steps.requireTransaction();
			try {
				this.mark = JdbcTransactions.this.database.marks().set();
			}
			catch (DataAccessException ex) {
				status.setRollbackOnly();
				this.result = unavailable(ex);
				return;
			}
			try {
				this.call.run();
				// What a persistence context holds back may wait for locks of other
				// calls.
				status.flush();
			}
			catch (Throwable ex) {
				status.setRollbackOnly();
				this.result = DatabaseFailure.isConflict(ex) ? new Result.Conflict(ex)
						: isConnected() ? new Result.Failed(ex) : unavailable(ex);
				return;
			}
			Commit commit;
			try {
				commit = this.call.commit();
			}
			catch (Throwable ex) {
				status.setRollbackOnly();
				this.result = new Result.Failed(ex);
				return;
			}
			try {
				this.written = write(commit);
				if (!this.written) {
					this.result = new Result.Stale();
					status.setRollbackOnly();
				}
				else if (this.mark == null) {
					return;
				}
				else if (TransactionSynchronizationManager.isSynchronizationActive()) {
					TransactionSynchronizationManager.registerSynchronization(this);
				}
				else if (!isWhole()) {
					status.setRollbackOnly();
				}
			}
			catch (DataAccessException ex) {
				status.setRollbackOnly();
				this.result = (isOurs(ex) || !isConnected()) ? unavailable(ex) : new Result.Failed(ex);
			}
		}

		/** Is called after other synchronizations, which may make statements, too. */
		@Override
		public void beforeCommit(boolean readOnly) {
			if (!isWhole()) {
				// Spring does not roll back after its own exceptions.
				throw new IllegalStateException("The transaction has to be rolled back");
			}
		}

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		/** Returns whether the transaction is the one in which the call began. */
		private boolean isWhole() {
			try {
				if (this.mark == null || this.mark.remove()) {
					return true;
				}
				this.result = new Result.Failed(new UnexpectedRollbackException(LOST));
			}
			catch (DataAccessException ex) {
				this.result = unavailable(ex);
			}
			this.written = false;
			return false;
		}

		private boolean write(Commit commit) {
			JdbcDataPlane database = JdbcTransactions.this.database;
			long nowMillis = database.clock().millis();
			if (!database.shards().commit(this.shard, this.token, commit, nowMillis)) {
				return false;
			}
			int letters = commit.deadLetters().size();
			long before = (letters > 0) ? database.shards().lastLetter(this.shard) - letters : 0;
			database.contents().write(this.shard, commit, before, nowMillis);
			database.outbox().write(this.shard, commit.outbox());
			return true;
		}

		/**
		 * Returns whether a failure of the commit's statements has another cause than the
		 * call. The call has one in a transaction that the database has aborted because
		 * of an error that the handler has caught.
		 */
		private boolean isOurs(DataAccessException failure) {
			return DatabaseFailure.isConflict(failure) || DatabaseFailure.isReadOnly(failure)
					|| DatabaseFailure.lacksRight(failure) || failure instanceof BadSqlGrammarException
					|| DatabaseFailure.isLockWait(failure);
		}

		/** Returns whether the transaction's connection still reaches the database. */
		private boolean isConnected() {
			DatabaseSteps steps = JdbcTransactions.this.database.steps();
			try {
				Connection connection = DataSourceUtils.getConnection(steps.dataSource());
				try {
					return connection.isValid(SECONDS_TO_CHECK);
				}
				finally {
					DataSourceUtils.releaseConnection(connection, steps.dataSource());
				}
			}
			catch (SQLException | CannotGetJdbcConnectionException ex) {
				return false;
			}
		}

		/** Returns the result if the transaction did not begin, or its end failed. */
		Result ended(Throwable failure) {
			if (this.written && DatabaseFailure.isConflict(failure)) {
				return new Result.Conflict(failure);
			}
			if (this.written) {
				return new Result.Unknown(failure,
						DatabaseFailure.isOutage(failure) ? unavailable(failure).failure() : null);
			}
			// Without its end nothing is stored.
			return (this.result != null) ? this.result : unavailable(failure);
		}

		private Result.Unavailable unavailable(Throwable failure) {
			return new Result.Unavailable(
					JdbcTransactions.this.database.steps().explain("run the transaction of " + this.shard, failure));
		}

	}

}
