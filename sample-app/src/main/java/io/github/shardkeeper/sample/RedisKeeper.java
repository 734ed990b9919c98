package io.github.shardkeeper.sample;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

/**
 * A tiny process of its own that starts a Redis and stops it when nobody is connected any
 * more. It has to be a process: the instance that wanted the Redis may be killed at any
 * moment, and the others go on.
 * <p>
 * Ctrl-C in a terminal reaches every process started from it. Redis leaves the terminal's
 * session by itself ({@code --daemonize}); the keeper is started with the signals of a
 * terminal ignored, which a JVM respects.
 */
final class RedisKeeper {

	private static final String OPTION = "--redis-keeper";

	private static final int START_SECONDS = 15;

	/** So long may it take until the instance that wanted the Redis connects. */
	private static final int FIRST_CLIENT_SECONDS = 20;

	private static final int DESERTED_SECONDS = 3;

	private final int port;

	private final Path directory;

	private @Nullable PlainRedis redis;

	private RedisKeeper(int port) throws IOException {
		this.port = port;
		this.directory = Files.createTempDirectory("shardkeeper-sample-redis-").toRealPath();
	}

	static boolean isMeantBy(String[] args) {
		return args.length == 2 && args[0].equals(OPTION);
	}

	/**
	 * Starts a keeper and waits until a Redis answers on the port, its own or that of
	 * another keeper that was faster.
	 * @param port where Redis shall listen
	 * @return what the keeper had to say, empty when all is well
	 * @throws IOException when it cannot be started
	 */
	static String start(int port) throws IOException {
		if (System.getProperty("os.name").startsWith("Windows")) {
			return "there is no Redis 6.2 for Windows to start";
		}
		ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", "trap '' INT HUP TSTP; exec \"$@\"", "keeper",
				Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx32m", "-XX:+UseSerialGC",
				"-XX:TieredStopAtLevel=1");
		String classPath = System.getProperty("java.class.path");
		if (classPath.contains(System.getProperty("path.separator"))) {
			builder.environment().put("CLASSPATH", classPath);
			builder.command().add(SampleApplication.class.getName());
		}
		else {
			// The executable jar, which knows its main class.
			builder.command().addAll(List.of("-jar", classPath));
		}
		builder.command().addAll(List.of(OPTION, Integer.toString(port)));
		Process keeper = builder.redirectErrorStream(true).start();
		keeper.getOutputStream().close();
		// The keeper closes its output when Redis is there, and when it gives up.
		return new String(keeper.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
	}

	static void main(String[] args) {
		int status = 0;
		try {
			RedisKeeper keeper = new RedisKeeper(Integer.parseInt(args[1]));
			Runtime.getRuntime().addShutdownHook(new Thread(keeper::cleanUp));
			keeper.startRedis();
			keeper.keepWhileNeeded();
		}
		catch (IOException | InterruptedException ex) {
			System.out.println(ex);
			status = 1;
		}
		System.exit(status);
	}

	private void startRedis() throws IOException, InterruptedException {
		Path binary = ExecutableProvider.newJarResourceProvider(this.directory.toFile()).get().toPath();
		// Nothing is to be kept, so nothing is written.
		Process start = new ProcessBuilder(binary.toString(), "--daemonize", "yes", "--port",
				Integer.toString(this.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
				this.directory.toString())
			.inheritIO()
			.start();
		if (start.waitFor() != 0) {
			throw new IOException("Redis ended with status " + start.exitValue());
		}
	}

	private void keepWhileNeeded() throws IOException, InterruptedException {
		PlainRedis redis = connect();
		if (!redis.ask("INFO server").contains("\nexecutable:" + this.directory)) {
			// Another instance was started at the same moment, and its Redis was faster.
			return;
		}
		this.redis = redis;
		// A Redis that is slow for a while is still needed.
		redis.waitForever();
		System.out.close();
		System.err.close();
		int aloneSeconds = 0;
		boolean everNeeded = false;
		while (aloneSeconds < (everNeeded ? DESERTED_SECONDS : FIRST_CLIENT_SECONDS)) {
			Thread.sleep(1000);
			String report = redis.ask("INFO");
			aloneSeconds = report.contains("\nconnected_clients:1\r") ? aloneSeconds + 1 : 0;
			everNeeded = !report.contains("\ntotal_connections_received:1\r");
		}
	}

	private PlainRedis connect() throws IOException, InterruptedException {
		for (int tries = 0; tries < START_SECONDS * 20; tries++) {
			PlainRedis redis = PlainRedis.connect(this.port);
			if (redis != null) {
				return redis;
			}
			Thread.sleep(50);
		}
		throw new IOException("Redis was started but does not answer on port " + this.port);
	}

	/** Also when this process is asked to end, so that nothing is left behind. */
	private void cleanUp() {
		try {
			if (this.redis != null) {
				this.redis.ask("SHUTDOWN NOSAVE");
			}
		}
		catch (IOException ex) {
			// The expected answer to a shutdown: the connection is closed.
		}
		try (Stream<Path> files = Files.list(this.directory)) {
			for (Path file : files.toList()) {
				Files.delete(file);
			}
			Files.delete(this.directory);
		}
		catch (IOException ex) {
			// In a directory for temporary files nobody is hurt.
		}
	}

}
