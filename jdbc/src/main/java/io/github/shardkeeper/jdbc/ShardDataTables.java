package io.github.shardkeeper.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.shardkeeper.checkpoint.CheckpointJson;
import io.github.shardkeeper.checkpoint.CheckpointStore.DueRecords;
import io.github.shardkeeper.checkpoint.CheckpointStore.ExpiredKeys;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Tables {@code state}, {@code retry} and {@code dead_letter}, and the
 * {@link TimerTable}: what belongs to a shard beside its row. Only in a transaction;
 * writes only after the shard's row was locked. Thread-safe.
 */
final class ShardDataTables {

	private static final String KEY = CheckpointTable.KEY;

	/** Limit of what one reply of the database brings into memory. */
	private static final int BYTES_AT_ONCE = 1_000_000;

	private static final int EXPIRED_AT_ONCE = 500;

	private static final int KEYS_READ_AT_ONCE = 500;

	/** Where the expiry of a value ends at most. */
	private static final int EXPIRY_LENGTH = 20;

	private static final String LETTER_SUFFIX = "-0";

	private final JdbcTemplate jdbc;

	private final JdbcTemplate writes;

	private final RowOperations rows;

	private final CheckpointTable shards;

	private final String state;

	private final String retry;

	private final String letters;

	private final KeyedRows entries;

	private final TimerTable timers;

	ShardDataTables(StoreTransactions steps, String prefix, CheckpointTable shards) {
		this.jdbc = steps.jdbc();
		this.writes = steps.jdbcUnderLock();
		this.shards = shards;
		this.state = prefix + "state";
		this.retry = prefix + "retry";
		this.letters = prefix + "dead_letter";
		this.rows = new RowOperations(this.jdbc, this.writes);
		this.timers = new TimerTable(steps, prefix, shards);
		this.entries = new KeyedRows(steps, this.state, "key_hash", List.of("entry_key"), List.of("entry_value"));
	}

	Map<String, String> state(ShardId shard) {
		Map<String, String> entries = new HashMap<>();
		this.jdbc.query("select entry_key, entry_value from %s where %s".formatted(this.state, KEY), (row) -> {
			entries.put(RowOperations.text(row, 1), RowOperations.text(row, 2));
		}, this.shards.key(shard));
		return entries;
	}

	/** Returns some entries, without keys that have no value. */
	Map<String, String> state(ShardId shard, Collection<String> keys) {
		Map<String, String> entries = new HashMap<>();
		List<String> hashes = keys.stream().map(StoredText::hash).distinct().toList();
		KeyedRows.inParts(hashes, (places, part) -> this.jdbc.query(
				"select entry_key, entry_value from %s where %s and key_hash in %s".formatted(this.state, KEY, places),
				(row) -> {
					entries.put(RowOperations.text(row, 1), RowOperations.text(row, 2));
				}, this.shards.key(shard, part)));
		return entries;
	}

	/**
	 * Returns the keys with a prefix of values that have not expired; reads a few at a
	 * time.
	 */
	Set<String> stateKeys(ShardId shard, String prefix, long nowMillis) {
		Set<String> keys = new HashSet<>();
		stateKeys(shard, "", RowOperations.NO_LIMIT, (hash, key, expiresAt) -> {
			if (key.startsWith(prefix) && nowMillis < expiresAt) {
				keys.add(key);
			}
		});
		return keys;
	}

	/** Returns the keys of expired values among the next ones, in the order of hashes. */
	ExpiredKeys expiredKeys(ShardId shard, @Nullable String after, long nowMillis) {
		List<String> hashes = new ArrayList<>();
		List<String> expired = new ArrayList<>();
		stateKeys(shard, (after != null) ? after : "", KEYS_READ_AT_ONCE, (hash, key, expiresAt) -> {
			hashes.add(hash);
			if (expiresAt <= nowMillis) {
				expired.add(key);
			}
		});
		return new ExpiredKeys(expired,
				(hashes.size() == KEYS_READ_AT_ONCE) ? hashes.get(KEYS_READ_AT_ONCE - 1) : null);
	}

	private void stateKeys(ShardId shard, String afterHash, int limit, KeyReader reader) {
		this.rows.query(
				"select key_hash, entry_key, substring(entry_value, 1, %d) from %s where %s and key_hash > ? order by key_hash"
					.formatted(EXPIRY_LENGTH, this.state, KEY),
				limit, (row) -> {
					reader.read(Objects.requireNonNull(row.getString(1)), RowOperations.text(row, 2),
							ExpiringValues.expiresAt(Objects.requireNonNull(row.getString(3))));
					return true;
				}, this.shards.key(shard, afterHash));
	}

	long countState(ShardId shard) {
		return count(this.state, shard);
	}

	private long count(String table, ShardId shard) {
		Long number = this.jdbc.queryForObject("select count(*) from %s where %s".formatted(table, KEY), Long.class,
				this.shards.key(shard));
		return (number != null) ? number : 0;
	}

	/** Writes what a commit changes beside the shard's row. */
	void write(ShardId shard, Commit commit, long lastLetter, long nowMillis) {
		if (commit.clearsState()) {
			this.writes.update("delete from %s where %s".formatted(this.state, KEY), this.shards.key(shard));
			deleteTimers(shard);
		}
		if (!commit.changes().isEmpty()) {
			writeState(shard, commit.changes());
		}
		this.timers.write(shard, commit.timers());
		for (Offset taken : commit.taken()) {
			deleteRetry(shard, taken);
		}
		for (Commit.Retry retried : commit.retries()) {
			writeRetry(shard, retried.record(), nowMillis + retried.delay().toMillis());
		}
		long number = lastLetter;
		for (FailedRecord letter : commit.deadLetters()) {
			number++;
			this.writes.update(
					"insert into %s (group_name, topic, shard_id, letter_number, stored_at, offset_value, about, payload) values (?, ?, ?, ?, ?, ?, ?, ?)"
						.formatted(this.letters),
					this.shards.key(shard, number, nowMillis, StoredText.encode(letter.offset().value()),
							CheckpointJson.about(letter), letter.payload()));
		}
	}

	List<StoredTimer> timers(ShardId shard, @Nullable StoredTimer after, int limit) {
		return this.timers.read(shard, after, limit);
	}

	long countTimers(ShardId shard) {
		return count(this.timers.name(), shard);
	}

	void deleteTimers(ShardId shard) {
		delete(this.timers.name(), shard);
	}

	void writeState(ShardId shard, Map<String, @Nullable String> changes) {
		List<String> removed = new ArrayList<>();
		List<KeyedRows.Row> put = new ArrayList<>();
		changes.forEach((key, value) -> {
			if (value == null) {
				removed.add(StoredText.hash(key));
				return;
			}
			put.add(new KeyedRows.Row(StoredText.hash(key), new Object[] { StoredText.encode(key) },
					new Object[] { StoredText.encode(value) }));
		});
		this.entries.put(this.shards.key(shard), put);
		this.entries.remove(this.shards.key(shard), removed);
	}

	private void deleteRetry(ShardId shard, Offset offset) {
		this.writes.update("delete from %s where %s and offset_hash = ?".formatted(this.retry, KEY),
				this.shards.key(shard, StoredText.hash(offset.value())));
	}

	/** Puts a record into the retry queue; replaces one with the same offset. */
	void writeRetry(ShardId shard, FailedRecord record, long dueMillis) {
		deleteRetry(shard, record.offset());
		this.writes.update(
				"insert into %s (group_name, topic, shard_id, offset_hash, offset_value, due_at, record_size, about, payload) values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
					.formatted(this.retry),
				this.shards.key(shard, StoredText.hash(record.offset().value()),
						StoredText.encode(record.offset().value()), dueMillis, record.size(),
						CheckpointJson.about(record), record.payload()));
	}

	/** Returns the time in milliseconds at which the first retry is due. */
	@Nullable Long firstRetry(ShardId shard) {
		return this.jdbc.queryForObject("select min(due_at) from %s where %s".formatted(this.retry, KEY), Long.class,
				this.shards.key(shard));
	}

	long countRetries(ShardId shard) {
		return count(this.retry, shard);
	}

	/**
	 * Reads due records; see {@link io.github.shardkeeper.checkpoint.CheckpointStore}.
	 */
	DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except, long nowMillis) {
		List<FailedRecord> due = new ArrayList<>();
		long room = bytes;
		for (Waiting next : waiting(shard, limit + except.size() + 1)) {
			boolean wanted = !except.contains(next.offset);
			if (limit == 0 || next.dueMillis > nowMillis
					|| wanted && (due.size() == limit || !due.isEmpty() && next.size > room)) {
				return new DueRecords(due, Duration.ofMillis(Math.max(0, next.dueMillis - nowMillis)));
			}
			FailedRecord record = wanted ? retry(shard, next.offset) : null;
			if (record != null) {
				due.add(record);
				room -= next.size;
			}
		}
		return new DueRecords(due, null);
	}

	private List<Waiting> waiting(ShardId shard, int limit) {
		List<Waiting> waiting = new ArrayList<>();
		this.rows.query(
				"select offset_value, due_at, record_size from %s where %s order by due_at".formatted(this.retry, KEY),
				limit, (row) -> {
					waiting.add(new Waiting(new Offset(RowOperations.text(row, 1)), row.getLong(2), row.getLong(3)));
					return true;
				}, this.shards.key(shard));
		waiting.sort(Waiting.ORDER);
		return waiting;
	}

	/** Passes all records of the retry queue, without payloads. */
	void waiting(ShardId shard, long nowMillis, Consumer<WaitingRecord> consumer) {
		this.rows.query("select offset_value, due_at, record_size, about from %s where %s".formatted(this.retry, KEY),
				RowOperations.NO_LIMIT, (row) -> {
					FailedRecord record = CheckpointJson.failedRecord(new Offset(RowOperations.text(row, 1)),
							RowOperations.bytes(row, 4), new byte[0]);
					consumer.accept(new WaitingRecord(record.offset(), record.key(), record.place(),
							Duration.ofMillis(Math.max(0, row.getLong(2) - nowMillis)), record.attempts(),
							record.exception(), record.failedAt(), row.getLong(3)));
					return true;
				}, this.shards.key(shard));
	}

	List<FailedRecord> retries(ShardId shard, List<Offset> offsets, long bytes) {
		List<FailedRecord> found = new ArrayList<>();
		long room = bytes;
		for (Offset offset : offsets) {
			FailedRecord record = (found.isEmpty() || room > 0) ? retry(shard, offset) : null;
			if (record != null) {
				if (!found.isEmpty() && record.size() > room) {
					break;
				}
				found.add(record);
				room -= record.size();
			}
		}
		return found;
	}

	int changeWaiting(ShardId shard, List<Offset> offsets, WaitingRecord.Change change, long nowMillis) {
		int changed = 0;
		for (Offset offset : offsets) {
			FailedRecord record = retry(shard, offset);
			if (record != null) {
				changed++;
				switch (change) {
					case RETRY_NOW -> writeRetry(shard, record, nowMillis);
					case SEND_BACK -> writeRetry(shard, record.withoutAttempts(), nowMillis);
					case DROP -> deleteRetry(shard, offset);
				}
			}
		}
		return changed;
	}

	private @Nullable FailedRecord retry(ShardId shard, Offset offset) {
		List<FailedRecord> found = this.jdbc.query(
				"select about, payload from %s where %s and offset_hash = ?".formatted(this.retry, KEY),
				(row, number) -> CheckpointJson.failedRecord(offset, RowOperations.bytes(row, 1),
						RowOperations.bytes(row, 2)),
				this.shards.key(shard, StoredText.hash(offset.value())));
		return found.isEmpty() ? null : found.get(0);
	}

	List<StoredDeadLetter> letters(ShardId shard, @Nullable String after, int limit) {
		List<StoredDeadLetter> found = new ArrayList<>();
		long[] bytes = { 0 };
		this.rows.query(
				"select letter_number, offset_value, about, payload from %s where %s and letter_number > ? order by letter_number"
					.formatted(this.letters, KEY),
				limit, (row) -> {
					StoredDeadLetter letter = letter(row);
					found.add(letter);
					bytes[0] += letter.record().size();
					return bytes[0] < BYTES_AT_ONCE;
				}, this.shards.key(shard, (after != null) ? number(after) : 0L));
		return found;
	}

	private static StoredDeadLetter letter(ResultSet row) throws SQLException {
		return new StoredDeadLetter(row.getLong(1) + LETTER_SUFFIX, CheckpointJson.failedRecord(
				new Offset(RowOperations.text(row, 2)), RowOperations.bytes(row, 3), RowOperations.bytes(row, 4)));
	}

	/** Returns the number in an id, -1 if no dead letter of this store has that id. */
	private static long number(String id) {
		int end = id.length() - LETTER_SUFFIX.length();
		boolean ours = id.endsWith(LETTER_SUFFIX) && end > 0 && end < 19
				&& id.chars().limit(end).allMatch((c) -> c >= '0' && c <= '9');
		return ours ? Long.parseLong(id.substring(0, end)) : -1;
	}

	@Nullable StoredDeadLetter letter(ShardId shard, String id) {
		List<StoredDeadLetter> found = this.jdbc
			.query("select letter_number, offset_value, about, payload from %s where %s and letter_number = ?"
				.formatted(this.letters, KEY), (row, number) -> letter(row), this.shards.key(shard, number(id)));
		return found.isEmpty() ? null : found.get(0);
	}

	/** Deletes a dead letter, and returns whether it existed. */
	boolean deleteLetter(ShardId shard, String id) {
		return this.jdbc.update("delete from %s where %s and letter_number = ?".formatted(this.letters, KEY),
				this.shards.key(shard, number(id))) == 1;
	}

	/**
	 * Deletes the oldest dead letters that are beyond a number or were stored before a
	 * time, and returns how many of them, at most {@value #EXPIRED_AT_ONCE}, it deleted.
	 */
	int expireLetters(ShardId shard, long tooMany, long oldestMillis) {
		List<Long> expired = new ArrayList<>();
		this.rows.query(
				"select letter_number, stored_at from %s where %s order by letter_number".formatted(this.letters, KEY),
				EXPIRED_AT_ONCE, (row) -> {
					boolean goes = expired.size() < tooMany || row.getLong(2) < oldestMillis;
					if (goes) {
						expired.add(row.getLong(1));
					}
					return goes;
				}, this.shards.key(shard));
		int deleted = 0;
		for (long number : expired) {
			deleted += this.jdbc.update("delete from %s where %s and letter_number = ?".formatted(this.letters, KEY),
					this.shards.key(shard, number));
		}
		return deleted;
	}

	long countLetters(ShardId shard) {
		return count(this.letters, shard);
	}

	/** Returns the number of the last dead letter that is there, 0 for none. */
	long lastLetter(ShardId shard) {
		Long number = this.jdbc.queryForObject(
				"select max(letter_number) from %s where %s".formatted(this.letters, KEY), Long.class,
				this.shards.key(shard));
		return (number != null) ? number : 0;
	}

	/** Deletes everything but the dead letters. */
	void deleteCheckpoint(ShardId shard) {
		delete(this.state, shard);
		delete(this.retry, shard);
		deleteTimers(shard);
	}

	void delete(ShardId shard) {
		deleteCheckpoint(shard);
		delete(this.letters, shard);
	}

	private void delete(String table, ShardId shard) {
		this.jdbc.update("delete from %s where %s".formatted(table, KEY), this.shards.key(shard));
	}

	@FunctionalInterface
	private interface KeyReader {

		void read(String hash, String key, long expiresAt);

	}

	private record Waiting(Offset offset, long dueMillis, long size) {

		private static final Comparator<Waiting> ORDER = Comparator.comparingLong(Waiting::dueMillis)
			.thenComparing((waiting) -> waiting.offset.value());

	}

}
