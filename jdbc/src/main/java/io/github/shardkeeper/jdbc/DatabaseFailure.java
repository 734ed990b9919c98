package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Set;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Explains failures of a database. Has no state.
 */
final class DatabaseFailure {

	/**
	 * Codes of serialization failures and deadlocks without an SQL state of class 40:
	 * Oracle 8177 and 60, SQL Server 3960, H2 90131.
	 */
	private static final Set<Integer> CONFLICTS = Set.of(8177, 60, 3960, 90131);

	private static final String COMPLETION_UNKNOWN = "40003";

	private DatabaseFailure() {
	}

	/**
	 * Returns whether the database has rolled the transaction back because of another
	 * one: repeating it makes sense.
	 */
	static boolean isConflict(Throwable failure) {
		return hasCause(failure,
				(cause) -> cause instanceof SQLException sql
						&& (state(sql).startsWith("40") && !state(sql).equals(COMPLETION_UNKNOWN)
								|| CONFLICTS.contains(sql.getErrorCode())));
	}

	/** Returns whether there is no connection, or none any more. */
	static boolean isOutage(Throwable failure) {
		return hasCause(failure, (cause) -> cause instanceof CannotGetJdbcConnectionException
				|| cause instanceof IOException || cause instanceof SQLTransientConnectionException
				|| cause instanceof SQLRecoverableException
				|| cause instanceof SQLException sql && (state(sql).startsWith("08") || state(sql).startsWith("57P")));
	}

	private static boolean hasCause(Throwable failure, Predicate<Throwable> condition) {
		for (Throwable cause = failure; cause != null; cause = (cause.getCause() != cause) ? cause.getCause() : null) {
			if (condition.test(cause)) {
				return true;
			}
		}
		return false;
	}

	private static String state(SQLException failure) {
		@Nullable String state = failure.getSQLState();
		return (state != null) ? state : "";
	}

	/** Returns a failure of the store, with what to do. */
	static StoreUnavailableException explain(String what, Throwable failure, Duration lockWait) {
		if (failure instanceof StoreUnavailableException explained) {
			return explained;
		}
		if (failure instanceof BadSqlGrammarException) {
			return new StoreUnavailableException(
					("The database refuses to %s: %s. Create the tables with the script for your "
							+ "database in shardkeeper-jdbc, or set 'shardkeeper.jdbc.initialize-schema' to 'always'; and check "
							+ "'shardkeeper.jdbc.table-prefix' and the rights of the application's user")
						.formatted(what, innermost(failure)),
					failure, true);
		}
		if (failure instanceof QueryTimeoutException
				|| failure instanceof PessimisticLockingFailureException && !isConflict(failure)) {
			return new StoreUnavailableException(
					("Another transaction has held the lock of the shard's row for %d s, so the application cannot %s; "
							+ "trying again. An earlier owner may be frozen inside a transaction: end its session in the "
							+ "database, and have the database end such sessions by itself, in PostgreSQL with "
							+ "idle_in_transaction_session_timeout")
						.formatted(lockWait.toSeconds(), what),
					failure);
		}
		return new StoreUnavailableException("The database cannot %s: %s".formatted(what, innermost(failure)), failure);
	}

	private static String innermost(Throwable failure) {
		Throwable cause = failure;
		while (cause.getCause() != null && cause.getCause() != cause) {
			cause = cause.getCause();
		}
		return (cause.getMessage() != null) ? cause.getMessage().strip() : cause.getClass().getName();
	}

}
