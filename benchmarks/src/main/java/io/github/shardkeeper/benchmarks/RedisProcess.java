package io.github.shardkeeper.benchmarks;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis in a process of its own, on a free port, that keeps nothing on disk: the binary
 * that the environment variable {@value #BINARY} names, else the one inside
 * embedded-redis. Ends with the JVM at the latest. Thread-safe.
 */
public final class RedisProcess implements AutoCloseable {

	private static final String BINARY = "SHARDKEEPER_BENCHMARK_REDIS";

	private static final Pattern VERSION = Pattern.compile("redis_version:(\\S+)");

	private static final int PATIENCE_SECONDS = 30;

	private final Process process;

	private final int port;

	private RedisProcess(Process process, int port) {
		this.process = process;
		this.port = port;
	}

	/**
	 * Starts a Redis, and waits until it answers.
	 * @return the running Redis
	 * @throws IOException when it cannot be started
	 * @throws InterruptedException when the thread is interrupted
	 */
	public static RedisProcess start() throws IOException, InterruptedException {
		Path directory = Files.createTempDirectory("shardkeeper-benchmark-redis");
		directory.toFile().deleteOnExit();
		int port = freePort();
		List<String> command = new ArrayList<>(List.of(binary(directory), "--port", String.valueOf(port), "--bind",
				"127.0.0.1", "--save", "", "--appendonly", "no"));
		Process process = new ProcessBuilder(command).directory(directory.toFile())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
		RedisProcess redis = new RedisProcess(process, port);
		redis.awaitAnswer();
		return redis;
	}

	private static String binary(Path directory) throws IOException {
		String named = System.getenv(BINARY);
		if (named != null && !named.isBlank()) {
			return named;
		}
		File unpacked = ExecutableProvider.newJarResourceProvider(directory.toFile()).get();
		unpacked.deleteOnExit();
		return unpacked.getAbsolutePath();
	}

	private void awaitAnswer() throws IOException, InterruptedException {
		long deadline = System.nanoTime() + PATIENCE_SECONDS * 1_000_000_000L;
		while (System.nanoTime() - deadline < 0) {
			if (!this.process.isAlive()) {
				throw new IOException("Redis ended with status " + this.process.exitValue());
			}
			try {
				version();
				return;
			}
			catch (RedisConnectionException ex) {
				Thread.sleep(20);
			}
		}
		throw new IOException("Redis does not answer on port " + this.port);
	}

	public int port() {
		return this.port;
	}

	/**
	 * Creates a client; the caller shuts it down.
	 * @return a client of this Redis
	 */
	public RedisClient client() {
		return RedisClient.create(RedisURI.create("127.0.0.1", this.port));
	}

	/**
	 * Reads Redis' statistics.
	 * @param section the part to read
	 * @return the lines
	 */
	public String info(String section) {
		RedisClient client = client();
		try (StatefulRedisConnection<String, String> connection = client.connect()) {
			return connection.sync().info(section);
		}
		finally {
			client.shutdown();
		}
	}

	/**
	 * Returns the time that its only busy thread has waited for a processor so far.
	 * @return the milliseconds; not a number where the system does not report it
	 */
	public double waitedMillis() {
		Path schedule = Path.of("/proc", String.valueOf(this.process.pid()), "schedstat");
		if (!Files.isReadable(schedule)) {
			return Double.NaN;
		}
		try {
			return Double.parseDouble(Files.readString(schedule).split(" ")[1]) / 1e6;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Stops the process, and continues it after a time.
	 * @param millis the time
	 * @throws IOException when it cannot be stopped
	 * @throws InterruptedException when the thread is interrupted
	 */
	public void stall(long millis) throws IOException, InterruptedException {
		Signals.stall(this.process, millis);
	}

	public String version() {
		Matcher version = VERSION.matcher(info("server"));
		return version.find() ? version.group(1) : "?";
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		this.process.onExit().join();
	}

}
