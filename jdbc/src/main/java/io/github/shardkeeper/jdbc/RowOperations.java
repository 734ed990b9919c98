package io.github.shardkeeper.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Reads and writes rows that belong to a shard. Only in a transaction; writes only after
 * the shard's row was locked. Thread-safe.
 */
final class RowOperations {

	static final int NO_LIMIT = 0;

	/** What one reply of the database brings into memory. */
	private static final int ROWS_AT_ONCE = 20;

	private final JdbcTemplate jdbc;

	private final JdbcTemplate writes;

	/**
	 * Creates the access.
	 * @param writes for writes under the lock of the shard's row
	 */
	RowOperations(JdbcTemplate jdbc, JdbcTemplate writes) {
		this.jdbc = jdbc;
		this.writes = writes;
	}

	static String text(ResultSet row, int column) throws SQLException {
		return StoredText.decode(Objects.requireNonNull(row.getString(column)));
	}

	static byte[] bytes(ResultSet row, int column) throws SQLException {
		byte[] bytes = row.getBytes(column);
		return (bytes != null) ? bytes : new byte[0];
	}

	/** Reads rows, a few at a time, as long as the reader wants more. */
	void query(String sql, int limit, Reader reader, Object[] arguments) {
		this.jdbc.query((connection) -> {
			var statement = connection.prepareStatement(sql);
			statement.setMaxRows(limit);
			statement.setFetchSize((limit == NO_LIMIT) ? ROWS_AT_ONCE : Math.min(limit, ROWS_AT_ONCE));
			return statement;
		}, (statement) -> {
			for (int i = 0; i < arguments.length; i++) {
				statement.setObject(i + 1, arguments[i]);
			}
		}, (rows) -> {
			boolean more = true;
			while (more && rows.next()) {
				more = reader.read(rows);
			}
			return more;
		});
	}

	/** Changes rows in one round trip, none for no rows. */
	void change(String sql, List<Object[]> rows) {
		if (!rows.isEmpty()) {
			this.writes.batchUpdate(sql, rows);
		}
	}

	@FunctionalInterface
	interface Reader {

		/** Reads a row, and returns whether to continue. */
		boolean read(ResultSet row) throws SQLException;

	}

}
