package io.github.shardkeeper.testsupport;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import redis.embedded.core.ExecutableProvider;

/**
 * A real Redis on a port of its own, that keeps nothing on disk unless its arguments say
 * so: the binary that the system property or environment variable {@value #BINARY} names,
 * else the one inside embedded-redis. Ends with the JVM at the latest. Confined to one
 * thread at a time.
 */
public final class TestRedis implements AutoCloseable {

	static final String BINARY = "SHARDKEEPER_TEST_REDIS";

	private static final int ATTEMPTS = 5;

	/** The port of a cluster's bus is higher by 10,000 and must exist too. */
	private static final int HIGHEST_PORT = 55_535;

	private final List<String> arguments;

	private final Thread killer = new Thread(this::kill, "test-redis-killer");

	private int port;

	private Process process;

	private TestRedis(List<String> arguments) {
		this.arguments = arguments;
	}

	/**
	 * Starts a Redis and waits until it accepts connections.
	 * @param arguments further arguments, for example {@code --requirepass}
	 * @return the running Redis
	 */
	public static TestRedis start(String... arguments) {
		TestRedis redis = new TestRedis(List.of(arguments));
		Runtime.getRuntime().addShutdownHook(redis.killer);
		for (int attempt = 1;; attempt++) {
			redis.port = freePort();
			try {
				redis.launch();
				return redis;
			}
			catch (StartFailedException ex) {
				// Between looking for the port and taking it, somebody else may have.
				if (attempt == ATTEMPTS || !ex.getMessage().contains("in use")) {
					throw ex;
				}
			}
		}
	}

	/**
	 * The one Redis for all tests that need no more than any: it may hold other tests'
	 * keys and must not be stopped.
	 * @return the running Redis
	 */
	public static TestRedis shared() {
		return Shared.INSTANCE;
	}

	public int port() {
		return this.port;
	}

	/**
	 * Whether the process runs.
	 * @return whether it does
	 */
	public boolean isRunning() {
		return this.process.isAlive();
	}

	/** Ends the process in order ({@code SIGTERM}) and waits for its end. */
	public void stop() {
		this.process.destroy();
		awaitEnd();
	}

	/** Kills the process ({@code SIGKILL}) and waits for its end. */
	public void kill() {
		if (this.process != null) {
			this.process.destroyForcibly();
			awaitEnd();
		}
	}

	/**
	 * Starts a Redis that was stopped or killed again, on the same port: empty, or with
	 * what it has kept where its arguments say so.
	 */
	public void restart() {
		kill();
		launch();
	}

	@Override
	public void close() {
		kill();
		try {
			Runtime.getRuntime().removeShutdownHook(this.killer);
		}
		catch (IllegalStateException ex) {
			// The JVM is shutting down already.
		}
	}

	private void launch() {
		List<String> command = new ArrayList<>(List.of(Binary.PATH.toString(), "--port", String.valueOf(this.port),
				"--bind", "127.0.0.1", "--save", "", "--appendonly", "no"));
		command.addAll(this.arguments);
		try {
			this.process = new ProcessBuilder(command).directory(Binary.DIRECTORY.toFile())
				.redirectErrorStream(true)
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		// The process' own log, because on the port somebody else might answer.
		CompletableFuture<Void> ready = new CompletableFuture<>();
		Thread reader = new Thread(() -> readLog(this.process, ready), "test-redis-log");
		reader.setDaemon(true);
		reader.start();
		try {
			ready.get(60, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			awaitEnd();
			throw new StartFailedException(command + " ended: " + ex.getCause().getMessage());
		}
		catch (TimeoutException ex) {
			kill();
			throw new StartFailedException(command + " is not ready after a minute");
		}
		catch (InterruptedException ex) {
			kill();
			Thread.currentThread().interrupt();
			throw new StartFailedException("Interrupted");
		}
	}

	/** Reads on after the start too: a full pipe would stop the process. */
	private static void readLog(Process process, CompletableFuture<Void> ready) {
		List<String> lines = new ArrayList<>();
		try (BufferedReader log = process.inputReader()) {
			for (String line = log.readLine(); line != null; line = log.readLine()) {
				if (!ready.isDone()) {
					lines.add(line);
				}
				if (line.contains("eady to accept connections")) {
					ready.complete(null);
				}
			}
		}
		catch (IOException ex) {
			lines.add(ex.toString());
		}
		ready.completeExceptionally(new IOException(String.join("\n", lines)));
	}

	private void awaitEnd() {
		this.process.onExit().join();
	}

	private static int freePort() {
		while (true) {
			try (ServerSocket socket = new ServerSocket(0)) {
				if (socket.getLocalPort() <= HIGHEST_PORT) {
					return socket.getLocalPort();
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	/** A process ended before it accepted connections; the message has its log. */
	private static final class StartFailedException extends RuntimeException {

		StartFailedException(String message) {
			super(message);
		}

	}

	/** Started when first asked for. */
	private static final class Shared {

		private static final TestRedis INSTANCE = start();

	}

	/** Unpacked once per JVM. */
	private static final class Binary {

		private static final Path DIRECTORY = temporaryDirectory();

		private static final Path PATH = find();

		private static Path temporaryDirectory() {
			try {
				Path directory = Files.createTempDirectory("shardkeeper-test-redis");
				directory.toFile().deleteOnExit();
				return directory;
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private static Path find() {
			String named = System.getProperty(BINARY, System.getenv(BINARY));
			if (named != null && !named.isBlank()) {
				return Path.of(named);
			}
			try {
				File unpacked = ExecutableProvider.newJarResourceProvider(DIRECTORY.toFile()).get();
				unpacked.deleteOnExit();
				return unpacked.toPath().toAbsolutePath();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
