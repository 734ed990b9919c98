package io.github.shardkeeper.sample.local;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * Connection to a Redis on this machine over a plain socket, for use before the
 * application context exists and in the keeper, which has none. Confined to one thread.
 */
final class PlainRedisConnection implements Closeable {

	private static final int TIMEOUT_MILLIS = 2000;

	private static final int LONGEST_LINE = 1024;

	private final Socket socket;

	private final InputStream in;

	private PlainRedisConnection(Socket socket) throws IOException {
		this.socket = socket;
		this.in = new BufferedInputStream(socket.getInputStream());
	}

	/**
	 * Connects.
	 * @param port the port on this machine
	 * @return the connection, or {@code null} when nothing listens there
	 * @throws IOException when connecting fails for another reason
	 */
	static @Nullable PlainRedisConnection open(int port) throws IOException {
		Socket socket = KeeperProcess.connect(port);
		return (socket != null) ? new PlainRedisConnection(socket) : null;
	}

	/**
	 * Sends a command and waits for its reply, however long that takes.
	 * @param command name and arguments, separated by spaces
	 * @return the first line of the reply with its type's mark, like {@code +PONG}; of a
	 * string, the string itself
	 * @throws IOException when the connection is closed
	 */
	String ask(String command) throws IOException {
		this.socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
		String line = readLine();
		if (!line.startsWith("$")) {
			return line;
		}
		int length = Integer.parseInt(line.substring(1));
		String string = new String(this.in.readNBytes(length), StandardCharsets.UTF_8);
		readLine();
		return string;
	}

	/**
	 * Sends {@code PING}, and waits 2 s for its reply.
	 * @return the reply, or an empty text when there is none
	 * @throws IOException when the socket cannot be used
	 */
	String ping() throws IOException {
		this.socket.setSoTimeout(TIMEOUT_MILLIS);
		try {
			return ask("PING");
		}
		catch (IOException ex) {
			return "";
		}
		finally {
			this.socket.setSoTimeout(0);
		}
	}

	private String readLine() throws IOException {
		ByteArrayOutputStream line = new ByteArrayOutputStream();
		for (int next = this.in.read(); next != '\n' && line.size() < LONGEST_LINE; next = this.in.read()) {
			if (next < 0) {
				throw new EOFException("The connection was closed");
			}
			line.write(next);
		}
		return line.toString(StandardCharsets.UTF_8).trim();
	}

	@Override
	public void close() throws IOException {
		this.socket.close();
	}

}
