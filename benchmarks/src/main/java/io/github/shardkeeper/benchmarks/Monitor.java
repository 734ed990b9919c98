package io.github.shardkeeper.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Counts the commands that clients send to a Redis. Its own statistics also count the
 * calls of scripts. Has no state.
 */
public final class Monitor {

	/** Time, database and client; then the command. */
	private static final Pattern SENT = Pattern.compile("^\\+[0-9.]+ \\[\\d+ (?<client>[^]]+)] \"(?<command>\\w+)\"");

	private Monitor() {
	}

	/**
	 * Watches a Redis for a while.
	 * @param port the port of Redis
	 * @param seconds the duration
	 * @return the number of times by command
	 * @throws IOException if the connection fails
	 */
	public static Map<String, Integer> watch(int port, long seconds) throws IOException {
		Map<String, Integer> sent = new TreeMap<>();
		try (Socket socket = new Socket("127.0.0.1", port)) {
			socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.US_ASCII));
			BufferedReader lines = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
			long end = System.nanoTime() + seconds * 1_000_000_000L;
			for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
				socket.setSoTimeout((int) Math.max(1, left / 1_000_000));
				try {
					Matcher line = SENT.matcher(String.valueOf(lines.readLine()));
					if (line.find() && !line.group("client").equals("lua")) {
						sent.merge(line.group("command").toUpperCase(Locale.ROOT), 1, Integer::sum);
					}
				}
				catch (SocketTimeoutException ex) {
					// Nothing came until the end.
				}
			}
		}
		return sent;
	}

}
