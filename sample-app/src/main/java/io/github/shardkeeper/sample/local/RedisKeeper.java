package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.util.Objects;

import redis.embedded.RedisServer;

/**
 * {@linkplain KeeperProcess Process of its own} that keeps a Redis.
 */
final class RedisKeeper {

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
		String output = KeeperProcess.start(RedisKeeper.class, port, "-Xmx32m");
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
	 * @throws Exception when somebody else has stopped Redis
	 */
	public static void main(String[] args) throws Exception {
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
			KeeperProcess.awaitDeserted(() -> redis.ask("INFO clients").contains("\nconnected_clients:1\r"));
		}
	}

}
