package io.github.shardkeeper.sample.local;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Process of its own that starts a server and stops it when nobody is connected any more.
 * It has to be a process: the instance that wanted the server may be killed at any
 * moment, while others still use it. Has no state.
 */
final class KeeperProcess {

	/**
	 * Runs a command in a process group of its own. Ctrl-C in a terminal reaches the
	 * whole group of what was typed there, and the server would obey it. macOS has no
	 * {@code setsid}, but its shell has job control without a terminal.
	 */
	static final List<String> IN_OWN_PROCESS_GROUP = List.of("/bin/sh", "-c",
			"command -v setsid >/dev/null && exec setsid \"$@\"; set -m; \"$@\" &", "sh");

	private static final int CONNECT_MILLIS = 2000;

	private static final int DESERTED_SECONDS = 5;

	private KeeperProcess() {
	}

	/**
	 * Starts a keeper and waits until its server is ready, or has failed.
	 * @param main the keeper's main class; it closes its output when the server is ready,
	 * and ends when that has failed
	 * @param port the port on which the server shall listen
	 * @param javaOptions options of its JVM
	 * @return its output, which says why the server has failed
	 * @throws IOException when the process cannot be started
	 */
	static String start(Class<?> main, int port, String... javaOptions) throws IOException {
		if (System.getProperty("os.name").startsWith("Windows")) {
			throw new IOException("the sample starts no servers on Windows");
		}
		List<String> command = new ArrayList<>(IN_OWN_PROCESS_GROUP);
		command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC",
				"-XX:TieredStopAtLevel=1"));
		command.addAll(List.of(javaOptions));
		String classPath = System.getProperty("java.class.path");
		if (classPath.contains(System.getProperty("path.separator"))) {
			command.add(main.getName());
		}
		else {
			// The executable jar; its main class would start another instance.
			command.add("-Dloader.main=" + main.getName());
			command.add("org.springframework.boot.loader.launch.PropertiesLauncher");
		}
		command.add(Integer.toString(port));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		builder.environment().put("CLASSPATH", classPath);
		Process keeper = builder.start();
		keeper.getOutputStream().close();
		return new String(keeper.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
	}

	/**
	 * Connects to a server on this machine.
	 * @param port the port
	 * @return the connection, or {@code null} when nothing listens there
	 * @throws IOException when connecting fails for another reason
	 */
	static @Nullable Socket connect(int port) throws IOException {
		Socket socket = new Socket();
		try {
			socket.connect(new InetSocketAddress("127.0.0.1", port), CONNECT_MILLIS);
			return socket;
		}
		catch (ConnectException ex) {
			socket.close();
			return null;
		}
		catch (IOException ex) {
			socket.close();
			throw ex;
		}
	}

	/**
	 * Waits until nobody has been connected to the keeper's server for 5 s.
	 * @param alone whether nobody is connected at the moment
	 */
	static void awaitDeserted(Check alone) throws Exception {
		int aloneSeconds = 0;
		while (aloneSeconds < DESERTED_SECONDS) {
			Thread.sleep(1000);
			aloneSeconds = alone.isTrue() ? aloneSeconds + 1 : 0;
		}
	}

	/** Question to a server, which may fail. */
	interface Check {

		boolean isTrue() throws Exception;

	}

}
