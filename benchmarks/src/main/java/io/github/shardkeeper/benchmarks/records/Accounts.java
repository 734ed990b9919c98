package io.github.shardkeeper.benchmarks.records;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Accounts in a database; each record adds 1 to one of them. Shards have no accounts in
 * common, so that no handler waits for another one. Thread-safe.
 *
 * @param jdbc the database
 * @param tally is told of every record once it is booked
 */
record Accounts(JdbcTemplate jdbc, Tally tally) {

	static final int PER_SHARD = 100;

	private static final String BOOK = "update account set cents = cents + 1 where id = ?";

	/** Creates the accounts again, without money. */
	static void create(JdbcTemplate jdbc, int shards) {
		jdbc.execute("drop table if exists account");
		jdbc.execute("create table account (id int primary key, cents bigint not null)");
		jdbc.batchUpdate("insert into account values (?, 0)",
				IntStream.range(0, shards * PER_SHARD).mapToObj((id) -> new Object[] { id }).toList());
	}

	/** Fails unless as much was booked as there are records. */
	static void verify(JdbcTemplate jdbc, long records) {
		Long booked = jdbc.queryForObject("select sum(cents) from account", Long.class);
		if (booked == null || booked != records) {
			throw new IllegalStateException(
					String.format(Locale.ROOT, "%,d records, but %,d were booked", records, booked));
		}
	}

	void book(byte[] payload) {
		this.jdbc.update(BOOK, account(payload));
		this.tally.handled(payload);
	}

	void book(List<byte[]> payloads) {
		this.jdbc.batchUpdate(BOOK, payloads, payloads.size(),
				(statement, payload) -> statement.setInt(1, account(payload)));
		payloads.forEach(this.tally::handled);
	}

	private static int account(byte[] payload) {
		return ByteBuffer.wrap(payload).getInt() * PER_SHARD + Tally.key(payload, PER_SHARD);
	}

}
