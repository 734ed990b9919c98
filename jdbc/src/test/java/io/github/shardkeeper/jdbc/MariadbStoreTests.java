package io.github.shardkeeper.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** With the rights that the guide asks for, and no others. */
@Tag("proof")
class MariadbStoreTests extends JdbcStoreContracts {

	@BeforeAll
	static void assumeRunnable() {
		TestDatabase.MARIADB.assumeRunnable();
	}

	MariadbStoreTests() {
		super(MariadbStoreTests::create);
	}

	private static HikariDataSource create() {
		try (HikariDataSource owner = TestDatabase.MARIADB.create()) {
			return LimitedUser.of(owner);
		}
	}

}
