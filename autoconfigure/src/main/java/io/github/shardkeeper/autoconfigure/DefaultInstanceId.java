package io.github.shardkeeper.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Makes the ids of instances that have none in their settings: the host's name and the
 * process id, and a number for each further application context of the process. Contexts
 * share nothing, so each is an instance of its own. Thread-safe.
 */
final class DefaultInstanceId {

	/** Of the whole process: web applications in one server have classes of their own. */
	private static final String CONTEXTS = DefaultInstanceId.class.getName() + ".contexts";

	private static final int LONGEST_HOST = 60;

	private DefaultInstanceId() {
	}

	/**
	 * Makes an id that no other context of this process has.
	 * @return the id
	 */
	static String next() {
		String host;
		try {
			host = InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			host = "localhost";
		}
		String readable = host.replaceAll("[^A-Za-z0-9-]", "-").replaceAll("^-+", "");
		readable = readable.isEmpty() ? "host" : readable.substring(0, Math.min(readable.length(), LONGEST_HOST));
		int context = nextContext();
		return readable + "-" + ProcessHandle.current().pid() + ((context > 1) ? "-" + context : "");
	}

	private static int nextContext() {
		Object count = System.getProperties()
			.merge(CONTEXTS, "1", (before, one) -> Integer.toString(Integer.parseInt(before.toString()) + 1));
		return Integer.parseInt(String.valueOf(count));
	}

}
