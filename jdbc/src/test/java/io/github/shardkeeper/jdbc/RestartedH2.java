package io.github.shardkeeper.jdbc;

import java.nio.file.Path;
import java.util.List;

import org.h2.tools.Server;

/**
 * An H2 in a process of its own, which is killed at a restart. It then loses what was
 * committed in the last half second: H2 writes in the background. Confined to one thread.
 */
final class RestartedH2 extends RestartedProcess {

	private final Path data;

	RestartedH2(Path data) {
		super(data.resolveSibling("h2.log"));
		this.data = data;
		begin();
	}

	@Override
	List<String> command() {
		return List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), Server.class.getName(), "-tcp",
				"-tcpPort", String.valueOf(port()), "-baseDir", this.data.toString(), "-ifNotExists");
	}

	@Override
	public String url() {
		return "jdbc:h2:tcp://localhost:%d/accounts;LOCK_TIMEOUT=10000".formatted(port());
	}

	@Override
	public String endingIdleTransactions() {
		return "";
	}

	@Override
	public void restart() {
		kill();
		startAgain();
	}

	/** In order. */
	@Override
	public void stop() {
		end();
	}

}
