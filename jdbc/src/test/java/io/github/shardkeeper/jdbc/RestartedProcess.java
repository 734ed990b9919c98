package io.github.shardkeeper.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;

/**
 * A server that is a process of its own, on a free port, and ends with this JVM. Confined
 * to one thread.
 */
abstract class RestartedProcess implements RestartedDatabase {

	private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

	private final Path log;

	private final int port = freePort();

	private final Thread killer = new Thread(this::kill, "database-killer");

	private volatile Process server;

	/** Starts nothing. */
	RestartedProcess(Path log) {
		this.log = log;
	}

	/** Returns the command of the server. */
	abstract List<String> command();

	/** Starts the server for the first time. */
	final void begin() {
		startAgain();
		Runtime.getRuntime().addShutdownHook(this.killer);
	}

	@Override
	public final void startAgain() {
		Process started = launch(command());
		Awaitility.await("the server, see " + this.log).atMost(LONGEST_WAIT).until(() -> accepts(started));
		this.server = started;
	}

	/** Starts a process that writes to the log, and does not wait for anything. */
	final Process launch(List<String> command) {
		try {
			return new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.appendTo(this.log.toFile()))
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static int freePort() {
		try (ServerSocket socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private boolean accepts(Process started) {
		if (!started.isAlive()) {
			throw new IllegalStateException("The server has ended, see " + this.log);
		}
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			return socket.isConnected();
		}
		catch (IOException ex) {
			return false;
		}
	}

	final int port() {
		return this.port;
	}

	final Path log() {
		return this.log;
	}

	/** Stops the server in order. */
	final void end() {
		this.server.destroy();
		this.server.onExit().join();
	}

	final void kill() {
		this.server.destroyForcibly();
		this.server.onExit().join();
	}

	@Override
	public final void close() {
		kill();
		Runtime.getRuntime().removeShutdownHook(this.killer);
	}

}
