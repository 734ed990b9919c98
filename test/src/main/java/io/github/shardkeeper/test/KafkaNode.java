package io.github.shardkeeper.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * One node of an {@link EmbeddedKafka}, as a process of its own. Its data outlives the
 * process. Confined to one thread at a time, except {@link #kill()}.
 */
final class KafkaNode {

	private static final Duration TIMEOUT = Duration.ofSeconds(90);

	/** Enough for the cause and the stack trace. */
	private static final int LOG_LINES = 60;

	/**
	 * The broker's log in words of the test: what it warns of, on its standard output.
	 */
	private static final String LOGBACK = """
			<configuration>
				<appender name="out" class="ch.qos.logback.core.ConsoleAppender">
					<encoder><pattern>%d %-5level %logger{0} %msg%n</pattern></encoder>
				</appender>
				<root level="WARN"><appender-ref ref="out"/></root>
			</configuration>
			""";

	private static final Pattern SEGMENT_FILE = Pattern.compile("\\d{20}\\..+");

	/**
	 * The beginning of a record batch: first offset (8 bytes), length of what follows
	 * (4), epoch (4), version (1), checksum (4), attributes (2) and the distance to the
	 * last offset (4).
	 */
	private static final int BATCH_HEAD = 27;

	private final String name;

	private final Path data;

	private final Path settings;

	private final List<String> command;

	private final String classPath;

	/** The last lines of the current process. */
	private final Deque<String> log = new ArrayDeque<>();

	private @Nullable Process process;

	private CompletableFuture<Void> ready = new CompletableFuture<>();

	/** Shell that continues the frozen process, at the latest when this JVM ends. */
	private @Nullable Process freezer;

	/**
	 * Prepares a node.
	 * @param name its name in messages, and of its directory
	 * @param clusterDirectory the directory of all nodes
	 * @param settings the settings of the node
	 * @param clusterId the id of the cluster
	 * @param javaOptions the options of its JVM
	 * @param classPath the class path of its JVM
	 */
	KafkaNode(String name, Path clusterDirectory, Map<String, String> settings, String clusterId,
			List<String> javaOptions, String classPath) {
		this.name = name;
		this.classPath = classPath;
		Path directory = clusterDirectory.resolve(name);
		this.settings = directory.resolve("server.properties");
		this.data = directory.resolve("data");
		Path logback = directory.resolve("logback.xml");
		Properties all = new Properties();
		all.putAll(settings);
		all.put("log.dirs", this.data.toString());
		try {
			Files.createDirectories(directory);
			Files.writeString(logback, LOGBACK);
			try (var writer = Files.newBufferedWriter(this.settings)) {
				all.store(writer, null);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.command = new ArrayList<>();
		this.command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		// The application's own configuration of the log is for another program.
		this.command.addAll(List.of("-Dlogback.configurationFile=" + logback,
				"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.logFile=System.out"));
		this.command.addAll(javaOptions);
		this.command.addAll(List.of(KafkaNodeMain.class.getName(), clusterDirectory.toString(),
				this.settings.toString(), clusterId));
	}

	/** Starts the process; {@link #awaitReady()} waits for it. */
	void launch() {
		ProcessBuilder builder = new ProcessBuilder(this.command).redirectErrorStream(true);
		builder.environment().put("CLASSPATH", this.classPath);
		synchronized (this.log) {
			this.log.clear();
		}
		CompletableFuture<Void> started = new CompletableFuture<>();
		this.ready = started;
		try {
			Process launched = builder.start();
			this.process = launched;
			Thread reader = new Thread(() -> readLog(launched, started), "test-kafka-log");
			reader.setDaemon(true);
			reader.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Waits until the node has joined its cluster, and accepts connections. */
	void awaitReady() {
		try {
			this.ready.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			kill();
			throw new StartFailedException("The process of Kafka's " + this.name + " ended: " + lastLines());
		}
		catch (TimeoutException ex) {
			kill();
			throw new StartFailedException(
					"Kafka's %s is not ready after %d s: %s".formatted(this.name, TIMEOUT.toSeconds(), lastLines()));
		}
		catch (InterruptedException ex) {
			kill();
			Thread.currentThread().interrupt();
			throw new StartFailedException("Interrupted while Kafka started");
		}
	}

	/** Also reads after the start, because a full pipe would stop the process. */
	private void readLog(Process launched, CompletableFuture<Void> started) {
		try (BufferedReader lines = launched.inputReader()) {
			for (String line = lines.readLine(); line != null; line = lines.readLine()) {
				if (line.equals(KafkaNodeMain.READY)) {
					started.complete(null);
				}
				synchronized (this.log) {
					this.log.add(line);
					if (this.log.size() > LOG_LINES) {
						this.log.remove();
					}
				}
			}
		}
		catch (IOException ex) {
			// The process was killed.
		}
		started.completeExceptionally(new IOException("ended"));
	}

	private String lastLines() {
		synchronized (this.log) {
			return "its last lines are\n" + String.join("\n", this.log);
		}
	}

	boolean isRunning() {
		return current().isAlive();
	}

	/** As {@code kill} does: the node hands its partitions over first. */
	void stop() {
		thaw();
		Process running = current();
		// Not the method of Process, which also closes the standard input.
		running.toHandle().destroy();
		try {
			if (!running.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
				kill();
				throw new IllegalStateException("Kafka's %s was killed, because it did not stop within %d s: %s"
					.formatted(this.name, TIMEOUT.toSeconds(), lastLines()));
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	/** As {@code kill -9} does. */
	void kill() {
		Process running = this.process;
		if (running != null) {
			running.destroyForcibly().onExit().join();
			thaw();
		}
	}

	/**
	 * Removes the records from an offset on, and those in one batch with the first of
	 * them, while the process does not run; returns the offset of the first one removed.
	 */
	long loseRecords(String topic, int partition, long first) {
		Path directory = this.data.resolve(topic + "-" + partition);
		try (Stream<Path> files = Files.list(directory)) {
			List<Path> all = files.filter(Files::isRegularFile).toList();
			Path segment = all.stream()
				.filter((file) -> file.toString().endsWith(".log") && offset(file) <= first)
				.max(Comparator.comparingLong(KafkaNode::offset))
				.orElseThrow(() -> new IllegalArgumentException(
						"%s-%d has no record with the offset %d".formatted(topic, partition, first)));
			long lost = truncate(segment, first);
			for (Path file : all) {
				// Indexes and snapshots are derived from the records.
				if (!file.equals(segment) && SEGMENT_FILE.matcher(file.getFileName().toString()).matches()
						&& offset(file) >= offset(segment)) {
					Files.delete(file);
				}
			}
			return lost;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The name of a file is the offset of its first record. */
	private static long offset(Path file) {
		String name = file.getFileName().toString();
		return Long.parseLong(name.substring(0, name.indexOf('.')));
	}

	/** Cuts a file of record batches before the one that has a record. */
	private static long truncate(Path segment, long first) throws IOException {
		try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			ByteBuffer head = ByteBuffer.allocate(BATCH_HEAD);
			for (long at = 0; channel.read(head.clear(), at) == BATCH_HEAD;) {
				long base = head.getLong(0);
				int length = head.getInt(Long.BYTES);
				if (base + head.getInt(BATCH_HEAD - Integer.BYTES) >= first) {
					channel.truncate(at);
					return base;
				}
				at += Long.BYTES + Integer.BYTES + length;
			}
		}
		throw new IllegalArgumentException("%s has no record with the offset %d".formatted(segment, first));
	}

	/** Stops the process ({@code SIGSTOP}), until it is thawed or this JVM has ended. */
	void freeze() {
		if (this.freezer != null) {
			return;
		}
		try {
			Process shell = new ProcessBuilder("/bin/sh", "-c",
					"kill -STOP $0 && echo frozen && read line; kill -CONT $0", Long.toString(current().pid()))
				.start();
			this.freezer = shell;
			if (!Objects.equals(shell.inputReader().readLine(), "frozen")) {
				throw new IllegalStateException("Kafka's " + this.name + " cannot be frozen: "
						+ String.join(" ", shell.errorReader().lines().toList()));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Continues the process, if it is frozen. */
	void thaw() {
		Process shell = this.freezer;
		if (shell != null) {
			this.freezer = null;
			try {
				shell.getOutputStream().close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			shell.onExit().join();
		}
	}

	private Process current() {
		return Objects.requireNonNull(this.process, "not started");
	}

	/** The process ended before it was ready. */
	static final class StartFailedException extends RuntimeException {

		StartFailedException(String message) {
			super(message);
		}

		/** Whether another process has taken a port meanwhile. */
		boolean isPortInUse() {
			return String.valueOf(getMessage()).contains("already in use");
		}

	}

}
