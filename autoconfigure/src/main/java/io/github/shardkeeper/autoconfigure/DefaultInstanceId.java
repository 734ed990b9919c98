package io.github.shardkeeper.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Default of {@code shardkeeper.instance-id}: host name and process id, and a number for
 * each further application context, which is an instance of its own. Thread-safe.
 */
final class DefaultInstanceId {

	/** System property, because each web application of a server loads this class. */
	private static final String CONTEXTS = DefaultInstanceId.class.getName() + ".contexts";

	private static final int MAX_HOST_LENGTH = 60;

	private DefaultInstanceId() {
	}

	static String next() {
		String host;
		try {
			host = InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			host = "localhost";
		}
		String readable = host.replaceAll("[^A-Za-z0-9-]", "-").replaceAll("^-+", "");
		readable = readable.isEmpty() ? "host" : readable.substring(0, Math.min(readable.length(), MAX_HOST_LENGTH));
		int context = nextContext();
		return readable + "-" + ProcessHandle.current().pid() + ((context > 1) ? "-" + context : "");
	}

	private static int nextContext() {
		Object count = System.getProperties()
			.merge(CONTEXTS, "1", (before, one) -> Integer.toString(Integer.parseInt(before.toString()) + 1));
		return Integer.parseInt(String.valueOf(count));
	}

}
