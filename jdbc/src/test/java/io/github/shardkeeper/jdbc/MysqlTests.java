package io.github.shardkeeper.jdbc;

import java.util.Map;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.CallTransactions.Result;

import static org.assertj.core.api.Assertions.assertThat;

/** What settings of MySQL, and of its driver, change. */
@Tag("proof")
class MysqlTests extends MysqlSettingsContract {

	@BeforeAll
	static void assumeRunnable() {
		TestDatabase.MYSQL.assumeRunnable();
	}

	MysqlTests() {
		super(TestDatabase.MYSQL);
	}

	/** Its snapshot is older than the new owner's token. */
	@Test
	void earlierOwnerThatHasReadBeforeTheAcquisitionIsRolledBack() {
		open("");
		Acquired old = acquire(SHARD, OLD);
		Result result = call(OLD, commit(old, 1, 0, Map.of()), () -> {
			assertThat(count()).isZero();
			acquire(SHARD, NEW);
			book();
		});

		assertThat(result).isInstanceOf(Result.Stale.class);
		assertThat(count()).isZero();
	}

	/** Its driver refuses it, and keeps the connection. */
	@Test
	void statementThatIsTooLargeFailsTheCall() {
		open("maxAllowedPacket=1048576");
		Acquired acquired = acquire(SHARD, OLD);
		JdbcTemplate jdbc = new JdbcTemplate(this.pool);
		jdbc.execute("create table large (text longtext)");

		assertThat(call(OLD, commit(acquired, 1, 0, Map.of()),
				() -> jdbc.update("insert into large (text) values (?)", "x".repeat(2_000_000))))
			.isInstanceOfSatisfying(Result.Failed.class,
					(failed) -> assertThat(failed.failure()).hasMessageContaining("max_allowed_packet"));
		assertThat(call(OLD, commit(acquired, 2, 0, Map.of()), this::book)).isInstanceOf(Result.Committed.class);
	}

}
