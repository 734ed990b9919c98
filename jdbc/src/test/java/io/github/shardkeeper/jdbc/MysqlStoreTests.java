package io.github.shardkeeper.jdbc;

import com.zaxxer.hikari.HikariDataSource;

/** With the rights that the guide asks for, and no others. */
class MysqlStoreTests extends JdbcStoreContracts {

	MysqlStoreTests() {
		super(MysqlStoreTests::create);
	}

	private static HikariDataSource create() {
		try (HikariDataSource owner = TestDatabase.MYSQL.create()) {
			return LimitedUser.of(owner);
		}
	}

}
