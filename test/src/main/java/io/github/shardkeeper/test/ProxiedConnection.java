package io.github.shardkeeper.test;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

import io.github.shardkeeper.test.Disturbance.Role;

/**
 * One connection through a {@link FaultyProxy}: a thread for each direction. Thread-safe.
 */
final class ProxiedConnection {

	private static final String SUBSCRIBE = "\r\nSUBSCRIBE\r\n";

	private final FaultyProxy proxy;

	private final Socket client;

	private final Socket redis = new Socket();

	private final String controlKey;

	private volatile Role role = Role.DATA;

	ProxiedConnection(FaultyProxy proxy, Socket client, String controlKey) {
		this.proxy = proxy;
		this.client = client;
		this.controlKey = controlKey;
	}

	Role role() {
		return this.role;
	}

	void open(int redisPort) {
		FaultyProxy.daemon("faulty-proxy-to-redis", () -> {
			try {
				this.client.setTcpNoDelay(true);
				this.proxy.admit(this);
				this.redis.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), redisPort));
				this.redis.setTcpNoDelay(true);
				FaultyProxy.daemon("faulty-proxy-to-client", () -> pump(this.redis, this.client));
				pump(this.client, this.redis);
			}
			finally {
				reset();
			}
		});
	}

	private void pump(Socket from, Socket to) throws IOException, InterruptedException {
		byte[] bytes = new byte[64 * 1024];
		InputStream in = from.getInputStream();
		try {
			for (int length = read(in, bytes); length >= 0; length = read(in, bytes)) {
				if (from == this.client && this.role == Role.DATA) {
					this.role = roleBy(new String(bytes, 0, length, StandardCharsets.ISO_8859_1));
				}
				this.proxy.admit(this);
				to.getOutputStream().write(bytes, 0, length);
			}
			// The end arrives no sooner than the rest.
			this.proxy.admit(this);
		}
		finally {
			reset();
		}
	}

	/** A reset is an end too. */
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
		return sent.contains(this.controlKey) ? Role.CONTROL : Role.DATA;
	}

	/** Closes both sides with a reset. */
	void reset() {
		this.proxy.ended(this);
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
			// Then it is as closed as it can be.
		}
	}

}
