package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.awaitility.Awaitility;

/**
 * A PostgreSQL server. A restart stops it in order; {@link #stop} is like a crash.
 * Confined to one thread.
 */
final class RestartedPostgresql implements RestartedDatabase {

	private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

	private final Path data;

	private final int port;

	private EmbeddedPostgres server;

	RestartedPostgresql(Path data) {
		this.data = data;
		this.server = start(0);
		this.port = this.server.getPort();
	}

	private EmbeddedPostgres start(int wanted) {
		EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
			.setDataDirectory(this.data)
			.setCleanDataDirectory(false)
			.setPGStartupWait(LONGEST_WAIT)
			// Written before a commit is answered, so that a crash loses none.
			.setServerConfig("synchronous_commit", "on");
		if (wanted != 0) {
			builder.setPort(wanted);
		}
		try {
			return builder.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public String url() {
		return this.server.getJdbcUrl("postgres", "postgres");
	}

	@Override
	public String endingIdleTransactions() {
		return "&options=-c%20idle_in_transaction_session_timeout=2000";
	}

	@Override
	public void restart() {
		close();
		startAgain();
	}

	/**
	 * Immediately: PostgreSQL ends the processes of all connections without a reply, and
	 * recovers from its log at the next start.
	 */
	@Override
	public void stop() {
		Path process = this.data.resolve("postmaster.pid");
		try {
			String id = Files.readAllLines(process).get(0).trim();
			new ProcessBuilder("kill", "-QUIT", id).start().waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		Awaitility.await("the end of PostgreSQL").atMost(LONGEST_WAIT).until(() -> Files.notExists(process));
		// Logs that the server cannot be stopped, and frees its directory.
		close();
	}

	@Override
	public void startAgain() {
		this.server = start(this.port);
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
