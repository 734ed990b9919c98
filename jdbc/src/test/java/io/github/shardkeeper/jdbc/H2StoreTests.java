package io.github.shardkeeper.jdbc;

class H2StoreTests extends JdbcStoreContracts {

	H2StoreTests() {
		super(TestDatabase.H2::create);
	}

}
