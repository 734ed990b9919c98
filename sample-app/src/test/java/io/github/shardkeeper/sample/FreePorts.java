package io.github.shardkeeper.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;

/** Finds ports on which nothing listens. */
public final class FreePorts {

	private FreePorts() {
	}

	public static int next() {
		try (ServerSocket socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
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
