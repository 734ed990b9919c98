package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/** A server of the MySQL that the environment names. Confined to one thread. */
final class RestartedMysql extends RestartedMysqlOrMariadb {

	/**
	 * System property or environment variable with the path of a {@code mysqld}, or of a
	 * script that runs one with the arguments that it gets.
	 */
	static final String PROGRAM = "SHARDKEEPER_TEST_MYSQL";

	/** The owner of everything, from this machine and without a password. */
	private static final String ROOT = """
			create user if not exists 'root'@'127.0.0.1';
			grant all on *.* to 'root'@'127.0.0.1' with grant option;
			create database if not exists app;
			""";

	private final Path data;

	private final Path begin;

	RestartedMysql(Path data) {
		super(data.resolveSibling(data.getFileName() + ".log"));
		this.data = data;
		this.begin = data.resolveSibling(data.getFileName() + ".sql");
		createData();
		begin();
	}

	/** Returns the path of the program, {@code null} if none is named. */
	static @Nullable String program() {
		return System.getProperty(PROGRAM, System.getenv(PROGRAM));
	}

	private void createData() {
		try {
			Files.createDirectories(this.data.toAbsolutePath().getParent());
			Files.writeString(this.begin, ROOT);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		if (launch(command("--initialize-insecure")).onExit().join().exitValue() != 0) {
			throw new IllegalStateException("MySQL has no data, see " + log());
		}
	}

	private List<String> command(String... options) {
		return Stream.concat(Stream.of(Objects.requireNonNull(program(), PROGRAM), "--no-defaults",
				"--datadir=" + this.data, "--user=" + System.getProperty("user.name"), "--innodb-redo-log-capacity=32M",
				"--innodb-buffer-pool-size=64M", "--secure-file-priv=NULL"), Stream.of(options))
			.toList();
	}

	@Override
	List<String> command() {
		return command("--init-file=" + this.begin, "--port=" + port(), "--bind-address=127.0.0.1",
				"--skip-name-resolve", "--socket=" + this.data.resolve("socket"),
				"--pid-file=" + this.data.resolve("pid"), "--mysqlx=OFF", "--skip-log-bin", "--max-connections=300",
				"--performance-schema=OFF",
				// A commit is in the hands of the operating system when it is answered.
				"--innodb-flush-log-at-trx-commit=2");
	}

	@Override
	String url(String database) {
		return "jdbc:mysql://127.0.0.1:%d/%s?user=root&sslMode=DISABLED&allowPublicKeyRetrieval=true".formatted(port(),
				database);
	}

	/** It has no such time: {@code wait_timeout} is for connections without one, too. */
	@Override
	public String endingIdleTransactions() {
		return "";
	}

}
