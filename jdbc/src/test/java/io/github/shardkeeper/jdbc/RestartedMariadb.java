package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A MariaDB server. Confined to one thread. */
final class RestartedMariadb extends RestartedMysqlOrMariadb {

	/** The owner of everything, from this machine and without a password. */
	private static final String ROOT = "insert into global_priv values ('127.0.0.1', 'root', '{\"access\":18446744073709551615}');";

	private final MariadbProgram program = MariadbProgram.unpacked();

	private final Path data;

	RestartedMariadb(Path data) {
		super(data.resolveSibling(data.getFileName() + ".log"));
		this.data = data;
		createData();
		begin();
	}

	/** As the script {@code mariadb-install-db} does. */
	private void createData() {
		try (Stream<String> systemTables = this.program.systemTables()) {
			Files.createDirectories(this.data);
			Process created = launch(command(List.of("--bootstrap")));
			try (Writer statements = created.outputWriter()) {
				statements.write("create database mysql;\nuse mysql;\n");
				for (String line : (Iterable<String>) systemTables::iterator) {
					statements.write(line + "\n");
				}
				statements.write(ROOT + "\ncreate database app;\n");
			}
			if (created.onExit().join().exitValue() != 0) {
				throw new IllegalStateException("MariaDB has no data, see " + log());
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private List<String> command(List<String> options) {
		return Stream.concat(this.program.command(this.data), options.stream()).toList();
	}

	@Override
	List<String> command() {
		// Without keys for TLS, which take seconds.
		return command(List.of("--port=" + port(), "--bind-address=127.0.0.1", "--skip-name-resolve",
				"--socket=" + this.data.resolve("socket"), "--skip-ssl", "--max-connections=300",
				// A commit is in the hands of the operating system when it is answered.
				"--innodb-flush-log-at-trx-commit=2"));
	}

	@Override
	String url(String database) {
		return "jdbc:mariadb://127.0.0.1:%d/%s?user=root".formatted(port(), database);
	}

	@Override
	public String endingIdleTransactions() {
		return "&sessionVariables=idle_transaction_timeout=2";
	}

}
