package io.github.shardkeeper.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;

import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Statistics of a Redis, read over one connection. Confined to one thread.
 */
public final class RedisFigures implements AutoCloseable {

	/** Time, database and client; then the command. */
	private static final Pattern SENT = Pattern.compile("^\\+[0-9.]+ \\[\\d+ (?<client>[^]]+)] \"\\w+\"");

	private final int port;

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> connection;

	/** Connects to a Redis. */
	public RedisFigures(EmbeddedRedis redis) {
		this.port = redis.port();
		this.client = RedisClient.create(RedisURI.create("127.0.0.1", this.port));
		this.connection = this.client.connect();
	}

	public RedisCommands<String, String> commands() {
		return this.connection.sync();
	}

	/**
	 * Reads one figure.
	 * @param section the section of {@code INFO} that contains it
	 * @param name its name, or a pattern of all that is before the figure
	 */
	public double of(String section, String name) {
		Matcher figure = Pattern.compile("(?m)^" + name + "[:=]([0-9.]+)").matcher(commands().info(section));
		if (!figure.find()) {
			throw new IllegalStateException("Redis does not report " + name);
		}
		return Double.parseDouble(figure.group(1));
	}

	/** Returns the processor time that Redis has used so far, in milliseconds. */
	public double processorMillis() {
		return 1000 * (of("cpu", "used_cpu_user") + of("cpu", "used_cpu_sys"));
	}

	/** Returns the number of connections, without this one. */
	public double connections() {
		return of("clients", "connected_clients") - 1;
	}

	/**
	 * Counts with {@code MONITOR} the commands that clients send: Redis' own statistics
	 * also count those that scripts call.
	 * @param seconds the duration
	 * @return the number of commands per second
	 */
	public double commandsPerSecond(int seconds) throws IOException {
		int sent = 0;
		try (Socket socket = new Socket("127.0.0.1", this.port)) {
			socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
			BufferedReader lines = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
			long end = System.nanoTime() + seconds * 1_000_000_000L;
			for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
				socket.setSoTimeout((int) Math.max(1, left / 1_000_000));
				try {
					Matcher line = SENT.matcher(String.valueOf(lines.readLine()));
					sent += (line.find() && !line.group("client").equals("lua")) ? 1 : 0;
				}
				catch (SocketTimeoutException ex) {
					// Nothing came until the end.
				}
			}
		}
		return (double) sent / seconds;
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

}
