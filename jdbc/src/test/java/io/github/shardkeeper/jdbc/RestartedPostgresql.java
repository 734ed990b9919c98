package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/** A PostgreSQL server. It stops in order. Confined to one thread. */
final class RestartedPostgresql implements RestartedDatabase {

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
			.setCleanDataDirectory(false);
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
	public void restart() {
		close();
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
