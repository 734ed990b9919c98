package io.github.shardkeeper.jdbc;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A database server that can be restarted with its data, on the same port. Its open
 * transactions are aborted then. Confined to one thread.
 */
public interface RestartedDatabase extends AutoCloseable {

	/** Starts a server with its data in a directory. */
	static RestartedDatabase start(TestDatabase kind, Path data) {
		return switch (kind) {
			case H2 -> new RestartedH2(data);
			case POSTGRESQL -> new RestartedPostgresql(data);
			case MARIADB -> new RestartedMariadb(data);
			case MYSQL -> new RestartedMysql(data);
		};
	}

	/** Returns the address of the database. */
	String url();

	/**
	 * Returns the part of an address that has the server end transactions that nobody
	 * continues for two seconds, because their process is frozen; empty if it cannot.
	 */
	String endingIdleTransactions();

	/**
	 * Returns the arguments of an application that uses the database through a pool.
	 * @param endsIdleTransactions whether {@link #endingIdleTransactions} applies
	 */
	default List<String> arguments(boolean endsIdleTransactions) {
		return new ArrayList<>(
				List.of("--spring.datasource.url=" + url() + (endsIdleTransactions ? endingIdleTransactions() : ""),
						"--spring.datasource.hikari.connection-timeout=2000"));
	}

	/** Stops the server and starts it again. */
	void restart();

	/**
	 * Stops the server. It keeps what it has acknowledged, and may keep transactions
	 * whose commit it has not answered.
	 */
	void stop();

	/** Starts the server after {@link #stop}. */
	void startAgain();

	@Override
	void close();

}
