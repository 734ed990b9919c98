package io.github.shardkeeper.jdbc;

import java.time.Duration;
import java.time.InstantSource;

import javax.sql.DataSource;

import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.shard.ShardId;

/**
 * Creates data planes by a test's clock, for tests of other packages. Has no state.
 */
public final class TestDataPlane {

	private TestDataPlane() {
	}

	public static JdbcDataPlane create(DataSource dataSource, String group, InstantSource clock) {
		return new JdbcDataPlane(new JdbcTransactionManager(dataSource), dataSource, DatabaseServer.TABLE_SETTINGS,
				group, Duration.ofSeconds(1), clock);
	}

	/** Writes what a commit changes in the outbox, in a transaction of its own. */
	public static void writeOutbox(JdbcDataPlane plane, ShardId shard, Outbox.Changes changes) {
		plane.steps().run("write the outbox", () -> {
			plane.outbox().write(shard, changes);
			return true;
		});
	}

}
