package io.github.shardkeeper.jdbc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointJson;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Outbox.Entry;
import io.github.shardkeeper.checkpoint.Outbox.Place;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Tables {@code outbox} and {@code sequence}: what the calls of a shard have sent, and
 * the number of its last record for each target. Both are written in the transaction of
 * the call, after it has moved the shard's row from the commit that the numbers were
 * counted from: so no number is given to two records. Databases of earlier versions have
 * neither; then no shard has an outbox. Thread-safe.
 */
final class OutboxTables {

	private static final String KEY = CheckpointTable.KEY;

	private static final String AFTER_PLACE = "(place_token > ? or place_token = ? and place_number > ?)";

	private final SchemaInitializer tables;

	private final TableSettings settings;

	private final JdbcTemplate jdbc;

	private final RowOperations rows;

	private final CheckpointTable shards;

	private final String outbox;

	private final String sequence;

	private final KeyedRows sequences;

	/** Whether the tables exist, {@code null} if that is not known yet. */
	private volatile @Nullable Boolean exist;

	OutboxTables(StoreTransactions steps, SchemaInitializer tables, TableSettings settings, CheckpointTable shards) {
		this.tables = tables;
		this.settings = settings;
		this.jdbc = steps.jdbc();
		this.rows = new RowOperations(steps.jdbc(), steps.jdbcUnderLock());
		this.shards = shards;
		this.outbox = settings.prefix() + "outbox";
		this.sequence = settings.prefix() + "sequence";
		this.sequences = new KeyedRows(steps, this.sequence, "target_hash", List.of("target"),
				List.of("era", "sent_number", "place_token", "place_number"));
	}

	/**
	 * Checks that the tables can be used, before a handler needs them.
	 * @throws ShardkeeperConfigurationException if one cannot
	 * @throws StoreUnavailableException if the database does not reply
	 */
	void require(String topic) {
		for (String table : List.of(this.outbox, this.sequence)) {
			StoreUnavailableException refusal = this.tables.refusal(table);
			if (refusal != null) {
				boolean denied = DatabaseFailure.lacksRight(refusal);
				throw new ShardkeeperConfigurationException(
						"A handler of the topic '%s' takes a ShardOutput, but %s '%s': what its calls send would be written there, in their transactions."
							.formatted(topic,
									denied ? "the application's database user may not read the table"
											: "the database has no table",
									table),
						!denied ? create() : TableAdvice.grant(this.settings)
								+ (DatabaseFailure.mayHideTable(refusal) ? " It may also not exist. " + create() : ""));
			}
		}
		this.exist = true;
	}

	private String create() {
		return TableAdvice.create(this.settings, "the last two statements of %s (earlier versions did not have them)"
			.formatted(TableAdvice.script(this.tables.database())));
	}

	/** Returns whether the tables exist. Not in a transaction, because asking ends it. */
	boolean exist() {
		Boolean known = this.exist;
		if (known == null) {
			known = this.tables.refusal(this.outbox) == null && this.tables.refusal(this.sequence) == null;
			this.exist = known;
		}
		return known;
	}

	/** Reads what a new owner begins with. */
	Outbox read(ShardId shard) {
		long[] era = { 0 };
		Place[] last = { new Place(0, 0) };
		Map<ShardId, Long> numbers = new HashMap<>();
		this.jdbc.query("select target, era, sent_number, place_token, place_number from %s where %s"
			.formatted(this.sequence, KEY), (row) -> {
				Place place = new Place(row.getLong(4), row.getLong(5));
				era[0] = Math.max(era[0], row.getLong(2));
				last[0] = (place.compareTo(last[0]) > 0) ? place : last[0];
				if (row.getLong(3) > 0) {
					numbers.put(ShardId.parse(Objects.requireNonNull(row.getString(1))), row.getLong(3));
				}
			}, this.shards.key(shard));
		if (era[0] == 0) {
			return Outbox.EMPTY;
		}
		return new Outbox(era[0], (last[0].token() != 0) ? last[0] : null, numbers, count(shard));
	}

	private long count(ShardId shard) {
		Long number = this.jdbc.queryForObject("select count(*) from %s where %s".formatted(this.outbox, KEY),
				Long.class, this.shards.key(shard));
		return (number != null) ? number : 0;
	}

	/** Reads a page; see {@link io.github.shardkeeper.checkpoint.CheckpointStore}. */
	List<Entry> read(ShardId shard, @Nullable Place after, int limit, long bytes) {
		Place begin = (after != null) ? after : new Place(0, 0);
		List<Entry> page = new ArrayList<>();
		long[] room = { bytes };
		this.rows.query(
				"select place_token, place_number, target, about, payload from %s where %s and %s order by place_token, place_number"
					.formatted(this.outbox, KEY, AFTER_PLACE),
				limit, (row) -> {
					Place place = new Place(row.getLong(1), row.getLong(2));
					Entry entry = CheckpointJson.outboxEntry(place,
							ShardId.parse(Objects.requireNonNull(row.getString(3))), RowOperations.bytes(row, 4),
							RowOperations.bytes(row, 5));
					room[0] -= entry.size();
					if (room[0] < 0 && !page.isEmpty()) {
						return false;
					}
					page.add(entry);
					return true;
				}, this.shards.key(shard, begin.token(), begin.token(), begin.number()));
		return page;
	}

	/** Writes a commit's changes; the shard's row is locked by it. */
	void write(ShardId shard, Outbox.Changes changes) {
		if (changes.isEmpty()) {
			return;
		}
		Place last = (changes.last() != null) ? changes.last() : new Place(0, 0);
		if (changes.whole()) {
			this.rows.change("delete from %s where %s".formatted(this.outbox, KEY),
					List.<Object[]>of(this.shards.key(shard)));
			Object[] key = this.shards.key(shard);
			// The era stays if nothing is left to be sent.
			this.rows.change(
					"update %s set sent_number = 0, era = ?, place_token = ?, place_number = ? where %s"
						.formatted(this.sequence, KEY),
					List.<Object[]>of(
							new Object[] { changes.era(), last.token(), last.number(), key[0], key[1], key[2] }));
		}
		this.rows.change("delete from %s where %s and place_token = ? and place_number = ?".formatted(this.outbox, KEY),
				changes.removed()
					.stream()
					.map((place) -> this.shards.key(shard, place.token(), place.number()))
					.toList());
		writeNumbers(shard, changes, last);
		this.rows.change(
				"insert into %s (group_name, topic, shard_id, place_token, place_number, target, about, payload) values (?, ?, ?, ?, ?, ?, ?, ?)"
					.formatted(this.outbox),
				changes.added()
					.stream()
					.map((entry) -> this.shards.key(shard, entry.place().token(), entry.place().number(),
							entry.target().toString(), CheckpointJson.about(entry), entry.payload()))
					.toList());
	}

	private void writeNumbers(ShardId shard, Outbox.Changes changes, Place last) {
		List<KeyedRows.Row> rows = new ArrayList<>();
		changes.numbers()
			.forEach((target, number) -> rows
				.add(new KeyedRows.Row(StoredText.hash(target.toString()), new Object[] { target.toString() },
						new Object[] { changes.era(), number, last.token(), last.number() })));
		this.sequences.put(this.shards.key(shard), rows);
	}

	void delete(ShardId shard) {
		for (String table : List.of(this.outbox, this.sequence)) {
			this.jdbc.update("delete from %s where %s".formatted(table, KEY), this.shards.key(shard));
		}
	}

}
