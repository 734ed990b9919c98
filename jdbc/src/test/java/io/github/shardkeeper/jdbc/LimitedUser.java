package io.github.shardkeeper.jdbc;

import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Users of PostgreSQL, MariaDB or MySQL who own nothing. They may read and write the
 * tables that exist in their schema, and create none. Has no state.
 */
public final class LimitedUser {

	private LimitedUser() {
	}

	/** Returns a pool of connections of a new user to the database of its owner. */
	public static HikariDataSource of(HikariDataSource owner) {
		JdbcTemplate jdbc = new JdbcTemplate(owner);
		// A name in MySQL has 32 characters.
		String user = "user" + UUID.randomUUID().toString().replace("-", "").substring(4);
		if (isMysqlOrMariadb(owner)) {
			createInMysql(jdbc, user);
		}
		else {
			createInPostgresql(jdbc, user);
		}
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(owner.getJdbcUrl().replaceAll("user=(postgres|root)", "user=" + user));
		pool.setMinimumIdle(0);
		return pool;
	}

	private static boolean isMysqlOrMariadb(HikariDataSource pool) {
		return pool.getJdbcUrl().matches("jdbc:(mariadb|mysql):.*");
	}

	private static void createInPostgresql(JdbcTemplate jdbc, String user) {
		String schema = jdbc.queryForObject("select current_schema()", String.class);
		jdbc.execute("create role %s login".formatted(user));
		jdbc.execute("grant usage on schema %s to %s".formatted(schema, user));
		jdbc.execute("grant select, insert, update, delete on all tables in schema %s to %s".formatted(schema, user));
	}

	/** Only who has some right in a schema may connect to it. */
	private static void createInMysql(JdbcTemplate jdbc, String user) {
		jdbc.execute("create user " + user);
		jdbc.execute("grant execute on * to " + user);
		jdbc.queryForList("select table_name from information_schema.tables where table_schema = database()",
				String.class)
			.forEach(
					(table) -> jdbc.execute("grant select, insert, update, delete on %s to %s".formatted(table, user)));
	}

	/** Returns the user's name. */
	public static String name(HikariDataSource pool) {
		return new JdbcTemplate(pool).queryForObject(
				isMysqlOrMariadb(pool) ? "select substring_index(current_user(), '@', 1)" : "select current_user",
				String.class);
	}

}
