package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Set;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Explains failures of a database. Has no state.
 */
final class DatabaseFailure {

	/**
	 * Codes of serialization failures and deadlocks without an SQL state of class 40:
	 * Oracle 8177 and 60, SQL Server 3960, H2 90131, MariaDB 1020 (with
	 * {@code innodb_snapshot_isolation}).
	 */
	private static final Set<Integer> CONFLICTS = Set.of(8177, 60, 3960, 90131, 1020);

	/**
	 * Code of a wait for a lock that MySQL or MariaDB has ended by itself. The state is
	 * that of a deadlock with the driver of MySQL, and a general one with MariaDB's. In
	 * SQL Server the same code is a deadlock.
	 */
	private static final int LOCK_WAIT_ENDED = 1205;

	private static final String LOCK_WAIT_ENDED_TEXT = "Lock wait timeout exceeded";

	/** States of H2 for a connection that its server has closed: not of class 08. */
	private static final Set<String> CLOSED_BY_H2 = Set.of("90067", "90098", "90121");

	private static final String COMPLETION_UNKNOWN = "40003";

	/**
	 * Classes of states with which a server replies to a statement: they are about the
	 * statement, its data or its transaction. Others may be about the connection (08),
	 * the server (57, 58), its resources (53) or a driver, or are not the same
	 * everywhere.
	 */
	private static final Set<String> ANSWERS = Set.of("0A", "20", "21", "22", "23", "25", "2F", "38", "39", "42", "44",
			"54", "55", "P0");

	/** Of the class 57, but about the statement: somebody, or a limit, has ended it. */
	private static final String CANCELED = "57014";

	private static final String READ_ONLY = "25006";

	/**
	 * Codes of read-only servers and transactions without that SQL state: MySQL 1290 and
	 * 1836, Oracle 16000 and 1456, SQL Server 3906, H2 90097.
	 */
	private static final Set<Integer> READ_ONLY_CODES = Set.of(1290, 1836, 16000, 1456, 3906, 90097);

	private static final String INSUFFICIENT_PRIVILEGE = "42501";

	/**
	 * Codes of missing rights without that SQL state: MySQL 1044, 1142 and 1143, Oracle
	 * 1031, SQL Server 229, 230 and 262, H2 90096.
	 */
	private static final Set<Integer> INSUFFICIENT_PRIVILEGE_CODES = Set.of(1044, 1142, 1143, 1031, 229, 230, 262,
			90096);

	private static final int TABLE_DENIED = 1142;

	/**
	 * State of MySQL and MariaDB for much that is not the grammar of a statement, such as
	 * the limits of a user, and the code of the one among them that is: an unknown
	 * schema. A missing table has another state. Oracle has a missing table in it, with a
	 * code below 1000.
	 */
	private static final String MYSQL_SYNTAX_OR_ACCESS = "42000";

	private static final int UNKNOWN_SCHEMA = 1049;

	/** Its state there is not one that Spring knows. */
	private static final int NO_TABLE_IN_SQL_SERVER = 208;

	private static final String ABORTED = "25P02";

	/**
	 * The driver of MariaDB does not tell that from an outage; those of other databases
	 * do.
	 */
	private static final String PACKET = ". If that is repeated while other clients reach MariaDB, a statement may be "
			+ "larger than its 'max_allowed_packet': set that to twice the largest record, state and row or more";

	private DatabaseFailure() {
	}

	/**
	 * Returns whether the database has rolled the transaction back because of another
	 * one: repeating it makes sense.
	 */
	static boolean isConflict(Throwable failure) {
		return hasCause(failure,
				(cause) -> cause instanceof SQLException sql && !isEndedLockWait(sql)
						&& (state(sql).startsWith("40") && !state(sql).equals(COMPLETION_UNKNOWN)
								|| CONFLICTS.contains(sql.getErrorCode())));
	}

	/** Returns whether a statement has waited for a lock as long as it may. */
	static boolean isLockWait(Throwable failure) {
		return !isConflict(failure)
				&& (failure instanceof QueryTimeoutException || failure instanceof PessimisticLockingFailureException
						|| hasCause(failure, (cause) -> cause instanceof SQLException sql && isEndedLockWait(sql)));
	}

	private static boolean isEndedLockWait(SQLException failure) {
		String message = failure.getMessage();
		return failure.getErrorCode() == LOCK_WAIT_ENDED
				&& (!state(failure).startsWith("40") || message != null && message.contains(LOCK_WAIT_ENDED_TEXT));
	}

	/**
	 * Returns whether the server has answered a statement, so it works. Otherwise that is
	 * not known: the failure may be one of the connection, the server or the driver.
	 */
	static boolean isReply(Throwable failure) {
		return !isReadOnly(failure) && hasCause(failure, (cause) -> cause instanceof SQLException sql
				&& (ANSWERS.contains(classOf(state(sql))) || state(sql).equals(CANCELED)));
	}

	private static String classOf(String state) {
		return (state.length() > 2) ? state.substring(0, 2) : state;
	}

	/** Returns whether there is no connection, or none any more. */
	static boolean isConnectionLost(Throwable failure) {
		return isClosedByH2(failure) || hasCause(failure, (cause) -> cause instanceof CannotGetJdbcConnectionException
				|| cause instanceof IOException || cause instanceof SQLTransientConnectionException
				|| cause instanceof SQLRecoverableException
				|| cause instanceof SQLException sql && (state(sql).startsWith("08") || state(sql).startsWith("57P")));
	}

	/** Returns whether an H2 server has closed the connection. */
	private static boolean isClosedByH2(Throwable failure) {
		return hasCause(failure, (cause) -> cause instanceof SQLException sql && CLOSED_BY_H2.contains(state(sql)));
	}

	/**
	 * Returns whether the connection, its transaction or the whole server may not write.
	 */
	static boolean isReadOnly(Throwable failure) {
		return hasCause(failure, (cause) -> cause instanceof SQLException sql && (state(sql).equals(READ_ONLY)
				|| READ_ONLY_CODES.contains(sql.getErrorCode()) || isReadOnlyInMysql(sql)));
	}

	/** The driver refuses writes of such a connection by itself. */
	private static boolean isReadOnlyInMysql(SQLException failure) {
		String message = failure.getMessage();
		return state(failure).equals("S1009") && message != null && message.startsWith("Connection is read-only");
	}

	/** Returns whether the user of the database has no right to do that. */
	static boolean lacksRight(Throwable failure) {
		return hasCause(failure,
				(cause) -> cause instanceof SQLException sql && (state(sql).equals(INSUFFICIENT_PRIVILEGE)
						|| INSUFFICIENT_PRIVILEGE_CODES.contains(sql.getErrorCode())));
	}

	/**
	 * Returns whether that right may be missing because the table is: MySQL and MariaDB
	 * do not tell a user without rights on a table that it does not exist.
	 */
	static boolean mayHideTable(Throwable failure) {
		return hasCode(failure, TABLE_DENIED);
	}

	/** Returns whether a table, or one of its columns, does not exist. */
	static boolean lacksTable(@Nullable Throwable failure) {
		return failure instanceof BadSqlGrammarException grammar && !isOtherwiseRefused(grammar.getSQLException())
				|| hasCause(failure, (cause) -> cause instanceof SQLException sql
						&& sql.getErrorCode() == NO_TABLE_IN_SQL_SERVER && state(sql).startsWith("S0"));
	}

	/** Returns whether PostgreSQL refuses everything until the transaction's end. */
	static boolean isAborted(Throwable failure) {
		return hasCause(failure, (cause) -> cause instanceof SQLException sql && state(sql).equals(ABORTED));
	}

	private static boolean isOtherwiseRefused(@Nullable SQLException failure) {
		return failure != null && state(failure).equals(MYSQL_SYNTAX_OR_ACCESS) && failure.getErrorCode() >= 1000
				&& failure.getErrorCode() != UNKNOWN_SCHEMA;
	}

	/** Returns whether the database has given it that code. */
	static boolean hasCode(Throwable failure, int code) {
		return hasCause(failure, (cause) -> cause instanceof SQLException sql && sql.getErrorCode() == code);
	}

	private static boolean hasCause(@Nullable Throwable failure, Predicate<Throwable> condition) {
		for (Throwable cause = failure; cause != null; cause = (cause.getCause() != cause) ? cause.getCause() : null) {
			if (condition.test(cause) || hasCause(beforeRollback(cause), condition)) {
				return true;
			}
		}
		return false;
	}

	/** Returns what was rolled back, if the rollback has failed, too. */
	private static @Nullable Throwable beforeRollback(Throwable failure) {
		return (failure instanceof TransactionSystemException system) ? system.getApplicationException() : null;
	}

	private static String state(SQLException failure) {
		@Nullable String state = failure.getSQLState();
		return (state != null) ? state : "";
	}

	/**
	 * Returns a failure of the store, with what to do.
	 * @param database the name of the database in that of its script
	 */
	static StoreUnavailableException explain(String what, Throwable failure, Duration lockWait, TableSettings tables,
			String database) {
		if (failure instanceof StoreUnavailableException explained) {
			return explained;
		}
		if (isReadOnly(failure)) {
			return refused(what, failure, TableAdvice.WRITABLE);
		}
		if (lacksRight(failure)) {
			return refused(what, failure, TableAdvice.grant(tables));
		}
		if (lacksTable(failure)) {
			return refused(what, failure, TableAdvice.create(tables, TableAdvice.script(database)));
		}
		if (isLockWait(failure)) {
			return new StoreUnavailableException(
					("Another transaction has held the lock of the shard's row for %d s, so the application cannot %s; "
							+ "trying again. An earlier owner may be frozen inside a transaction: end its session in the "
							+ "database, and have the database end such sessions by itself, in PostgreSQL with "
							+ "idle_in_transaction_session_timeout")
						.formatted(lockWait.toSeconds(), what),
					failure);
		}
		return new StoreUnavailableException(
				"The database cannot %s: %s%s".formatted(what, innermost(failure), hint(failure, database)), failure,
				isReply(failure) && !isConflict(failure));
	}

	/**
	 * Returns the failure of a call that has lost its connection though the database
	 * works.
	 */
	static DataAccessResourceFailureException lostConnection(Throwable failure, String database) {
		return new DataAccessResourceFailureException("The call has lost its connection, and the database works: %s%s"
			.formatted(innermost(failure), hint(failure, database)), failure);
	}

	/** Returns what else may have ended an open connection. */
	private static String hint(Throwable failure, String database) {
		boolean opened = !(failure instanceof CannotCreateTransactionException)
				&& !(failure instanceof CannotGetJdbcConnectionException);
		return (opened && database.equals("mariadb") && isConnectionLost(failure)) ? PACKET : "";
	}

	private static StoreUnavailableException refused(String what, Throwable failure, String advice) {
		return new StoreUnavailableException(
				"The database refuses to %s: %s. %s".formatted(what, innermost(failure), advice), failure, true);
	}

	/** Returns what the database or its driver says. */
	static String innermost(Throwable failure) {
		Throwable before = beforeRollback(failure);
		if (before != null && hasCause(before, SQLException.class::isInstance)) {
			return innermost(before);
		}
		Throwable cause = failure;
		while (cause.getCause() != null && cause.getCause() != cause) {
			cause = cause.getCause();
		}
		return (cause.getMessage() != null) ? cause.getMessage().strip().replaceAll("\\s*\\R\\s*", " ")
				: cause.getClass().getName();
	}

}
