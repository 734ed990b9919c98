package io.github.shardkeeper.benchmarks.records;

import java.io.IOException;
import java.io.UncheckedIOException;

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
	 * Replies with its {@code port}.
	 * @param arguments {@code on} or {@code off}: whether a commit waits for the disk
	 */
	public static void main(String[] arguments) throws IOException {
		EmbeddedPostgres server = EmbeddedPostgres.builder()
			.setServerConfig("fsync", arguments[0])
			.setServerConfig("synchronous_commit", arguments[0])
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server)));
		Figures.serve((request) -> Figures.print("port", server.getPort()));
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
