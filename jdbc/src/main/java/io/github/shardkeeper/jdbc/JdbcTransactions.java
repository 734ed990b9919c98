package io.github.shardkeeper.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.core.Ordered;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.ResourceHolderSupport;
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

	private static final String OUTLIVED = "The call has taken longer than its transaction may: limit the time that it "
			+ "waits for others, let it do less at once, or raise 'spring.transaction.default-timeout'";

	private static final String MARKED = "A listener before the commit has marked the transaction of the call for rollback";

	private final JdbcDataPlane database;

	JdbcTransactions(JdbcDataPlane database) {
		this.database = database;
	}

	@Override
	public Result call(ShardId shard, Token token, Call call) {
		Attempt attempt = new Attempt(shard, token, call);
		Result result;
		try {
			this.database.steps().transactions().executeWithoutResult(attempt::run);
			Result before = attempt.result;
			result = (before != null) ? before : new Result.Committed();
		}
		catch (RuntimeException | Error ex) {
			result = attempt.ended(ex);
		}
		if (result instanceof Result.Committed) {
			this.database.steps().succeeded();
		}
		Runnable trial = attempt.trial;
		return (trial != null && result instanceof Result.Failed failed) ? tried(shard, failed, trial) : result;
	}

	/**
	 * Decides whether the database has failed, or the call. An outage is a statement
	 * about the database and not about an exception: if a step of our own succeeds, it
	 * works.
	 */
	private Result tried(ShardId shard, Result.Failed failed, Runnable trial) {
		StoreTransactions steps = this.database.steps();
		try {
			steps.tryOut("run the transaction of " + shard, trial);
		}
		catch (StoreUnavailableException ex) {
			return new Result.Unavailable(ex);
		}
		return DatabaseFailure.isConnectionLost(failed.failure())
				? new Result.ConnectionLost(steps.lostConnection(failed.failure())) : failed;
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

		/**
		 * Step that the database cannot make if it has failed, and not the call;
		 * {@code null} if the call has.
		 */
		private @Nullable Runnable trial;

		private boolean begun;

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
			StoreTransactions steps = JdbcTransactions.this.database.steps();
			steps.requireTransaction();
			try {
				this.mark = JdbcTransactions.this.database.marks().set();
			}
			catch (DataAccessException ex) {
				status.setRollbackOnly();
				this.result = unavailable(ex);
				return;
			}
			this.begun = true;
			if (TransactionSynchronizationManager.isSynchronizationActive()) {
				TransactionSynchronizationManager.registerSynchronization(new Savepoints(this.call));
			}
			try {
				this.call.run();
				// What a persistence context holds back may wait for locks of other
				// calls.
				status.flush();
				requireTimeLeft(steps.dataSource());
				requireNoAutoCommit(steps.dataSource());
			}
			catch (Throwable ex) {
				status.setRollbackOnly();
				failed(ex, DatabaseFailure.isReadOnly(ex) || !DatabaseFailure.isReply(ex) && !isConnected());
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
				this.written = write(commit, (this.mark != null) ? this.mark.condition() : "");
				if (!this.written) {
					this.result = isMarkLost() ? new Result.Failed(lost()) : new Result.Stale();
					status.setRollbackOnly();
				}
				else if (TransactionSynchronizationManager.isSynchronizationActive()) {
					TransactionSynchronizationManager.registerSynchronization(this);
				}
				else if (!mayCommit()) {
					status.setRollbackOnly();
				}
			}
			catch (DataAccessException | TransactionTimedOutException ex) {
				status.setRollbackOnly();
				notWritten(ex, commit);
			}
		}

		/**
		 * Fails if the call has taken longer than its transaction may, so that our own
		 * statements do not seem to be the reason.
		 */
		private static void requireTimeLeft(DataSource dataSource) {
			Object resource = TransactionSynchronizationManager.getResource(dataSource);
			if (resource instanceof ResourceHolderSupport holder && holder.hasTimeout()) {
				try {
					holder.getTimeToLiveInMillis();
				}
				catch (TransactionTimedOutException ex) {
					throw new TransactionTimedOutException(OUTLIVED, ex);
				}
			}
		}

		/** Fails if the handler has made each statement a transaction of its own. */
		private static void requireNoAutoCommit(DataSource dataSource) throws SQLException {
			Connection connection = DataSourceUtils.getConnection(dataSource);
			try {
				if (connection.getAutoCommit()) {
					throw lost();
				}
			}
			finally {
				DataSourceUtils.releaseConnection(connection, dataSource);
			}
		}

		/**
		 * Notes a failure of the handler, or of a listener before the commit.
		 * @param doubtful whether the database may be the reason
		 */
		private void failed(Throwable failure, boolean doubtful) {
			if (DatabaseFailure.isConflict(failure)) {
				this.result = new Result.Conflict(failure);
				return;
			}
			this.result = new Result.Failed(failure);
			if (doubtful) {
				this.trial = JdbcTransactions.this.database.marks()::write;
			}
		}

		/**
		 * Notes a failure of the commit's own statements. The call has caused it if the
		 * same statements succeed in another transaction: in PostgreSQL, for example, by
		 * an error that the handler has caught, which has aborted the transaction. But a
		 * lock of the shard's row, and a newer owner, are no matter of the call.
		 */
		private void notWritten(RuntimeException failure, Commit commit) {
			if (failure instanceof TransactionTimedOutException
					|| DatabaseFailure.isAborted(failure) && DatabaseFailure.isConflict(failure)) {
				// It has waited for the turn, or has caught the error of a conflict.
				this.result = new Result.Conflict(failure);
			}
			else if (DatabaseFailure.isConflict(failure) || DatabaseFailure.isLockWait(failure)) {
				this.result = unavailable(failure);
			}
			else {
				this.result = new Result.Failed(failure);
				this.trial = () -> write(commit, "");
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
				this.result = new Result.Failed(marked ? new UnexpectedRollbackException(MARKED) : lost());
			}
			catch (DataAccessException ex) {
				failed(ex, !DatabaseFailure.isReply(ex));
			}
			this.written = false;
			return false;
		}

		/** Returns whether no row was written because the mark is not there any more. */
		private boolean isMarkLost() {
			TransactionMarks.Mark begun = this.mark;
			return begun != null && begun.isLost();
		}

		private static UnexpectedRollbackException lost() {
			return new UnexpectedRollbackException(TransactionMarks.LOST);
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

		private boolean write(Commit commit, String condition) {
			JdbcDataPlane database = JdbcTransactions.this.database;
			long nowMillis = database.clock().millis();
			if (!database.shards().commit(this.shard, this.token, commit, nowMillis, condition)) {
				return false;
			}
			int letters = commit.deadLetters().size();
			long before = (letters > 0) ? database.shards().lastLetter(this.shard) - letters : 0;
			database.contents().write(this.shard, commit, before, nowMillis);
			database.outbox().write(this.shard, commit.outbox());
			return true;
		}

		/** Returns whether the transaction's connection still reaches the database. */
		private boolean isConnected() {
			StoreTransactions steps = JdbcTransactions.this.database.steps();
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
			if (!this.begun) {
				return unavailable(failure);
			}
			if (failure instanceof UnexpectedRollbackException) {
				// A part of the call has marked the transaction, and the call returned.
				return new Result.Failed(failure);
			}
			if (this.written && this.complete && !DatabaseFailure.isConflict(failure)) {
				return new Result.Unknown(failure, DatabaseFailure.isConnectionLost(failure));
			}
			// Perhaps of a listener before the commit.
			failed(failure, !DatabaseFailure.isReply(failure));
			return Objects.requireNonNull(this.result);
		}

		private Result.Unavailable unavailable(Throwable failure) {
			return new Result.Unavailable(
					JdbcTransactions.this.database.steps().explain("run the transaction of " + this.shard, failure));
		}

	}

	/**
	 * Takes back what a call has sent and written to the state if it rolls back to a
	 * savepoint of its transaction, as at the end of a failed {@code NESTED} part. A
	 * savepoint that is made without Spring is not seen. Confined to the thread of the
	 * call.
	 */
	private static final class Savepoints implements TransactionSynchronization {

		private final Call call;

		private final Map<Object, Runnable> takesBack = new IdentityHashMap<>();

		Savepoints(Call call) {
			this.call = call;
		}

		@Override
		public void savepoint(Object savepoint) {
			this.takesBack.put(savepoint, this.call.savepoint());
		}

		@Override
		public void savepointRollback(Object savepoint) {
			Runnable known = this.takesBack.get(savepoint);
			if (known != null) {
				known.run();
			}
		}

	}

}
