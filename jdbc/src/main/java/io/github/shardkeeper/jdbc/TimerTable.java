package io.github.shardkeeper.jdbc;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Table {@code timer}: the timers of a shard. Its unique constraint is the index by which
 * they are read in order. Only in a transaction; writes only after the shard's row was
 * locked. Thread-safe.
 */
final class TimerTable {

	private static final String KEY = CheckpointTable.KEY;

	private static final int BYTES_AT_ONCE = 1_000_000;

	private final StoreTransactions steps;

	private final RowOperations rows;

	private final CheckpointTable shards;

	private final String table;

	private final KeyedRows timers;

	TimerTable(StoreTransactions steps, String prefix, CheckpointTable shards) {
		this.steps = steps;
		this.rows = new RowOperations(steps.jdbc(), steps.jdbcUnderLock());
		this.shards = shards;
		this.table = prefix + "timer";
		this.timers = new KeyedRows(steps, this.table, "id_hash", List.of("timer_key", "timer_name"),
				List.of("due_at"));
	}

	String name() {
		return this.table;
	}

	private static String hash(TimerId id) {
		return StoredText.hash(id.key().length() + ":" + id.key() + id.name());
	}

	/** Writes a commit's changes. */
	void write(ShardId shard, Map<TimerId, @Nullable Instant> changes) {
		List<String> removed = new ArrayList<>();
		List<KeyedRows.Row> put = new ArrayList<>();
		changes.forEach((id, due) -> {
			if (due == null) {
				removed.add(hash(id));
				return;
			}
			put.add(new KeyedRows.Row(hash(id),
					new Object[] { StoredText.encode(id.key()), StoredText.encode(id.name()) },
					new Object[] { due.toEpochMilli() }));
		});
		this.timers.put(this.shards.key(shard), put);
		this.timers.remove(this.shards.key(shard), removed);
	}

	/** Reads a page; see {@link io.github.shardkeeper.checkpoint.CheckpointStore}. */
	List<StoredTimer> read(ShardId shard, @Nullable StoredTimer after, int limit) {
		List<StoredTimer> page = new ArrayList<>();
		long[] room = { BYTES_AT_ONCE };
		String sql = "select timer_key, timer_name, due_at from %s where %s%s order by due_at, id_hash%s".formatted(
				this.table, KEY, (after != null) ? " and due_at >= ? and (due_at > ? or id_hash > ?)" : "",
				limited(limit));
		Object[] arguments = this.shards.key(shard);
		if (after != null) {
			long due = after.due().toEpochMilli();
			arguments = this.shards.key(shard, due, due, hash(after.id()));
		}
		this.rows.query(sql, limit, (row) -> {
			TimerId id = new TimerId(RowOperations.text(row, 1), RowOperations.text(row, 2));
			room[0] -= id.key().length() + id.name().length();
			if (room[0] < 0 && !page.isEmpty()) {
				return false;
			}
			page.add(new StoredTimer(id, Instant.ofEpochMilli(row.getLong(3))));
			return true;
		}, arguments);
		return page;
	}

	/**
	 * Returns the end of a statement that says how many rows are wanted: otherwise
	 * databases may sort all timers rather than use the index. The drivers of MySQL and
	 * MariaDB tell it for every statement, and MySQL does not know the clause.
	 */
	private String limited(int limit) {
		return switch (this.steps.database()) {
			case "mysql", "mariadb" -> "";
			default -> " offset 0 rows fetch next %d rows only".formatted(limit);
		};
	}

}
