package io.github.shardkeeper.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A JVM of its own that replies to each line on its standard input with a
 * {@linkplain Figures line of figures}. It ends when its input is closed, and with this
 * JVM at the latest. Thread-safe.
 */
public final class ChildProcess implements AutoCloseable {

	private static final long PATIENCE_SECONDS = 300;

	private static final long END_SECONDS = 10;

	private final Process process;

	private final PrintStream requests;

	private final BlockingQueue<String> replies = new LinkedBlockingQueue<>();

	private final List<String> output = new ArrayList<>();

	private ChildProcess(Process process) {
		this.process = process;
		this.requests = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
		Thread reader = new Thread(this::read, "benchmark-child");
		reader.setDaemon(true);
		reader.start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
	}

	/** Returns the command that starts a JVM of the version of this one. */
	public static String java() {
		return Path.of(System.getProperty("java.home"), "bin", "java").toString();
	}

	/**
	 * Starts one, with the JVM's defaults.
	 * @param main its main class, which ends with {@link Figures#serve}
	 * @param arguments the arguments of the main class, as texts
	 */
	public static ChildProcess start(List<String> classPath, Class<?> main, Object... arguments) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(java(), "-cp", String.join(System.getProperty("path.separator"), classPath), main.getName()));
		Stream.of(arguments).map(String::valueOf).forEach(command::add);
		return new ChildProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
	}

	private void read() {
		try (BufferedReader reader = new BufferedReader(
				new InputStreamReader(this.process.getInputStream(), StandardCharsets.UTF_8))) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				if (line.startsWith(Figures.MARK)) {
					this.replies.add(line);
				}
				else {
					synchronized (this.output) {
						this.output.add(line);
					}
				}
			}
		}
		catch (IOException ex) {
			// It was killed.
		}
		this.replies.add("");
	}

	/** Waits for the next line of figures, and returns them by their names. */
	public Map<String, Double> await() throws InterruptedException {
		String line = this.replies.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
		if (line == null || line.isEmpty()) {
			synchronized (this.output) {
				throw new IllegalStateException("No figures, but this output: " + String.join("\n", this.output));
			}
		}
		Map<String, Double> figures = new HashMap<>();
		for (String part : line.substring(Figures.MARK.length()).strip().split(" ")) {
			int equals = part.indexOf('=');
			figures.put(part.substring(0, equals), Double.parseDouble(part.substring(equals + 1)));
		}
		return figures;
	}

	/** Requests figures, which {@link #await} returns. */
	public void request(String request) {
		this.requests.println(request);
	}

	/** Requests figures, and waits for them. */
	public Map<String, Double> ask(String request) throws InterruptedException {
		request(request);
		return await();
	}

	/**
	 * Returns the processor time that it has used so far, in steps of the operating
	 * system's clock.
	 */
	public Duration processorTime() {
		return this.process.info().totalCpuDuration().orElseThrow();
	}

	/** Ends it; kills it if it does not end soon. */
	@Override
	public void close() {
		this.requests.close();
		try {
			if (!this.process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
				this.process.destroyForcibly().waitFor();
			}
		}
		catch (InterruptedException ex) {
			this.process.destroyForcibly();
			Thread.currentThread().interrupt();
		}
	}

	/** Output of the child's main class. Has no state. */
	public static final class Figures {

		static final String MARK = "FIGURES";

		private Figures() {
		}

		/**
		 * Prints figures.
		 * @param figures names, which have no blanks, each followed by its value
		 */
		public static void print(Object... figures) {
			StringBuilder line = new StringBuilder(MARK);
			for (int i = 0; i < figures.length; i += 2) {
				line.append(' ').append(figures[i]).append('=').append(figures[i + 1]);
			}
			System.out.println(line);
		}

		/**
		 * Replies every request until the input is closed, then ends the JVM in order.
		 * @param reply prints figures for the text of a request
		 */
		public static void serve(Consumer<String> reply) throws IOException {
			BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
			for (String request = requests.readLine(); request != null; request = requests.readLine()) {
				reply.accept(request);
			}
			System.exit(0);
		}

	}

}
