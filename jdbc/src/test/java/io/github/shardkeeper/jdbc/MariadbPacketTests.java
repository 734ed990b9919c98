package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.shardkeeper.checkpoint.CallTransactions.Result;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A server that accepts one megabyte at a time, and ends connections that send more. */
@Tag("proof")
class MariadbPacketTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(7);

	private HikariDataSource owner;

	private HikariDataSource pool;

	private CheckpointStore store;

	private Acquired acquired;

	private long before;

	@BeforeAll
	static void assumeRunnable() {
		TestDatabase.MARIADB.assumeRunnable();
	}

	@BeforeEach
	void create() {
		this.owner = TestDatabase.MARIADB.create();
		JdbcTemplate jdbc = new JdbcTemplate(this.owner);
		jdbc.execute("create table booked (id int, text longtext)");
		this.before = jdbc.queryForObject("select @@global.max_allowed_packet", Long.class);
		jdbc.execute("set global max_allowed_packet = 1048576");
		this.pool = new HikariDataSource();
		this.pool.setJdbcUrl(this.owner.getJdbcUrl());
		JdbcDataPlane plane = new DatabaseServer(this.pool).database();
		plane.prepare(null);
		this.store = plane.checkpoints(null);
		this.acquired = (Acquired) this.store.acquireNow(SHARD, TOKEN);
	}

	@AfterEach
	void close() {
		new JdbcTemplate(this.owner).execute("set global max_allowed_packet = " + this.before);
		this.store.close();
		this.pool.close();
		this.owner.close();
	}

	/** The database works, so the call is the reason, if it is repeated. */
	@Test
	void failureOfAStatementOfTheHandlerThatIsTooLargeNamesTheSetting() {
		JdbcTemplate jdbc = new JdbcTemplate(this.pool);

		assertThat(
				call(() -> jdbc.update("insert into booked (id, text) values (1, ?)", "x".repeat(2_000_000)), Map.of()))
			.isInstanceOfSatisfying(Result.ConnectionLost.class,
					(lost) -> assertThat(lost.failure()).hasMessageContaining("'max_allowed_packet'"));
	}

	@Test
	void problemOfAnEntryOfStateThatIsTooLargeNamesTheSetting() {
		assertThat(call(() -> {
		}, Map.of("key", "x".repeat(2_000_000)))).isInstanceOfSatisfying(Result.Unavailable.class,
				(unavailable) -> assertThat(unavailable.failure()).hasMessageContaining("'max_allowed_packet'"));
	}

	@Test
	void problemOfAFailedRecordThatIsTooLargeNamesTheSetting() {
		FailedRecord record = new FailedRecord(new Offset("1"), null, new byte[2_000_000], Map.of(), Instant.EPOCH, 1,
				1, "e", "s", Instant.EPOCH);
		Commit commit = new Commit(new CommitNumber(1, 0, this.acquired.acquisition()), new Offset("1"), Set.of(),
				Map.of(), List.of(new Commit.Retry(record, Duration.ZERO)), Set.of(), List.of());

		assertThatThrownBy(() -> this.store.commit(SHARD, TOKEN, commit).join())
			.hasMessageContaining("max_allowed_packet");
	}

	private Result call(Runnable handler, Map<String, String> state) {
		Commit commit = new Commit(new CommitNumber(1, 0, this.acquired.acquisition()), new Offset("1"), Set.of(),
				new HashMap<>(state), List.of(), Set.of(), List.of());
		return this.store.transactions(SHARD.topic()).call(SHARD, TOKEN, new TestCall(handler, commit));
	}

}
