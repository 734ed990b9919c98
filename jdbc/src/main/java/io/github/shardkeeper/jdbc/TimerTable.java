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

	private final RowOperations.Put put;

	TimerTable(StoreTransactions steps, String prefix, CheckpointTable shards) {
		this.steps = steps;
		this.rows = new RowOperations(steps.jdbc(), steps.jdbcUnderLock());
		this.shards = shards;
		this.table = prefix + "timer";
		this.put = new RowOperations.Put("update %s set due_at = ? where %s and id_hash = ?".formatted(this.table, KEY),
				"delete from %s where %s and id_hash = ?".formatted(this.table, KEY),
				"insert into %s (group_name, topic, shard_id, id_hash, timer_key, timer_name, due_at) values (?, ?, ?, ?, ?, ?, ?)"
					.formatted(this.table));
	}

	String name() {
		return this.table;
	}

	private static String hash(TimerId id) {
		return StoredText.hash(id.key().length() + ":" + id.key() + id.name());
	}

	/** Writes a commit's changes. */
	void write(ShardId shard, Map<TimerId, @Nullable Instant> changes) {
		if (changes.isEmpty()) {
			return;
		}
		List<Object[]> removed = new ArrayList<>();
		List<Object[]> keys = new ArrayList<>();
		List<Object[]> updated = new ArrayList<>();
		List<Object[]> inserted = new ArrayList<>();
		changes.forEach((id, due) -> {
			Object[] key = this.shards.key(shard, hash(id));
			if (due == null) {
				removed.add(key);
				return;
			}
			keys.add(key);
			updated.add(new Object[] { due.toEpochMilli(), key[0], key[1], key[2], key[3] });
			inserted.add(this.shards.key(shard, key[3], StoredText.encode(id.key()), StoredText.encode(id.name()),
					due.toEpochMilli()));
		});
		this.rows.put(this.put, keys, updated, inserted);
		this.rows.change(this.put.delete(), removed);
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
