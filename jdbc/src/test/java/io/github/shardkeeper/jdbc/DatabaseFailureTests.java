package io.github.shardkeeper.jdbc;

import java.sql.SQLException;
import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.UncategorizedSQLException;

import static org.assertj.core.api.Assertions.assertThat;

class DatabaseFailureTests {

	/**
	 * Connector/J of MySQL gives it the state of class 40 that the server does not send.
	 */
	@Test
	void waitForALockThatMysqlHasEndedIsNoConflict() {
		SQLException failure = new SQLException("Lock wait timeout exceeded; try restarting transaction", "40001",
				1205);

		assertThat(DatabaseFailure.isConflict(failure)).isFalse();
		assertThat(DatabaseFailure.isLockWait(failure)).isTrue();
	}

	/** The same code in SQL Server. */
	@Test
	void deadlockInSqlServerIsAConflict() {
		assertThat(DatabaseFailure.isConflict(
				new SQLException("Transaction (Process ID 52) was deadlocked on lock resources", "40001", 1205)))
			.isTrue();
	}

	/** Spring does not know its state. */
	@Test
	void missingTableInSqlServerIsKnown() {
		SQLException missing = new SQLException("Invalid object name 'shardkeeper_shard'.", "S0002", 208);

		assertThat(DatabaseFailure.explain("commit", new UncategorizedSQLException("commit", "update ...", missing),
				Duration.ofSeconds(10), new TableSettings("shardkeeper_", false), "sqlserver"))
			.hasMessageContaining("Create the tables")
			.hasMessageContaining("schema-sqlserver.sql");
	}

	/** MySQL uses the state 42000 for much that is not the grammar of a statement. */
	@Test
	void limitOfAUserIsNoMissingTable() {
		SQLException limit = new SQLException("User 'app' has exceeded the 'max_updates' resource (current value: 1)",
				"42000", 1226);

		assertThat(DatabaseFailure.explain("commit", new BadSqlGrammarException("commit", "update ...", limit),
				Duration.ofSeconds(10), new TableSettings("shardkeeper_", false), "mysql"))
			.message()
			.doesNotContain("Create the tables");
	}

}
