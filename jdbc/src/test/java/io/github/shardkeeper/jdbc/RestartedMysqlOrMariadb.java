package io.github.shardkeeper.jdbc;

import java.nio.file.Path;
import java.util.List;

/**
 * A server of MySQL or MariaDB. It loses nothing of what it has acknowledged unless the
 * machine fails. Confined to one thread.
 */
abstract class RestartedMysqlOrMariadb extends RestartedProcess {

	RestartedMysqlOrMariadb(Path log) {
		super(log);
	}

	@Override
	public String url() {
		return url("app");
	}

	/** Returns the address of one of its databases. */
	abstract String url(String database);

	/** With the isolation level that several keys of a shard at a time need. */
	@Override
	public final List<String> arguments(boolean endsIdleTransactions) {
		List<String> arguments = super.arguments(endsIdleTransactions);
		arguments.add("--spring.datasource.hikari.transaction-isolation=TRANSACTION_READ_COMMITTED");
		return arguments;
	}

	/** Stops it in order. */
	@Override
	public final void restart() {
		end();
		startAgain();
	}

	/** Kills it. */
	@Override
	public final void stop() {
		kill();
	}

}
