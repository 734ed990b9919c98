package io.github.shardkeeper.test;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

import org.springframework.util.FileSystemUtils;

/**
 * Redis server for tests, as a process of its own on a free port:
 *
 * <pre>{@code
 * try (EmbeddedRedis redis = EmbeddedRedis.start()) {
 * 	// --spring.data.redis.port=<redis.port()>
 * }
 * }</pre>
 *
 * It runs the binary that the system property or environment variable {@value #BINARY}
 * names, or else the one in embedded-redis, and persists nothing unless its arguments
 * demand it. It ends with the JVM at the latest. Needs the Lettuce client. Confined to
 * one thread at a time.
 */
public final class EmbeddedRedis implements AutoCloseable {

	/**
	 * System property or environment variable with the path of a {@code redis-server}.
	 */
	public static final String BINARY = "SHARDKEEPER_TEST_REDIS";

	private static final int ATTEMPTS = 5;

	private static final Pattern MASTER_OFFSET = Pattern.compile("master_repl_offset:(\\d+)");

	private static final Pattern ONLINE_REPLICA = Pattern.compile("slave\\d+:.*state=online");

	private static final Pattern REPLICA_OFFSET = Pattern.compile("slave\\d+:.*offset=(\\d+)");

	/** The port of the cluster bus is higher by 10,000 and must be valid too. */
	private static final int HIGHEST_PORT = 55_535;

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	/** Arguments before the port. */
	private final List<String> mode;

	private final List<String> arguments;

	private final Path directory = Binary.newDirectory();

	private final Thread killer = new Thread(this::end, "test-redis-killer");

	private int port;

	private @Nullable Process process;

	private EmbeddedRedis(List<String> mode, List<String> arguments) {
		this.mode = mode;
		this.arguments = arguments;
	}

	/**
	 * Starts a Redis and waits until it accepts connections. Files that it writes are in
	 * a directory of its own, unless the arguments name one, and are removed when it is
	 * closed.
	 * @param arguments further arguments of the server, for example {@code --requirepass}
	 * @return the running Redis
	 * @throws RuntimeException if it does not start, with its log in the message
	 */
	public static EmbeddedRedis start(String... arguments) {
		List<String> all = new ArrayList<>(List.of("--save", "", "--appendonly", "no"));
		all.addAll(List.of(arguments));
		return start(new EmbeddedRedis(List.of(), all));
	}

	/**
	 * Starts a master or a replica that synchronizes without files, and waits until it
	 * accepts connections.
	 * @param arguments further arguments, for example {@code --replicaof}
	 * @return the running Redis
	 */
	public static EmbeddedRedis startReplicating(String... arguments) {
		List<String> all = new ArrayList<>(List.of("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
				"--repl-diskless-load", "swapdb"));
		all.addAll(List.of(arguments));
		return start(all.toArray(String[]::new));
	}

	/**
	 * Starts a Sentinel and waits until it monitors its master.
	 * @param configuration its configuration file, which it rewrites
	 * @return the running Sentinel
	 */
	static EmbeddedRedis startSentinel(Path configuration) {
		return start(new EmbeddedRedis(List.of(configuration.toString(), "--sentinel"), List.of()));
	}

	private static EmbeddedRedis start(EmbeddedRedis redis) {
		Runtime.getRuntime().addShutdownHook(redis.killer);
		for (int attempt = 1;; attempt++) {
			redis.port = freePort();
			try {
				redis.launch();
				return redis;
			}
			catch (StartFailedException ex) {
				// Another process may have taken the port meanwhile.
				if (attempt == ATTEMPTS || !String.valueOf(ex.getMessage()).contains("in use")) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Returns the Redis that all tests of this JVM share, and starts it first if
	 * necessary. Use keys of your own, and do not stop, disturb or empty it.
	 * @return the running Redis
	 */
	public static EmbeddedRedis shared() {
		return Shared.INSTANCE;
	}

	/**
	 * Returns the port.
	 * @return the port on this machine, the same after a restart
	 */
	public int port() {
		return this.port;
	}

	/**
	 * Returns whether the process runs.
	 * @return whether it runs, also if it is frozen
	 */
	public boolean isRunning() {
		return process().isAlive();
	}

	/** Shuts the process down ({@code SIGTERM}) and waits for its end. */
	public void stop() {
		process().destroy();
		awaitEnd();
	}

	/** Kills the process ({@code SIGKILL}) and waits for its end. */
	public void kill() {
		Process running = this.process;
		if (running != null) {
			running.destroyForcibly();
			awaitEnd();
		}
	}

	/**
	 * Kills a master ({@code SIGKILL}) once its replicas have every write that it has
	 * acknowledged. Writes that arrive meanwhile are not answered.
	 */
	public void killInSync() {
		call((commands) -> commands.dispatch(CommandType.CLIENT, new StatusOutput<>(StringCodec.UTF8),
				new CommandArgs<>(StringCodec.UTF8).add("PAUSE").add(TIMEOUT.toMillis()).add("WRITE")));
		Awaitility.await().atMost(TIMEOUT).until(() -> replicationLag() == 0);
		kill();
	}

	/**
	 * Removes all data of this master and waits until its replicas have followed. After
	 * that {@code WAIT} counts them, which it may not do as soon as they are connected.
	 * @param replicas the number of replicas
	 */
	public void emptyWithReplicas(int replicas) {
		Awaitility.await()
			.atMost(TIMEOUT)
			.until(() -> ONLINE_REPLICA.matcher(call((commands) -> commands.info("replication"))).results().count(),
					(online) -> online == replicas);
		Awaitility.await().atMost(TIMEOUT).until(() -> call((commands) -> {
			commands.flushall();
			return commands.waitForReplication(replicas, TIMEOUT.toMillis());
		}) >= replicas);
	}

	/**
	 * Cuts the replicas of this master off: they receive nothing that it acknowledges
	 * from now on, while all processes keep running.
	 */
	public void cutOffReplicas() {
		call((commands) -> commands.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8),
				new CommandArgs<>(StringCodec.UTF8).add("SETUSER")
					.add("default")
					.add("-sync")
					.add("-psync")
					.add("-replconf")));
		call((commands) -> commands.dispatch(CommandType.CLIENT, new IntegerOutput<>(StringCodec.UTF8),
				new CommandArgs<>(StringCodec.UTF8).add("KILL").add("TYPE").add("replica")));
	}

	private long replicationLag() {
		String info = call((commands) -> commands.info("replication"));
		Matcher own = MASTER_OFFSET.matcher(info);
		if (!own.find()) {
			throw new IllegalStateException("No master: " + info);
		}
		long lag = 0;
		for (Matcher replica = REPLICA_OFFSET.matcher(info); replica.find();) {
			lag = Math.max(lag, Long.parseLong(own.group(1)) - Long.parseLong(replica.group(1)));
		}
		return lag;
	}

	/** Freezes the process ({@code SIGSTOP}). Its connections stay open. */
	public void freeze() {
		signal("STOP");
	}

	/** Continues a frozen process ({@code SIGCONT}). */
	public void thaw() {
		signal("CONT");
	}

	private void signal(String signal) {
		try {
			new ProcessBuilder("kill", "-" + signal, Long.toString(process().pid())).start().waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Sends commands to this process, on a connection that is opened for this call.
	 * @param command the commands
	 * @param <T> the type of the reply
	 * @return the reply
	 */
	public <T extends @Nullable Object> T call(Function<RedisCommands<String, String>, T> command) {
		try (StatefulRedisConnection<String, String> connection = client()
			.connect(RedisURI.create("127.0.0.1", this.port))) {
			return command.apply(connection.sync());
		}
	}

	/** Returns a client without an address, for calls of this package. */
	static RedisClient client() {
		return Client.INSTANCE;
	}

	/**
	 * Kills the process if it runs, and starts it again on the same port: empty, unless
	 * its arguments demand persistence.
	 */
	public void restart() {
		kill();
		launch();
	}

	private void end() {
		kill();
		try {
			FileSystemUtils.deleteRecursively(this.directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Kills the process. */
	@Override
	public void close() {
		end();
		try {
			Runtime.getRuntime().removeShutdownHook(this.killer);
		}
		catch (IllegalStateException ex) {
			// The JVM is shutting down already.
		}
	}

	private void launch() {
		List<String> command = new ArrayList<>(List.of(Binary.PATH.toString()));
		command.addAll(this.mode);
		command.addAll(List.of("--port", String.valueOf(this.port), "--bind", "127.0.0.1"));
		command.addAll(this.arguments);
		Process started;
		try {
			started = new ProcessBuilder(command).directory(this.directory.toFile()).redirectErrorStream(true).start();
			this.process = started;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		// Reads the log of the process, because another process might reply on the port.
		CompletableFuture<Void> ready = new CompletableFuture<>();
		Thread reader = new Thread(() -> readLog(started, ready), "test-redis-log");
		reader.setDaemon(true);
		reader.start();
		try {
			ready.get(60, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			awaitEnd();
			throw new StartFailedException(command + " ended: " + ex.getCause());
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

	/** Also reads after the start, because a full pipe would stop the process. */
	private static void readLog(Process process, CompletableFuture<Void> ready) {
		List<String> lines = new ArrayList<>();
		try (BufferedReader log = process.inputReader()) {
			for (String line = log.readLine(); line != null; line = log.readLine()) {
				if (!ready.isDone()) {
					lines.add(line);
				}
				if (line.contains("eady to accept connections") || line.contains("+monitor master")) {
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
		process().onExit().join();
	}

	private Process process() {
		return Objects.requireNonNull(this.process, "not started");
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

	/** The process ended before it accepted connections. */
	private static final class StartFailedException extends RuntimeException {

		StartFailedException(String message) {
			super(message);
		}

	}

	/** Holder that starts the shared Redis on first use. */
	private static final class Shared {

		private static final EmbeddedRedis INSTANCE = start();

	}

	/** Holder that creates the client on first use. */
	private static final class Client {

		private static final RedisClient INSTANCE = RedisClient.create();

	}

	/** Binary, unpacked once per JVM. */
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

		/** Two servers that keep their data must not have the same files. */
		static Path newDirectory() {
			try {
				Path directory = Files.createTempDirectory(DIRECTORY, "server");
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
