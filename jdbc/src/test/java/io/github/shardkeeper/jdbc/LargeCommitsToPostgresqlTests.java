package io.github.shardkeeper.jdbc;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.TimerId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What PostgreSQL reads for large commits to tables that it knows as empty ones, until it
 * analyzes them the next time. It counts blocks, so that the result does not depend on
 * how fast the machine is.
 */
@Tag("proof")
class LargeCommitsToPostgresqlTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(7);

	private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

	private static final int ROWS = 5_000;

	/**
	 * Half of it are read: for a row in all three commits, some of each index and table.
	 */
	private static final int BLOCKS_PER_ROW = 100;

	/** After so many runs, PostgreSQL keeps the plan of a statement. */
	private static final int RUNS = 12;

	private DatabaseServer server;

	private JdbcTemplate jdbc;

	private CheckpointStore store;

	private long commits;

	@BeforeEach
	void open() {
		HikariDataSource pool = TestDatabase.POSTGRESQL.create();
		// The plans are those of a connection.
		pool.setMaximumPoolSize(1);
		this.server = new DatabaseServer(pool);
		this.jdbc = this.server.jdbc();
		this.store = this.server.store();
		assertThat(this.store.acquireNow(SHARD, TOKEN)).isInstanceOf(CheckpointStore.Acquisition.Acquired.class);
	}

	@AfterEach
	void close() {
		this.store.close();
		this.server.close();
	}

	@Test
	void tablesThatWereNeverAnalyzed() {
		assertThat(blocksOfLargeCommits()).isLessThan(ROWS * BLOCKS_PER_ROW);
	}

	@Test
	void tablesThatWereAnalyzedWhileTheyWereEmpty() {
		for (int i = 0; i < RUNS; i++) {
			commitTwiceAndRemove(1);
			this.jdbc.execute("vacuum (analyze) shardkeeper_timer");
			this.jdbc.execute("vacuum (analyze) shardkeeper_state");
		}

		assertThat(blocksOfLargeCommits()).isLessThan(ROWS * BLOCKS_PER_ROW);
	}

	private long blocksOfLargeCommits() {
		long before = blocks();
		commitTwiceAndRemove(ROWS);
		return blocks() - before;
	}

	private long blocks() {
		this.jdbc.execute("select pg_stat_force_next_flush()");
		Long blocks = this.jdbc.queryForObject(
				"select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit) from pg_statio_user_tables where schemaname = current_schema() and relname in ('shardkeeper_timer', 'shardkeeper_state')",
				Long.class);
		return (blocks != null) ? blocks : 0;
	}

	private void commitTwiceAndRemove(int rows) {
		commit(rows, NOON);
		commit(rows, NOON.plusSeconds(1));
		commit(rows, null);
		assertThat(this.store.countTimers(SHARD)).isZero();
	}

	private void commit(int rows, @Nullable Instant due) {
		Map<String, @Nullable String> state = new HashMap<>();
		Map<TimerId, @Nullable Instant> timers = new HashMap<>();
		for (int i = 0; i < rows; i++) {
			state.put("key-" + i, (due != null) ? due.toString() : null);
			timers.put(new TimerId("key-" + i, "t"), due);
		}
		long last = this.commits++;
		Commit commit = new Commit.Builder(new CommitNumber(last + 1, last, 0), new Offset("5"), Set.of())
			.changes(state)
			.timers(timers)
			.build();
		assertThat(this.store.commit(SHARD, TOKEN, commit).join()).isEqualTo(CommitReply.COMMITTED);
	}

}
