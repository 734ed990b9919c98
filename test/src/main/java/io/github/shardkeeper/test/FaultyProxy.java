package io.github.shardkeeper.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.github.shardkeeper.test.Disturbance.Role;

/**
 * Network between the clients of a Redis and that Redis, which a test can disturb. Let
 * the application connect to {@link #port()} instead of the port of Redis:
 *
 * <pre>{@code
 * FaultyProxy network = new FaultyProxy(redis.port(), "{visits-app}");
 * // --spring.data.redis.port=<network.port()>
 * network.disturb(Disturbance.hold(Disturbance.ALL));
 * // … nothing arrives, nothing is closed …
 * network.heal();
 * }</pre>
 *
 * It passes bytes on and knows only as much of Redis' protocol as it needs to tell the
 * {@linkplain Role roles} of connections apart, so it is not for TLS, Sentinel or Redis
 * Cluster, whose clients learn other addresses from the servers. Thread-safe.
 */
public final class FaultyProxy implements AutoCloseable {

	private final ServerSocket server;

	private final String controlMarker;

	private volatile int redisPort;

	private final Set<Connection> connections = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** Guarded by the lock. */
	private Disturbance disturbance = Disturbance.NONE;

	/**
	 * Opens a proxy without a disturbance.
	 * @param redisPort the port of Redis on this machine
	 * @param controlMarker text that only commands of the control plane contain: the name
	 * of the group in braces, the hash tag of its keys
	 */
	public FaultyProxy(int redisPort, String controlMarker) {
		this.redisPort = redisPort;
		this.controlMarker = controlMarker;
		try {
			this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		startThread("faulty-proxy", this::acceptAll);
	}

	/**
	 * Returns the port for clients.
	 * @return the port on this machine
	 */
	public int port() {
		return this.server.getLocalPort();
	}

	/** Returns the number of open connections. */
	int connections() {
		return this.connections.size();
	}

	/**
	 * Starts a disturbance. It replaces the current one and lasts until the next one, or
	 * until {@link #heal()}.
	 * @param next the disturbance
	 */
	public void disturb(Disturbance next) {
		this.lock.lock();
		try {
			this.disturbance = next;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		for (Connection connection : this.connections) {
			if (next.refuses(connection.role)) {
				connection.reset();
			}
		}
	}

	/**
	 * Ends the current disturbance.
	 */
	public void heal() {
		disturb(Disturbance.NONE);
	}

	/**
	 * Passes new connections on to another Redis and resets the open ones.
	 * @param port the port of that Redis on this machine
	 */
	public void moveTo(int port) {
		this.redisPort = port;
		this.connections.forEach(Connection::reset);
	}

	/**
	 * Waits until bytes may be passed on.
	 * @throws IOException if the connection must be reset instead
	 */
	private void admit(Connection connection) throws IOException, InterruptedException {
		this.lock.lockInterruptibly();
		try {
			while (this.disturbance.holds(connection.role)) {
				this.changed.await();
			}
			if (this.disturbance.refuses(connection.role)) {
				throw new IOException("Refused");
			}
			Disturbance now = this.disturbance;
			for (long left = now.delay().toNanos(); left > 0 && this.disturbance == now;) {
				left = this.changed.awaitNanos(left);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private void acceptAll() throws IOException {
		while (!this.server.isClosed()) {
			Connection connection = new Connection(this.server.accept());
			this.connections.add(connection);
			connection.open();
		}
	}

	private static void startThread(String name, Body body) {
		Thread thread = new Thread(() -> {
			try {
				body.run();
			}
			catch (IOException | InterruptedException ex) {
				// A closed socket is how these threads end.
			}
		}, name);
		thread.setDaemon(true);
		thread.start();
	}

	/**
	 * Resets all connections and stops accepting new ones.
	 */
	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		disturb(Disturbance.refuse(Disturbance.ALL));
	}

	/** Work of a thread that ends with its socket. */
	@FunctionalInterface
	private interface Body {

		void run() throws IOException, InterruptedException;

	}

	/** One connection, with a thread for each direction. Thread-safe. */
	private final class Connection {

		private static final String SUBSCRIBE = "\r\nSUBSCRIBE\r\n";

		private final Socket client;

		private final Socket redis = new Socket();

		private volatile Role role = Role.DATA;

		Connection(Socket client) {
			this.client = client;
		}

		void open() {
			startThread("faulty-proxy-to-redis", () -> {
				try {
					this.client.setTcpNoDelay(true);
					admit(this);
					this.redis
						.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), FaultyProxy.this.redisPort));
					this.redis.setTcpNoDelay(true);
					startThread("faulty-proxy-to-client", () -> pass(this.redis, this.client));
					pass(this.client, this.redis);
				}
				finally {
					reset();
				}
			});
		}

		private void pass(Socket from, Socket to) throws IOException, InterruptedException {
			byte[] bytes = new byte[64 * 1024];
			InputStream in = from.getInputStream();
			try {
				for (int length = read(in, bytes); length >= 0; length = read(in, bytes)) {
					if (from == this.client && this.role == Role.DATA) {
						this.role = roleBy(new String(bytes, 0, length, StandardCharsets.ISO_8859_1));
					}
					admit(this);
					to.getOutputStream().write(bytes, 0, length);
				}
				// The end of the connection is held and delayed like its data.
				admit(this);
			}
			finally {
				reset();
			}
		}

		/** Reads, and treats a reset as the end of the connection. */
		private static int read(InputStream in, byte[] bytes) {
			try {
				return in.read(bytes);
			}
			catch (IOException ex) {
				return -1;
			}
		}

		private Role roleBy(String sent) {
			if (sent.contains(SUBSCRIBE)) {
				return Role.SUBSCRIPTION;
			}
			return sent.contains(FaultyProxy.this.controlMarker) ? Role.CONTROL : Role.DATA;
		}

		/** Closes both sides with a reset. */
		void reset() {
			FaultyProxy.this.connections.remove(this);
			reset(this.client);
			reset(this.redis);
		}

		private static void reset(Socket socket) {
			try {
				socket.setSoLinger(true, 0);
			}
			catch (IOException ex) {
				// It is closed already.
			}
			try {
				socket.close();
			}
			catch (IOException ex) {
				// Closing again would not help.
			}
		}

	}

}
