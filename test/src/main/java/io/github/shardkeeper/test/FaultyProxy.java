package io.github.shardkeeper.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.github.shardkeeper.test.Disturbance.Effect;

/**
 * A network between a client and a Redis that can be disturbed. Thread-safe.
 */
public final class FaultyProxy implements AutoCloseable {

	private final ServerSocket server;

	private volatile int redisPort;

	private final String controlKey;

	private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** Guarded by the lock. */
	private Disturbance disturbance = Disturbance.NONE;

	/**
	 * Creates a proxy that lets everything through.
	 * @param redisPort where Redis is
	 * @param controlKey what is sent on connections of the control plane only
	 */
	public FaultyProxy(int redisPort, String controlKey) {
		this.redisPort = redisPort;
		this.controlKey = controlKey;
		try {
			this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		daemon("faulty-proxy", this::acceptAll);
	}

	/** The port on which it stands for Redis. */
	public int port() {
		return this.server.getLocalPort();
	}

	/** How many connections stand. */
	int connections() {
		return this.connections.size();
	}

	/** Does this from now on instead of what it did. */
	public void disturb(Disturbance next) {
		this.lock.lock();
		try {
			this.disturbance = next;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		for (ProxiedConnection connection : this.connections) {
			if (next.is(Effect.REFUSE, connection.role())) {
				connection.reset();
			}
		}
	}

	/** From now on it stands for another Redis; connections are reset. */
	public void moveTo(int port) {
		this.redisPort = port;
		this.connections.forEach(ProxiedConnection::reset);
	}

	public void heal() {
		disturb(Disturbance.NONE);
	}

	/**
	 * Returns when something may go on to the other side.
	 * @throws IOException when the connection is to be reset instead
	 */
	void admit(ProxiedConnection connection) throws IOException, InterruptedException {
		this.lock.lockInterruptibly();
		try {
			while (this.disturbance.is(Effect.HOLD, connection.role())) {
				this.changed.await();
			}
			if (this.disturbance.is(Effect.REFUSE, connection.role())) {
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

	void ended(ProxiedConnection connection) {
		this.connections.remove(connection);
	}

	private void acceptAll() throws IOException {
		while (!this.server.isClosed()) {
			Socket client = this.server.accept();
			ProxiedConnection connection = new ProxiedConnection(this, client, this.controlKey);
			this.connections.add(connection);
			connection.open(this.redisPort);
		}
	}

	public static Thread daemon(String name, Body body) {
		Thread thread = new Thread(() -> {
			try {
				body.run();
			}
			catch (IOException | InterruptedException ex) {
				// A socket was closed: that is how these threads end.
			}
		}, name);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

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

	/** What such a thread does. */
	@FunctionalInterface
	public interface Body {

		void run() throws IOException, InterruptedException;

	}

}
