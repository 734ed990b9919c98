package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;

/**
 * A MariaDB server. A restart stops it in order; {@link #stop} kills it. It loses nothing
 * of what it has acknowledged unless the machine fails. Confined to one thread.
 */
final class RestartedMariadb implements RestartedDatabase {

	private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

	/** The owner of everything, from this machine and without a password. */
	private static final String ROOT = "insert into global_priv values ('127.0.0.1', 'root', '{\"access\":18446744073709551615}');";

	private final MariadbProgram program = MariadbProgram.unpacked();

	private final Path data;

	private final Path log;

	private final int port = LocalPort.free();

	private final Thread killer = new Thread(this::kill, "mariadb-killer");

	private volatile Process server;

	RestartedMariadb(Path data) {
		this.data = data;
		this.log = data.resolveSibling(data.getFileName() + ".log");
		createData();
		this.server = start();
		Runtime.getRuntime().addShutdownHook(this.killer);
	}

	/** As the script {@code mariadb-install-db} does. */
	private void createData() {
		try (Stream<String> systemTables = this.program.systemTables()) {
			Files.createDirectories(this.data);
			Process created = start(List.of("--bootstrap"));
			try (Writer statements = created.outputWriter()) {
				statements.write("create database mysql;\nuse mysql;\n");
				for (String line : (Iterable<String>) systemTables::iterator) {
					statements.write(line + "\n");
				}
				statements.write(ROOT + "\ncreate database app;\n");
			}
			if (created.onExit().join().exitValue() != 0) {
				throw new IllegalStateException("MariaDB has no data, see " + this.log);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Process start(List<String> options) {
		try {
			return new ProcessBuilder(Stream.concat(this.program.command(this.data), options.stream()).toList())
				.redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.appendTo(this.log.toFile()))
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Process start() {
		// Without keys for TLS, which take seconds.
		Process started = start(List.of("--port=" + this.port, "--bind-address=127.0.0.1", "--skip-name-resolve",
				"--socket=" + this.data.resolve("socket"), "--skip-ssl", "--max-connections=300",
				// A commit is in the hands of the operating system when it is answered.
				"--innodb-flush-log-at-trx-commit=2"));
		Awaitility.await("MariaDB, see " + this.log)
			.atMost(LONGEST_WAIT)
			.until(() -> LocalPort.accepts(this.port) || !started.isAlive());
		return started;
	}

	@Override
	public String url() {
		return url("app");
	}

	String url(String database) {
		return "jdbc:mariadb://127.0.0.1:%d/%s?user=root".formatted(this.port, database);
	}

	@Override
	public void restart() {
		this.server.destroy();
		this.server.onExit().join();
		startAgain();
	}

	@Override
	public void stop() {
		kill();
	}

	@Override
	public void startAgain() {
		this.server = start();
	}

	void kill() {
		this.server.destroyForcibly();
		this.server.onExit().join();
	}

	@Override
	public void close() {
		kill();
		Runtime.getRuntime().removeShutdownHook(this.killer);
	}

}
