package io.github.shardkeeper.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementCallback;
import org.springframework.jdbc.core.SqlParameterValue;

import io.github.shardkeeper.checkpoint.CheckpointJson;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Table {@code shard}: one row for each shard of a group that was ever acquired or
 * sought. Its row is the lock of the shard. Only in a transaction. Thread-safe.
 */
final class CheckpointTable {

	static final String KEY = "group_name = ? and topic = ? and shard_id = ?";

	private final JdbcTemplate jdbc;

	private final String table;

	private final String group;

	private final JdbcTemplate writes;

	private final LockWaits waits;

	/** Statement of {@link #commit}. */
	private final String commit;

	CheckpointTable(JdbcTemplate jdbc, JdbcTemplate writes, LockWaits waits, String prefix, String group) {
		this.jdbc = jdbc;
		this.writes = writes;
		this.waits = waits;
		this.table = prefix + "shard";
		this.group = group;
		this.commit = "update %s set commit_number = ?, offset_value = ?, ahead = ?, committed_at = ?, last_letter = last_letter + ? where %s and token = ? and acquired_at = ? and commit_number = ?"
			.formatted(this.table, KEY);
	}

	Object[] key(ShardId shard, Object... more) {
		return arguments(new Object[] { this.group, shard.topic(), shard.id() }, more);
	}

	private Object[] arguments(Object[] first, Object... more) {
		Object[] all = new Object[first.length + more.length];
		System.arraycopy(first, 0, all, 0, first.length);
		System.arraycopy(more, 0, all, first.length, more.length);
		return all;
	}

	private static SqlParameterValue text(@Nullable String value) {
		return new SqlParameterValue(Types.VARCHAR, value);
	}

	private static SqlParameterValue text(@Nullable Offset offset) {
		return text((offset != null) ? StoredText.encode(offset.value()) : null);
	}

	/** Locks the row until the end of the transaction; returns whether there is one. */
	boolean lock(ShardId shard) {
		return this.jdbc.update("update %s set token = token where %s".formatted(this.table, KEY), key(shard)) == 1;
	}

	/** Locks the row if its fence is at the token. */
	boolean lock(ShardId shard, Token token) {
		return this.jdbc.update("update %s set token = token where %s and token = ?".formatted(this.table, KEY),
				key(shard, token.value())) == 1;
	}

	/**
	 * Raises the fence if it is lower; waits for the transactions that have locked the
	 * row. MySQL assigns from left to right, so the old values come first.
	 */
	boolean raise(ShardId shard, Token token, long nowMillis) {
		return this.jdbc.update(
				"update %s set before_token = token, before_commit = commit_number, token = ?, commit_number = 0, acquired_at = ?, completed = 0 where %s and token < ?"
					.formatted(this.table, KEY),
				arguments(new Object[] { token.value(), nowMillis }, key(shard, token.value()))) == 1;
	}

	/**
	 * Adds an empty row without a fence.
	 * @param lastLetter the number of the last dead letter, which may be from an earlier
	 * row
	 */
	void insert(ShardId shard, long lastLetter) {
		this.jdbc.update(
				"insert into %s (group_name, topic, shard_id, token, commit_number, acquired_at, before_token, before_commit, sought, completed, last_letter, committed_at) values (?, ?, ?, 0, 0, 0, 0, 0, 0, 0, ?, 0)"
					.formatted(this.table),
				key(shard, lastLetter));
	}

	@Nullable ShardRow read(ShardId shard) {
		List<ShardRow> rows = this.jdbc.query("select * from %s where %s".formatted(this.table, KEY),
				(row, number) -> row(row), key(shard));
		return rows.isEmpty() ? null : rows.get(0);
	}

	private static ShardRow row(ResultSet row) throws SQLException {
		String ahead = row.getString("ahead");
		return new ShardRow(new Token(row.getLong("token")), row.getLong("commit_number"), row.getLong("acquired_at"),
				new LastCommit(new Token(row.getLong("before_token")), row.getLong("before_commit")),
				offset(row.getString("offset_value")), CheckpointJson.offsets((ahead != null) ? ahead : ""), seeks(row),
				row.getInt("completed") == 1, row.getLong("last_letter"));
	}

	private static @Nullable Offset offset(@Nullable String stored) {
		return (stored != null) ? new Offset(StoredText.decode(stored)) : null;
	}

	private static Seeks seeks(ResultSet row) throws SQLException {
		long applied = row.getLong("sought");
		Offset after = offset(row.getString("seek_after"));
		if (after == null) {
			return (applied != 0) ? new Seeks(applied, null) : Seeks.NONE;
		}
		return new Seeks(applied, new SeekRequest(row.getLong("seek_number"), after, row.getInt("seek_clears") == 1));
	}

	/**
	 * Writes the row's part of a commit in a transaction of the application, if nothing
	 * has been written since the commits that it rests on. The token alone would not do:
	 * a transaction of the same owner whose end had no reply may still be open. One round
	 * trip, made by each call, so it has nothing around it that can be left out.
	 * @param condition another condition, which begins with " and", or empty
	 */
	boolean commit(ShardId shard, Token token, Commit commit, long nowMillis, String condition) {
		String statement = this.commit + condition;
		Integer rows = this.writes.execute((connection) -> connection.prepareStatement(statement),
				(PreparedStatementCallback<Integer>) (prepared) -> {
					prepared.setLong(1, commit.number().attempt());
					setText(prepared, 2, (commit.offset() != null) ? StoredText.encode(commit.offset().value()) : null);
					setText(prepared, 3, commit.ahead().isEmpty() ? null : CheckpointJson.offsets(commit.ahead()));
					prepared.setLong(4, nowMillis);
					prepared.setLong(5, commit.deadLetters().size());
					prepared.setString(6, this.group);
					prepared.setString(7, shard.topic());
					prepared.setString(8, shard.id());
					prepared.setLong(9, token.value());
					prepared.setLong(10, commit.number().acquisition());
					prepared.setLong(11, commit.number().acknowledged());
					return this.waits.update(prepared);
				});
		return rows != null && rows == 1;
	}

	private static void setText(PreparedStatement statement, int index, @Nullable String text) throws SQLException {
		if (text != null) {
			statement.setString(index, text);
		}
		else {
			statement.setNull(index, Types.VARCHAR);
		}
	}

	/** Returns the number of the last dead letter. */
	long lastLetter(ShardId shard) {
		Long number = this.jdbc.queryForObject("select last_letter from %s where %s".formatted(this.table, KEY),
				Long.class, key(shard));
		return Objects.requireNonNull(number);
	}

	private static SqlParameterValue ahead(Set<Offset> ahead) {
		return text(ahead.isEmpty() ? null : CheckpointJson.offsets(ahead));
	}

	/** Writes a whole checkpoint in place of the row's; the row is locked. */
	void replace(ShardId shard, ShardRow before, Commit commit, long nowMillis) {
		ShardRow empty = new ShardRow(before.token(), before.lastCommit(), before.acquired(), before.before(), null,
				Set.of(), Seeks.NONE, false, before.lastLetter());
		write(shard, empty, commit, nowMillis);
		write(shard, (commit.seek() != 0) ? new Seeks(commit.seek(), null) : Seeks.NONE);
	}

	/** Writes the row's part of a commit; the row is locked. */
	void write(ShardId shard, ShardRow before, Commit commit, long nowMillis) {
		Offset offset = (commit.offset() != null) ? commit.offset() : before.offset();
		Seeks seeks = (commit.seek() != 0) ? new Seeks(commit.seek(), before.seeks().pendingAfter(commit.seek()))
				: before.seeks();
		this.jdbc.update(
				"update %s set commit_number = ?, offset_value = ?, ahead = ?, committed_at = ?, last_letter = ? where %s"
					.formatted(this.table, KEY),
				arguments(new Object[] { commit.number().attempt(), text(offset), ahead(commit.ahead()), nowMillis,
						before.lastLetter() + commit.deadLetters().size() }, key(shard)));
		if (commit.seek() != 0) {
			write(shard, seeks);
		}
	}

	void write(ShardId shard, Seeks seeks) {
		SeekRequest pending = seeks.pending();
		this.jdbc.update(
				"update %s set sought = ?, seek_number = ?, seek_after = ?, seek_clears = ? where %s"
					.formatted(this.table, KEY),
				arguments(new Object[] { seeks.applied(),
						new SqlParameterValue(Types.BIGINT, (pending != null) ? pending.number() : null),
						text((pending != null) ? pending.after() : null), new SqlParameterValue(Types.SMALLINT,
								(pending != null) ? (pending.clearsState() ? 1 : 0) : null) },
						key(shard)));
	}

	void complete(ShardId shard) {
		this.jdbc.update("update %s set completed = 1 where %s".formatted(this.table, KEY), key(shard));
	}

	/** Reads the rows of many shards; those that have none are left out. */
	Map<ShardId, ShardRow> readAll(Collection<ShardId> shards) {
		Map<ShardId, ShardRow> found = new HashMap<>();
		Set<ShardId> wanted = Set.copyOf(shards);
		for (String topic : new TreeSet<>(shards.stream().map(ShardId::topic).toList())) {
			this.jdbc.query("select * from %s where group_name = ? and topic = ?".formatted(this.table), (row) -> {
				ShardId shard = new ShardId(topic, Objects.requireNonNull(row.getString("shard_id")));
				if (wanted.contains(shard)) {
					found.put(shard, row(row));
				}
			}, this.group, topic);
		}
		return found;
	}

	Set<ShardId> shards(String topic) {
		return Set
			.copyOf(this.jdbc.query("select shard_id from %s where group_name = ? and topic = ?".formatted(this.table),
					(row, number) -> new ShardId(topic, Objects.requireNonNull(row.getString(1))), this.group, topic));
	}

	void delete(ShardId shard) {
		this.jdbc.update("delete from %s where %s".formatted(this.table, KEY), key(shard));
	}

}
