package io.github.shardkeeper.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

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
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Transactions of the application with the commits of their shards. Thread-safe.
 */
final class JdbcTransactions implements CallTransactions {

	private static final Logger logger = PrintableLogger.of(JdbcTransactions.class);

	private static final int SECONDS_TO_CHECK = 2;

	private static final String LOST = "Let exceptions of the database leave the handler, then the call is repeated. This "
			+ "handler has caught one, such as that of a deadlock, after which the database had rolled back the whole "
			+ "transaction, savepoints included; what came after it ran in another transaction. Both are rolled back now. "
			+ "A rollback by the handler has the same effect, and in MySQL and MariaDB also a commit by the handler, or a "
			+ "statement such as 'create table', which commits what was written before it.";

	private static final String MARKED = "A listener before the commit has marked the transaction of the call for rollback";

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

		/** Whether the transaction has the commit of the shard. */
		private boolean written;

		/** Whether nothing is done before the end of the transaction any more. */
		private boolean complete;

		private boolean committed;

		private @Nullable TransactionStatus status;

		/** What the transaction begins with, {@code null} if nothing is needed. */
		private TransactionMarks.@Nullable Mark mark;

		Attempt(ShardId shard, Token token, Call call) {
			this.shard = shard;
			this.token = token;
			this.call = call;
		}

		void run(TransactionStatus status) {
			this.status = status;
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
				else if (TransactionSynchronizationManager.isSynchronizationActive()) {
					TransactionSynchronizationManager.registerSynchronization(this);
				}
				else if (!mayCommit()) {
					status.setRollbackOnly();
				}
			}
			catch (DataAccessException ex) {
				status.setRollbackOnly();
				this.result = isConflictOfTheCall(ex) ? new Result.Conflict(ex)
						: (isOurs(ex) || !isConnected()) ? unavailable(ex) : new Result.Failed(ex);
			}
		}

		/** Is called after other synchronizations, which may make statements, too. */
		@Override
		public void beforeCommit(boolean readOnly) {
			if (!mayCommit()) {
				// After its own exceptions Spring does not roll back.
				throw new IllegalStateException("The transaction has to be rolled back");
			}
		}

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		/**
		 * Returns whether nobody wants a rollback, and the transaction is the one in
		 * which the call began.
		 */
		private boolean mayCommit() {
			this.complete = true;
			try {
				boolean marked = this.status != null && this.status.isRollbackOnly();
				if (!marked && (this.mark == null || this.mark.remove())) {
					return true;
				}
				this.result = new Result.Failed(new UnexpectedRollbackException(marked ? MARKED : LOST));
			}
			catch (DataAccessException ex) {
				this.result = unavailable(ex);
			}
			this.written = false;
			return false;
		}

		/**
		 * Rolls back what is not complete: after an exception of a listener that is one
		 * of Spring's transactions, Spring would leave that to the end of the connection,
		 * which commits.
		 */
		@Override
		public void afterCompletion(int outcome) {
			this.committed = outcome == STATUS_COMMITTED;
			if (this.committed || this.complete) {
				return;
			}
			DataSource dataSource = JdbcTransactions.this.database.steps().dataSource();
			try {
				Connection connection = DataSourceUtils.getConnection(dataSource);
				try {
					connection.rollback();
				}
				finally {
					DataSourceUtils.releaseConnection(connection, dataSource);
				}
			}
			catch (SQLException | CannotGetJdbcConnectionException ex) {
				logger.warn("The transaction of {} cannot be rolled back; the connection is probably closed",
						this.shard, ex);
			}
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
		 * Returns whether a statement of the commit is refused because the database has
		 * ended a conflict before, and the handler has caught that.
		 */
		private boolean isConflictOfTheCall(DataAccessException failure) {
			return DatabaseFailure.isAborted(failure) && DatabaseFailure.isConflict(failure);
		}

		/**
		 * Returns whether a failure of the commit's statements has another cause than the
		 * call. The call has one in a transaction that the database has aborted because
		 * of an error that the handler has caught.
		 */
		private boolean isOurs(DataAccessException failure) {
			return DatabaseFailure.isConflict(failure) || DatabaseFailure.isReadOnly(failure)
					|| DatabaseFailure.lacksRight(failure) || failure instanceof BadSqlGrammarException
					|| DatabaseFailure.lacksTable(failure) || DatabaseFailure.isLockWait(failure);
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
			if (this.committed) {
				logger.warn("{}: a listener after the commit has failed; the call is not repeated", this.shard,
						failure);
				return new Result.Committed();
			}
			if (this.result != null) {
				return this.result;
			}
			if (failure instanceof UnexpectedRollbackException) {
				// A part of the call has marked the transaction, and the call returned.
				return new Result.Failed(failure);
			}
			if (!this.written) {
				return unavailable(failure);
			}
			if (DatabaseFailure.isConflict(failure)) {
				return new Result.Conflict(failure);
			}
			boolean outage = DatabaseFailure.isOutage(failure);
			if (!this.complete) {
				// A listener before the commit.
				return outage ? unavailable(failure) : new Result.Failed(failure);
			}
			return new Result.Unknown(failure, outage ? unavailable(failure).failure() : null);
		}

		private Result.Unavailable unavailable(Throwable failure) {
			return new Result.Unavailable(
					JdbcTransactions.this.database.steps().explain("run the transaction of " + this.shard, failure));
		}

	}

}
