package io.github.shardkeeper.jdbc;

import org.junit.jupiter.api.Tag;

import com.zaxxer.hikari.HikariDataSource;

/** With the rights that the guide asks for, and no others. */
@Tag("proof")
class PostgresqlStoreTests extends JdbcStoreContracts {

	PostgresqlStoreTests() {
		super(PostgresqlStoreTests::create);
	}

	private static HikariDataSource create() {
		try (HikariDataSource owner = TestDatabase.POSTGRESQL.create()) {
			return LimitedUser.of(owner);
		}
	}

}
