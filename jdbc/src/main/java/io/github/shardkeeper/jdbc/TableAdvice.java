package io.github.shardkeeper.jdbc;

/**
 * What a user can do if the database refuses to use or create the tables. Has no state.
 */
final class TableAdvice {

	static final String WRITABLE = "The connections of the DataSource are read-only: set "
			+ "'spring.datasource.hikari.read-only' to 'false', and let 'spring.datasource.url' lead to the primary server, "
			+ "not to a read replica (or change these settings of your own DataSource bean).";

	private TableAdvice() {
	}

	/** Returns how the application gets the rights that it needs. */
	static String grant(TableSettings tables) {
		return "Grant the application's database user select, insert, update and delete on all tables whose names begin with '%s'."
			.formatted(tables.prefix());
	}

	/**
	 * Returns how a table that cannot be found comes into the database.
	 * @param statements the statements that create it
	 */
	static String create(TableSettings tables, String statements) {
		return tables.created()
				? "Tables are created when the application starts, as 'shardkeeper.jdbc.initialize-schema' says. If they "
						+ "were removed since then, their contents are lost: start the application again to create them. "
						+ "Otherwise give all connections of the DataSource the same schema."
				: "Create the tables with %s, or set 'shardkeeper.jdbc.initialize-schema' to 'always'. If they exist, check 'shardkeeper.jdbc.table-prefix', the schema of the connections, and the user's rights on that schema."
					.formatted(statements);
	}

	/** Returns the name of the script that creates the tables in a database. */
	static String script(String database) {
		return "the script io/github/shardkeeper/jdbc/schema-%s.sql in shardkeeper-jdbc".formatted(database);
	}

}
