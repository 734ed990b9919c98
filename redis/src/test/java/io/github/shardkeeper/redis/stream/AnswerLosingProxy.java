package io.github.shardkeeper.redis.stream;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Network that passes commands on and loses replies: once a connection has sent a text,
 * it is reset when Redis replies, so the command was executed and nobody is told.
 * Thread-safe.
 */
final class AnswerLosingProxy implements AutoCloseable {

	private final ServerSocket server;

	private final int redisPort;

	private final String marker;

	private final AtomicInteger left = new AtomicInteger();

	private final AtomicInteger seen = new AtomicInteger();

	/**
	 * Opens a proxy that loses nothing.
	 * @param marker text of the commands whose replies can be lost
	 */
	AnswerLosingProxy(int redisPort, String marker) {
		this.redisPort = redisPort;
		this.marker = marker;
		try {
			this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		start(() -> {
			while (true) {
				accept(this.server.accept());
			}
		});
	}

	int port() {
		return this.server.getLocalPort();
	}

	/** Loses the next replies. */
	void lose(int replies) {
		this.left.set(replies);
	}

	/** Returns the number of replies that are still to be lost. */
	int left() {
		return this.left.get();
	}

	/** Returns how often commands with the text were sent. */
	int seen() {
		return this.seen.get();
	}

	private void accept(Socket client) throws IOException {
		Socket redis = new Socket(InetAddress.getLoopbackAddress(), this.redisPort);
		boolean[] marked = new boolean[1];
		start(() -> pass(client, redis, (text) -> {
			if (text.contains(this.marker)) {
				this.seen.incrementAndGet();
				synchronized (marked) {
					marked[0] = true;
				}
			}
			return true;
		}));
		start(() -> pass(redis, client, (text) -> {
			synchronized (marked) {
				boolean lost = marked[0] && this.left.getAndUpdate((now) -> Math.max(0, now - 1)) > 0;
				marked[0] = false;
				return !lost;
			}
		}));
	}

	private static void pass(Socket from, Socket to, Filter filter) throws IOException {
		try (from; to) {
			byte[] bytes = new byte[64 * 1024];
			InputStream in = from.getInputStream();
			for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
				if (!filter.passes(new String(bytes, 0, length, StandardCharsets.ISO_8859_1))) {
					return;
				}
				to.getOutputStream().write(bytes, 0, length);
			}
		}
	}

	private static void start(Body body) {
		Thread thread = new Thread(() -> {
			try {
				body.run();
			}
			catch (IOException ex) {
				// A closed socket is how these threads end.
			}
		}, "reply-losing-proxy");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Decides about a piece of what is passed. */
	@FunctionalInterface
	private interface Filter {

		boolean passes(String text);

	}

	/** Work of a thread. */
	@FunctionalInterface
	private interface Body {

		void run() throws IOException;

	}

}
