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
 * the rows that it wrote before; one that ends the transaction by itself, its rows
 * without their offset. Thread-safe.
 * <ul>
 * <li>PostgreSQL refuses everything else in a transaction after a deadlock. It forgets a
 * setting that is local to the transaction with it; the statement that writes the offset
 * looks for it.
 * <li>Oracle rolls back the statement only. It has no mark.
 * <li>MySQL and MariaDB forget the savepoints of a transaction with it. A savepoint is
 * set and released in SQL, because not all drivers report a lost one.
 * <li>In H2, SQL Server and other databases the mark is a row of the table {@code topic}
 * that no other transaction sees: it is inserted and deleted again. It does not tell that
 * the handler itself has committed.
 * </ul>
 */
final class TransactionMarks {

	static final String LOST = "The transaction in which the call began has ended before the call. What came after it is "
			+ "rolled back now; if it was committed, its rows stay without their offset. Let exceptions of the database "
			+ "leave the handler, then the call is repeated: after one that it catches, such as that of a deadlock, the "
			+ "database may have rolled back the whole transaction, savepoints included, and have gone on with another one. "
			+ "Leave commit(), rollback() and setAutoCommit() of the connection to Shardkeeper, and in MySQL and MariaDB "
			+ "make no statement that commits, such as 'create table'.";

	/** No group has such a name. */
	private static final String GROUP = ":calls";

	private static final String SAVEPOINT = "shardkeeper_call";

	/** Setting of PostgreSQL: its name needs a dot. */
	private static final String SETTING = "shardkeeper_call.mark";

	private static final String IS_SET = "current_setting('%s', true) = 'open'".formatted(SETTING);

	/** Of MySQL and MariaDB: there is no such savepoint. */
	private static final int NO_SAVEPOINT = 1305;

	private final StoreTransactions steps;

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
	TransactionMarks(StoreTransactions steps, String topics) {
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
			case "oracle" -> null;
			case "postgresql" -> {
				this.jdbc.queryForObject("select set_config('%s', 'open', true)".formatted(SETTING), String.class);
				yield new LocalSetting();
			}
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
	 * Writes a row, and removes it. Within a time limit: the database may be in doubt.
	 * @throws DataAccessException if the database refuses that
	 */
	void write() {
		String id = UUID.randomUUID().toString();
		this.steps.jdbc().update(this.insert, GROUP, id);
		this.steps.jdbc().update(this.delete, GROUP, id);
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
		 * Returns what the statement that writes the offset needs besides its own
		 * conditions: SQL that begins with " and", or empty.
		 */
		default String condition() {
			return "";
		}

		/** Returns whether the statement has written nothing because of the condition. */
		default boolean isLost() {
			return false;
		}

		/**
		 * Removes the mark.
		 * @return whether it was there, so the current transaction is the one that was
		 * marked
		 * @throws DataAccessException if the database does not tell
		 */
		boolean remove();

	}

	/** Is found out with the offset: what is written later belongs to both or neither. */
	private final class LocalSetting implements Mark {

		@Override
		public String condition() {
			return " and " + IS_SET;
		}

		@Override
		public boolean isLost() {
			Boolean isSet = TransactionMarks.this.jdbc.queryForObject("select coalesce(%s, false)".formatted(IS_SET),
					Boolean.class);
			return isSet == null || !isSet;
		}

		@Override
		public boolean remove() {
			return true;
		}

	}

}
