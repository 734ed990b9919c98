package io.github.shardkeeper.worker;

import java.util.Map;
import java.util.TreeMap;

import javax.sql.DataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Rows of one group as a replica of the database has them, which lags behind. Schedules
 * share tables, and each has rows of its own. Confined to the thread of the test.
 */
final class Replica {

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final String group;

	/** Column with the group, by table. */
	private final Map<String, String> tables;

	/** Creates the replica of a group that has no rows yet. */
	Replica(DataSource database, String group) {
		this.jdbc = new JdbcTemplate(database);
		this.transaction = new TransactionTemplate(new DataSourceTransactionManager(database));
		this.group = group;
		this.tables = tables(this.jdbc);
	}

	/** Creates the tables of all replicas, beside those that they copy. */
	static void createTables(JdbcTemplate jdbc) {
		tables(jdbc).keySet()
			.forEach((table) -> jdbc
				.execute("create table replica_%1$s as select * from %1$s where 1 = 0".formatted(table)));
	}

	private static Map<String, String> tables(JdbcTemplate jdbc) {
		Map<String, String> tables = new TreeMap<>();
		jdbc.query("select table_name, column_name from information_schema.columns "
				+ "where column_name in ('GROUP_NAME', 'RUN') and table_name not like 'REPLICA%'", (row) -> {
					tables.put(row.getString(1), row.getString(2));
				});
		return tables;
	}

	/** Catches up with the database. */
	void copy() {
		copy("", "replica_");
	}

	/** Takes the place of the database; returns how many bookings that lacks now. */
	int promote() {
		int before = bookings();
		copy("replica_", "");
		return before - bookings();
	}

	private int bookings() {
		return this.jdbc.queryForList("select id from booked where run = ?", Integer.class, this.group).size();
	}

	private void copy(String from, String to) {
		this.transaction.executeWithoutResult((status) -> this.tables.forEach((table, column) -> {
			this.jdbc.update("delete from %s%s where %s = ?".formatted(to, table, column), this.group);
			this.jdbc.update(
					"insert into %s%s select * from %s%s where %s = ?".formatted(to, table, from, table, column),
					this.group);
		}));
	}

}
