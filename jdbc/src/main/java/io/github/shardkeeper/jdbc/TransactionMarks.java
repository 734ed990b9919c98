package io.github.shardkeeper.jdbc;

import java.util.List;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Marks the transaction of a call at its beginning, and looks for the mark at its end. In
 * a deadlock, some databases roll the whole transaction back and go on with a new one on
 * the same connection. A handler that catches the error would commit its offset without
 * the rows that it wrote before. Thread-safe.
 * <ul>
 * <li>PostgreSQL refuses everything else in such a transaction, and Oracle rolls back the
 * statement only: no mark is needed.
 * <li>MySQL and MariaDB forget the savepoints of a transaction with it. A savepoint is
 * set and released in SQL, because not all drivers report a lost one.
 * <li>In H2, SQL Server and other databases the mark is a row of the table {@code topic}
 * that no other transaction sees: it is inserted and deleted again. It does not tell that
 * the handler itself has committed.
 * </ul>
 */
final class TransactionMarks {

	/** No group has such a name. */
	private static final String GROUP = ":calls";

	private static final String SAVEPOINT = "shardkeeper_call";

	/** Of MySQL and MariaDB: there is no such savepoint. */
	private static final int NO_SAVEPOINT = 1305;

	private final DatabaseSteps steps;

	private final JdbcTemplate jdbc;

	private final String insert;

	/** Leaves the row as it is. */
	private final String touch;

	private final String delete;

	/**
	 * Creates marks.
	 * @param steps the transactions
	 * @param topics the table of topics
	 */
	TransactionMarks(DatabaseSteps steps, String topics) {
		this.steps = steps;
		this.jdbc = steps.jdbcUnderLock();
		this.insert = "insert into %s (group_name, topic, consumed_since) values (?, ?, 0)".formatted(topics);
		this.touch = "update %s set consumed_since = 0 where group_name = ? and topic = ?".formatted(topics);
		this.delete = "delete from %s where group_name = ? and topic = ?".formatted(topics);
	}

	/**
	 * Marks the current transaction.
	 * @return the mark, {@code null} if none is needed
	 * @throws DataAccessException if the database refuses that
	 */
	@Nullable Mark set() {
		return switch (this.steps.database()) {
			case "postgresql", "oracle" -> null;
			case "mysql", "mariadb" -> {
				this.jdbc.execute("savepoint " + SAVEPOINT);
				yield this::releaseSavepoint;
			}
			default -> {
				String id = UUID.randomUUID().toString();
				this.jdbc.update(this.insert, GROUP, id);
				yield () -> this.jdbc.update(this.delete, GROUP, id) == 1;
			}
		};
	}

	private boolean releaseSavepoint() {
		try {
			this.jdbc.execute("release savepoint " + SAVEPOINT);
			return true;
		}
		catch (DataAccessException ex) {
			if (DatabaseFailure.hasCode(ex, NO_SAVEPOINT)) {
				return false;
			}
			throw ex;
		}
	}

	/**
	 * Returns whether updates count the rows that they change instead of those that they
	 * find, which the drivers of MySQL and MariaDB can be told in several ways.
	 */
	boolean countsChangedRows() {
		if (!List.of("mysql", "mariadb").contains(this.steps.database())) {
			return false;
		}
		String id = UUID.randomUUID().toString();
		this.jdbc.update(this.insert, GROUP, id);
		int counted = this.jdbc.update(this.touch, GROUP, id);
		this.jdbc.update(this.delete, GROUP, id);
		return counted == 0;
	}

	/** A mark in a transaction. Confined to its thread. */
	interface Mark {

		/**
		 * Removes the mark.
		 * @return whether it was there, so the current transaction is the one that was
		 * marked
		 * @throws DataAccessException if the database does not tell
		 */
		boolean remove();

	}

}
