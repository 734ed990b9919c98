package io.github.shardkeeper.jdbc;

import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Users of PostgreSQL who own nothing. They may read and write the tables that exist in
 * their schema, and create none. Has no state.
 */
public final class LimitedUser {

	private static final String OWNER = "user=postgres";

	private LimitedUser() {
	}

	/** Returns a pool of connections of a new user to the database of its owner. */
	public static HikariDataSource of(HikariDataSource owner) {
		JdbcTemplate jdbc = new JdbcTemplate(owner);
		String schema = jdbc.queryForObject("select current_schema()", String.class);
		String user = "user" + UUID.randomUUID().toString().replace("-", "");
		jdbc.execute("create role %s login".formatted(user));
		jdbc.execute("grant usage on schema %s to %s".formatted(schema, user));
		jdbc.execute("grant select, insert, update, delete on all tables in schema %s to %s".formatted(schema, user));
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(owner.getJdbcUrl().replace(OWNER, "user=" + user));
		pool.setMinimumIdle(0);
		return pool;
	}

	/** Returns the user's name. */
	public static String name(HikariDataSource pool) {
		return new JdbcTemplate(pool).queryForObject("select current_user", String.class);
	}

}
