package io.github.shardkeeper.jdbc;

import java.util.Map;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;
import io.github.shardkeeper.checkpoint.CallTransactions.Result;

import static org.assertj.core.api.Assertions.assertThat;

/** What settings of MariaDB, and of its driver, change. */
@Tag("proof")
class MariadbTests extends MysqlSettingsContract {

	@BeforeAll
	static void assumeRunnable() {
		TestDatabase.MARIADB.assumeRunnable();
	}

	MariadbTests() {
		super(TestDatabase.MARIADB);
	}

	/**
	 * Its snapshot is older than the new owner's token. The fence needs the newest row.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "sessionVariables=innodb_snapshot_isolation=OFF",
			"sessionVariables=innodb_snapshot_isolation=ON" })
	void earlierOwnerThatHasReadBeforeTheAcquisitionIsRolledBack(String options) {
		open(options);
		Acquired old = acquire(SHARD, OLD);
		Result result = call(OLD, commit(old, 1, 0, Map.of()), () -> {
			assertThat(count()).isZero();
			acquire(SHARD, NEW);
			book();
		});

		assertThat(result).isInstanceOfAny(Result.Stale.class, Result.Unavailable.class);
		assertThat(count()).isZero();
		assertThat(call(OLD, commit(old, 2, 0, Map.of()), this::book)).isInstanceOf(Result.Stale.class);
		assertThat(count()).isZero();
	}

	/** MariaDB ends the transaction with an error of its own, not as a deadlock. */
	@Test
	void rowThatIsNewerThanTheSnapshotOfTheCallIsAConflict() {
		open("sessionVariables=innodb_snapshot_isolation=ON");
		Acquired acquired = acquire(SHARD, OLD);
		JdbcTemplate other = new JdbcTemplate(this.owner);
		other.update("insert into booked (id) values (1)");
		JdbcTemplate jdbc = new JdbcTemplate(this.pool);

		assertThat(call(OLD, commit(acquired, 1, 0, Map.of()), () -> {
			assertThat(count()).isOne();
			other.update("update booked set id = 2");
			jdbc.update("update booked set id = 3");
		})).isInstanceOf(Result.Conflict.class);
	}

}
