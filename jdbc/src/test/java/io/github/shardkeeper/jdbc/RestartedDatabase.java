package io.github.shardkeeper.jdbc;

import java.nio.file.Path;

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
		};
	}

	/** Returns the address of the database. */
	String url();

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
