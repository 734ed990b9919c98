package io.github.shardkeeper.benchmarks.consuming;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import io.github.shardkeeper.benchmarks.ChildProcess.Figures;

/**
 * A process that starts a PostgreSQL for tests, and stops it when it ends. Has no state.
 */
final class DatabaseProcess {

	private DatabaseProcess() {
	}

	/** Returns the address of a database on this machine. */
	static String url(int port) {
		return "jdbc:postgresql://localhost:%d/postgres?user=postgres".formatted(port);
	}

	/**
	 * Answers with {@code port} and {@code version}.
	 * @param arguments {@code on} or {@code off}: whether a commit waits for the disk
	 */
	public static void main(String[] arguments) throws IOException, SQLException {
		EmbeddedPostgres server = EmbeddedPostgres.builder()
			.setServerConfig("fsync", arguments[0])
			.setServerConfig("synchronous_commit", arguments[0])
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server)));
		String version;
		try (Connection connection = server.getPostgresDatabase().getConnection()) {
			DatabaseMetaData about = connection.getMetaData();
			version = about.getDatabaseMajorVersion() + "." + about.getDatabaseMinorVersion();
		}
		Figures.serve(() -> Figures.print("port", server.getPort(), "version", version));
	}

	private static void close(EmbeddedPostgres server) {
		try {
			server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
