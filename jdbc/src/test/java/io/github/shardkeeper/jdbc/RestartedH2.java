package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.h2.tools.Server;

/**
 * An H2 in a process of its own, which is killed at a restart. It then loses what was
 * committed in the last half second: H2 writes in the background. Confined to one thread.
 */
final class RestartedH2 implements RestartedDatabase {

	private final Path data;

	private final int port;

	private final Thread killer = new Thread(this::kill, "h2-killer");

	private volatile Process server;

	RestartedH2(Path data) {
		this.data = data;
		this.port = LocalPort.free();
		this.server = start();
		Runtime.getRuntime().addShutdownHook(this.killer);
	}

	private Process start() {
		List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
				"-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), Server.class.getName(), "-tcp",
				"-tcpPort", String.valueOf(this.port), "-baseDir", this.data.toString(), "-ifNotExists");
		try {
			Process started = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(this.data.resolveSibling("h2.log").toFile())
				.start();
			Awaitility.await("H2, see " + this.data.resolveSibling("h2.log"))
				.atMost(Duration.ofMinutes(1))
				.until(() -> LocalPort.accepts(this.port));
			return started;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public String url() {
		return "jdbc:h2:tcp://localhost:%d/accounts;LOCK_TIMEOUT=10000".formatted(this.port);
	}

	@Override
	public void restart() {
		kill();
		startAgain();
	}

	/** In order. */
	@Override
	public void stop() {
		this.server.destroy();
		this.server.onExit().join();
	}

	@Override
	public void startAgain() {
		this.server = start();
	}

	private void kill() {
		this.server.destroyForcibly();
		this.server.onExit().join();
	}

	@Override
	public void close() {
		kill();
		Runtime.getRuntime().removeShutdownHook(this.killer);
	}

}
