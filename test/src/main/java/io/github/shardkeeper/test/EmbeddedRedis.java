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
import redis.embedded.core.ExecutableProvider;

/**
 * A real Redis on a port of its own, that keeps nothing on disk unless its arguments say
 * so: the binary that the system property or environment variable {@value #BINARY} names,
 * else the one inside embedded-redis. Ends with the JVM at the latest. Confined to one
 * thread at a time.
 */
public final class EmbeddedRedis implements AutoCloseable {

	public static final String BINARY = "SHARDKEEPER_TEST_REDIS";

	private static final int ATTEMPTS = 5;

	private static final Pattern MASTER_OFFSET = Pattern.compile("master_repl_offset:(\\d+)");

	private static final Pattern ONLINE_REPLICA = Pattern.compile("slave\\d+:.*state=online");

	private static final Pattern REPLICA_OFFSET = Pattern.compile("slave\\d+:.*offset=(\\d+)");

	/** The port of a cluster's bus is higher by 10,000 and must exist too. */
	private static final int HIGHEST_PORT = 55_535;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** What stands before the port. */
	private final List<String> mode;

	private final List<String> arguments;

	private final Thread killer = new Thread(this::kill, "test-redis-killer");

	private int port;

	private Process process;

	private EmbeddedRedis(List<String> mode, List<String> arguments) {
		this.mode = mode;
		this.arguments = arguments;
	}

	/**
	 * Starts a Redis and waits until it accepts connections.
	 * @param arguments further arguments, for example {@code --requirepass}
	 * @return the running Redis
	 */
	public static EmbeddedRedis start(String... arguments) {
		List<String> all = new ArrayList<>(List.of("--save", "", "--appendonly", "no"));
		all.addAll(List.of(arguments));
		return start(new EmbeddedRedis(List.of(), all));
	}

	/**
	 * Starts a Redis that others copy, or that copies another, and waits until it accepts
	 * connections. Copies go from memory to memory.
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
	 * Starts a Sentinel and waits until it watches its master.
	 * @param configuration a file that it may write to
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
	public static EmbeddedRedis shared() {
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
	 * Kills a master ({@code SIGKILL}) when its replicas have all that it has answered:
	 * what it was asked to write meanwhile stays without an answer.
	 */
	public void killInSync() {
		call((commands) -> commands.dispatch(CommandType.CLIENT, new StatusOutput<>(StringCodec.UTF8),
				new CommandArgs<>(StringCodec.UTF8).add("PAUSE").add(PATIENCE.toMillis()).add("WRITE")));
		Awaitility.await().atMost(PATIENCE).until(() -> replicationLag() == 0);
		kill();
	}

	/**
	 * Empties this master, and waits until a number of replicas have followed. From then
	 * on a {@code WAIT} counts them; when they are merely connected, it may not yet.
	 * @param replicas the number
	 */
	public void emptyWithReplicas(int replicas) {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> ONLINE_REPLICA.matcher(call((commands) -> commands.info("replication"))).results().count(),
					(online) -> online == replicas);
		Awaitility.await().atMost(PATIENCE).until(() -> call((commands) -> {
			commands.flushall();
			return commands.waitForReplication(replicas, PATIENCE.toMillis());
		}) >= replicas);
	}

	/**
	 * From now on replicas get nothing of what this master acknowledges, though it and
	 * they go on: their links are closed, and they may not copy it any more.
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

	/** Stops the process where it is ({@code SIGSTOP}); its connections stand. */
	public void freeze() {
		signal("STOP");
	}

	/** Lets a frozen process go on. */
	public void thaw() {
		signal("CONT");
	}

	private void signal(String signal) {
		try {
			new ProcessBuilder("kill", "-" + signal, Long.toString(this.process.pid())).start().waitFor();
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
	 * Asks this very process, on a connection for this one call.
	 * @param command what to ask
	 * @param <T> the answer's type
	 * @return the answer
	 */
	public <T> T call(Function<RedisCommands<String, String>, T> command) {
		try (StatefulRedisConnection<String, String> connection = client()
			.connect(RedisURI.create("127.0.0.1", this.port))) {
			return command.apply(connection.sync());
		}
	}

	/** For calls of the tests' own; has no address. */
	static RedisClient client() {
		return Client.INSTANCE;
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
		List<String> command = new ArrayList<>(List.of(Binary.PATH.toString()));
		command.addAll(this.mode);
		command.addAll(List.of("--port", String.valueOf(this.port), "--bind", "127.0.0.1"));
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

		private static final EmbeddedRedis INSTANCE = start();

	}

	/** Made when first asked for. */
	private static final class Client {

		private static final RedisClient INSTANCE = RedisClient.create();

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
