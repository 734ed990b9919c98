package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import redis.embedded.RedisServer;

/**
 * Process of its own that starts a Redis and stops it when nobody is connected any more.
 * It has to be a process: the instance that wanted the Redis may be killed at any moment,
 * while others still use it.
 */
final class RedisKeeper {

	/**
	 * Runs a command in a process group of its own. Ctrl-C in a terminal reaches the
	 * whole group of what was typed there, and Redis would obey it. macOS has no
	 * {@code setsid}, but its shell has job control without a terminal.
	 */
	static final List<String> IN_OWN_PROCESS_GROUP = List.of("/bin/sh", "-c",
			"command -v setsid >/dev/null && exec setsid \"$@\"; set -m; \"$@\" &", "sh");

	private static final int DESERTED_SECONDS = 5;

	private RedisKeeper() {
	}

	/**
	 * Starts a keeper, waits until its Redis is ready, and connects to it. If another
	 * keeper was faster on the same port, connects to that one's Redis.
	 * @param port the port on which Redis shall listen
	 * @return the connection; Redis stays at least as long as it is open
	 * @throws IOException when Redis cannot be started
	 */
	static PlainRedisConnection start(int port) throws IOException {
		if (System.getProperty("os.name").startsWith("Windows")) {
			throw new IOException("there is no Redis 6.2 for Windows to start");
		}
		List<String> command = new ArrayList<>(IN_OWN_PROCESS_GROUP);
		command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx32m",
				"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
		String classPath = System.getProperty("java.class.path");
		if (classPath.contains(System.getProperty("path.separator"))) {
			command.add(RedisKeeper.class.getName());
		}
		else {
			// The executable jar; its main class would start another instance.
			command.add("-Dloader.main=" + RedisKeeper.class.getName());
			command.add("org.springframework.boot.loader.launch.PropertiesLauncher");
		}
		command.add(Integer.toString(port));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		builder.environment().put("CLASSPATH", classPath);
		Process keeper = builder.start();
		keeper.getOutputStream().close();
		// The keeper closes its output when Redis is ready, and when it gives up.
		String output = new String(keeper.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
		PlainRedisConnection redis = PlainRedisConnection.open(port);
		if (redis == null) {
			throw new IOException(output);
		}
		return redis;
	}

	/**
	 * Keeps a Redis until nobody else has been connected for 5 s, or until this process
	 * is asked to end.
	 * @param args the port
	 * @throws IOException when somebody else has stopped Redis
	 * @throws InterruptedException never
	 */
	public static void main(String[] args) throws IOException, InterruptedException {
		int port = Integer.parseInt(args[0]);
		try {
			// The library stops it, and deletes its files, when this process ends.
			RedisServer.newRedisServer().port(port).bind("127.0.0.1").setting("save \"\"").build().start();
		}
		catch (IOException ex) {
			System.out.println((ex.getCause() != null) ? ex.getCause().getMessage() : ex.getMessage());
			return;
		}
		System.out.close();
		System.err.close();
		try (PlainRedisConnection redis = Objects.requireNonNull(PlainRedisConnection.open(port))) {
			int aloneSeconds = 0;
			while (aloneSeconds < DESERTED_SECONDS) {
				Thread.sleep(1000);
				boolean alone = redis.ask("INFO clients").contains("\nconnected_clients:1\r");
				aloneSeconds = alone ? aloneSeconds + 1 : 0;
			}
		}
	}

}
