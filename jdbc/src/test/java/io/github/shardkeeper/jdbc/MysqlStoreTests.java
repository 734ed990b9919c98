package io.github.shardkeeper.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** With the rights that the guide asks for, and no others. */
@Tag("proof")
class MysqlStoreTests extends JdbcStoreContracts {

	@BeforeAll
	static void assumeRunnable() {
		TestDatabase.MYSQL.assumeRunnable();
	}

	MysqlStoreTests() {
		super(MysqlStoreTests::create);
	}

	private static HikariDataSource create() {
		try (HikariDataSource owner = TestDatabase.MYSQL.create()) {
			return LimitedUser.of(owner);
		}
	}

}
