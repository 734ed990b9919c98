package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A proxy that keeps subscriptions to itself, as some that stand before a managed Redis
 * do: it confirms them, and Redis does not know of them. Thread-safe.
 */
final class ProxyWithSubscriptions implements AutoCloseable {

	private static final String SUBSCRIBE = "*2\r\n$9\r\nSUBSCRIBE\r\n";

	private final ServerSocket server;

	private final int redisPort;

	private final AtomicInteger subscriptions = new AtomicInteger();

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private volatile boolean hiding = true;

	private volatile boolean closing;

	ProxyWithSubscriptions(int redisPort) {
		this.redisPort = redisPort;
		try {
			this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		startThread("proxy-with-subscriptions", this::acceptAll);
	}

	int port() {
		return this.server.getLocalPort();
	}

	/** Number of subscriptions that were requested. */
	int subscriptions() {
		return this.subscriptions.get();
	}

	/** From now on they are Redis' own. */
	void hideNoMore() {
		this.hiding = false;
	}

	/** From now on a connection is closed when a subscription is asked of it. */
	void closeInstead(boolean close) {
		this.closing = close;
	}

	private static void startThread(String name, SocketWork work) {
		Thread thread = new Thread(() -> {
			try {
				work.run();
			}
			catch (IOException ex) {
				// A closed socket is how these threads end.
			}
		}, name);
		thread.setDaemon(true);
		thread.start();
	}

	private void acceptAll() throws IOException {
		while (!this.server.isClosed()) {
			Socket client = this.server.accept();
			Socket redis = new Socket(InetAddress.getLoopbackAddress(), this.redisPort);
			client.setTcpNoDelay(true);
			redis.setTcpNoDelay(true);
			this.sockets.add(client);
			this.sockets.add(redis);
			startThread("proxy-to-redis", () -> pump(client, redis, true));
			startThread("proxy-to-client", () -> pump(redis, client, false));
		}
	}

	private void pump(Socket from, Socket to, boolean fromClient) throws IOException {
		byte[] bytes = new byte[64 * 1024];
		try (from; to) {
			InputStream in = from.getInputStream();
			for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
				String sent = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
				if (fromClient && sent.startsWith(SUBSCRIBE)) {
					this.subscriptions.incrementAndGet();
					if (this.closing) {
						return;
					}
					if (this.hiding) {
						confirm(from, sent.substring(SUBSCRIBE.length()));
						continue;
					}
				}
				to.getOutputStream().write(bytes, 0, length);
			}
		}
	}

	private static void confirm(Socket client, String channel) throws IOException {
		client.getOutputStream()
			.write((">3\r\n$9\r\nsubscribe\r\n" + channel + ":1\r\n").getBytes(StandardCharsets.ISO_8859_1));
	}

	@Override
	public void close() {
		try {
			this.server.close();
			for (Socket socket : this.sockets) {
				socket.close();
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Work of a thread that ends with its socket. */
	@FunctionalInterface
	private interface SocketWork {

		void run() throws IOException;

	}

}
