package io.github.shardkeeper.jdbc;

class PostgresqlStoreTests extends JdbcStoreContracts {

	PostgresqlStoreTests() {
		super(TestDatabase.POSTGRESQL);
	}

}
