package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.store.StoreServer;

/**
 * The data plane of one group in a database, by a clock that stands still until it is
 * moved. Confined to the test's thread.
 */
final class DatabaseServer implements StoreServer, AutoCloseable {

	static final String PREFIX = "shardkeeper_";

	/** The tests create the tables. */
	static final TableSettings TABLE_SETTINGS = new TableSettings(PREFIX, false);

	private static final List<String> TABLES = List.of("shard", "state", "timer", "retry", "dead_letter", "topic",
			"outbox", "sequence");

	private final HikariDataSource pool;

	private final String group = UUID.randomUUID().toString();

	private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");

	DatabaseServer(HikariDataSource pool) {
		this.pool = pool;
	}

	HikariDataSource pool() {
		return this.pool;
	}

	JdbcTemplate jdbc() {
		return new JdbcTemplate(this.pool);
	}

	JdbcDataPlane database() {
		return new JdbcDataPlane(new JdbcTransactionManager(this.pool), this.pool, TABLE_SETTINGS, this.group,
				Duration.ofSeconds(30), () -> this.now);
	}

	/** By the clock of the machine. */
	JdbcDataPlane databaseInRealTime(Duration lockWait) {
		return new JdbcDataPlane(new JdbcTransactionManager(this.pool), this.pool, TABLE_SETTINGS, this.group,
				lockWait);
	}

	/** The transactions of another manager. */
	CallTransactions transactions(PlatformTransactionManager manager) {
		return new JdbcTransactions(new JdbcDataPlane(manager, this.pool, TABLE_SETTINGS, this.group,
				Duration.ofSeconds(30), () -> this.now));
	}

	CheckpointStore store() {
		return database().checkpoints(null);
	}

	DeadLetterStore letters() {
		return database().deadLetters();
	}

	@Override
	public void advance(Duration duration) {
		this.now = this.now.plus(duration);
	}

	@Override
	public Object snapshot() {
		Map<String, List<Map<String, Object>>> copy = new LinkedHashMap<>();
		for (String table : TABLES) {
			copy.put(table, jdbc().query("select * from " + PREFIX + table, (row, number) -> {
				Map<String, Object> values = new LinkedHashMap<>();
				for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
					String type = row.getMetaData().getColumnTypeName(i).toUpperCase();
					boolean binary = type.contains("BINARY") || type.contains("BLOB") || type.contains("BYTEA");
					Object value = row.getObject(i);
					values.put(row.getMetaData().getColumnName(i), (value == null || value instanceof Number) ? value
							: (binary ? row.getBytes(i) : row.getString(i)));
				}
				return values;
			}));
		}
		return copy;
	}

	@Override
	@SuppressWarnings("unchecked")
	public void loseWritesSince(Object snapshot) {
		empty();
		((Map<String, List<Map<String, Object>>>) snapshot).forEach((table,
				rows) -> rows.forEach((row) -> jdbc().update(
						"insert into %s (%s) values (%s)".formatted(PREFIX + table, String.join(", ", row.keySet()),
								String.join(", ", row.keySet().stream().map((column) -> "?").toList())),
						row.values().toArray())));
	}

	@Override
	public void empty() {
		TABLES.forEach((table) -> jdbc().update("delete from " + PREFIX + table));
	}

	@Override
	public void close() {
		this.pool.close();
	}

}
