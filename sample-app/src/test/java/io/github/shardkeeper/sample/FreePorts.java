package io.github.shardkeeper.sample;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds ports on which nothing listens. */
public final class FreePorts {

	/** Below those that the system gives to clients: nobody takes it meanwhile. */
	private static final int LOWEST_PORT = 10_000;

	private static final int HIGHEST_PORT = 30_000;

	private FreePorts() {
	}

	public static int next() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, HIGHEST_PORT);
			try (ServerSocket socket = new ServerSocket()) {
				socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
				return port;
			}
			catch (IOException ex) {
				// Taken; try another one.
			}
		}
	}

	/** Returns whether nothing listens on the port. */
	public static boolean isFree(int port) throws IOException {
		try (Socket socket = new Socket("127.0.0.1", port)) {
			return !socket.isConnected();
		}
		catch (ConnectException ex) {
			return true;
		}
	}

}
