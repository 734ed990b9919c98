package io.github.shardkeeper.jdbc;

import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Writes the rows of a table in which a shard's rows are found by the hash of what they
 * are about. Only in a transaction, after the shard's row was locked. Thread-safe.
 * <p>
 * A commit may write ten thousand rows into a table that the database knows as an empty
 * one. PostgreSQL then plans to read all of the shard's rows in order to find one. So it
 * finds rows that are written by their primary key, as {@code on conflict} demands, and
 * those that are removed many at a time.
 */
final class KeyedRows {

	/** As many parameters as every database takes. */
	private static final int KEYS_AT_ONCE = 512;

	private final StoreTransactions steps;

	private final JdbcTemplate writes;

	private final String insert;

	private final String update;

	private final String insertOrUpdate;

	private final String delete;

	private final String deleteSeveral;

	/**
	 * Creates the access to a table.
	 * @param hash the column of the hash
	 * @param fixed columns that the hash decides
	 * @param changing the other columns
	 */
	KeyedRows(StoreTransactions steps, String table, String hash, List<String> fixed, List<String> changing) {
		this.steps = steps;
		this.writes = steps.jdbcUnderLock();
		List<String> columns = Stream.of(List.of("group_name", "topic", "shard_id", hash), fixed, changing)
			.flatMap(List::stream)
			.toList();
		this.insert = "insert into %s (%s) values (%s)".formatted(table, String.join(", ", columns),
				places(columns.size()));
		this.update = "update %s set %s where %s and %s = ?".formatted(table, assigned(changing, "%s = ?"),
				CheckpointTable.KEY, hash);
		this.insertOrUpdate = "%s on conflict (group_name, topic, shard_id, %s) do update set %s".formatted(this.insert,
				hash, assigned(changing, "%1$s = excluded.%1$s"));
		this.delete = "delete from %s where %s and %s = ?".formatted(table, CheckpointTable.KEY, hash);
		this.deleteSeveral = "delete from %s where %s and %s in ".formatted(table, CheckpointTable.KEY, hash);
	}

	private static String assigned(List<String> columns, String format) {
		return columns.stream().map(format::formatted).collect(Collectors.joining(", "));
	}

	private static String places(int number) {
		return String.join(", ", Collections.nCopies(number, "?"));
	}

	/**
	 * Passes hashes in parts of a size that databases take, each with the end of a
	 * statement that looks for it. Repeats the last hash of a part, so that few different
	 * statements are prepared.
	 */
	static void inParts(List<String> hashes, BiConsumer<String, Object[]> part) {
		for (int from = 0; from < hashes.size(); from += KEYS_AT_ONCE) {
			List<String> some = hashes.subList(from, Math.min(from + KEYS_AT_ONCE, hashes.size()));
			int size = Integer.highestOneBit(2 * some.size() - 1);
			Object[] arguments = Stream
				.concat(some.stream(), Collections.nCopies(size - some.size(), some.get(some.size() - 1)).stream())
				.toArray();
			part.accept("(" + places(size) + ")", arguments);
		}
	}

	/** Updates rows, and inserts those that do not exist. */
	void put(Object[] shard, List<Row> rows) {
		if (isPostgresql()) {
			insert(this.insertOrUpdate, shard, rows);
		}
		else if (!rows.isEmpty()) {
			update(shard, rows);
		}
	}

	/** One round trip for rows that exist, as most do. */
	private void update(Object[] shard, List<Row> rows) {
		int[] updated = this.writes.batchUpdate(this.update,
				rows.stream().map((row) -> arguments(row.changing, shard, row.hash)).toList());
		List<String> unknown = new ArrayList<>();
		List<Row> missing = new ArrayList<>();
		for (int i = 0; i < updated.length; i++) {
			if (updated[i] == Statement.SUCCESS_NO_INFO) {
				unknown.add(rows.get(i).hash);
			}
			if (updated[i] <= 0) {
				missing.add(rows.get(i));
			}
		}
		remove(shard, unknown);
		insert(this.insert, shard, missing);
	}

	private void insert(String sql, Object[] shard, List<Row> rows) {
		if (!rows.isEmpty()) {
			this.writes.batchUpdate(sql,
					rows.stream().map((row) -> arguments(shard, row.hash, row.fixed, row.changing)).toList());
		}
	}

	/**
	 * Removes rows. MySQL and MariaDB do so one by one: looking for several, they may
	 * scan a small table, and lock the rows of other shards.
	 */
	void remove(Object[] shard, List<String> hashes) {
		if (isPostgresql()) {
			inParts(hashes, (places, part) -> this.writes.update(this.deleteSeveral + places, arguments(shard, part)));
		}
		else if (!hashes.isEmpty()) {
			this.writes.batchUpdate(this.delete, hashes.stream().map((hash) -> arguments(shard, hash)).toList());
		}
	}

	private boolean isPostgresql() {
		return this.steps.database().equals("postgresql");
	}

	private static Object[] arguments(Object... parts) {
		return Stream.of(parts)
			.flatMap((part) -> (part instanceof Object[] several) ? Stream.of(several) : Stream.of(part))
			.toArray();
	}

	/**
	 * A row.
	 *
	 * @param fixed values of the columns that the hash decides
	 * @param changing values of the other columns
	 */
	record Row(String hash, Object[] fixed, Object[] changing) {

	}

}
