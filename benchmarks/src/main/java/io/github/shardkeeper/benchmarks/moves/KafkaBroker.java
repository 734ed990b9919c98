package io.github.shardkeeper.benchmarks.moves;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Uuid;

import org.springframework.util.FileSystemUtils;

/**
 * A Kafka of one node, broker and controller at once, in a process of its own. Ends with
 * the JVM at the latest. Thread-safe.
 */
final class KafkaBroker implements AutoCloseable {

	private static final int PATIENCE_SECONDS = 60;

	private static final int POLL_MILLIS = 100;

	/** Enough for the cause and the stack trace. */
	private static final int LOGS_LAST_LINES = 40;

	/** Libraries that only the broker needs lie beside those of the benchmarks. */
	private static final String LIBRARIES = "kafka";

	private final Process process;

	private final Path directory;

	private final int port;

	private KafkaBroker(Process process, Path directory, int port) {
		this.process = process;
		this.directory = directory;
		this.port = port;
	}

	/**
	 * Starts a broker, and waits until it answers.
	 * @param settings those that are not at their defaults
	 * @return the running broker
	 */
	static KafkaBroker start(Map<String, String> settings) throws Exception {
		Path directory = Files.createTempDirectory("shardkeeper-benchmark-kafka");
		int port = freePort();
		Path file = directory.resolve("server.properties");
		Properties properties = properties(directory, port, freePort());
		properties.putAll(settings);
		try (var writer = Files.newBufferedWriter(file)) {
			properties.store(writer, null);
		}
		Process format = java(directory, "kafka.tools.StorageTool", "format", "-t", Uuid.randomUuid().toString(), "-c",
				file.toString());
		if (format.waitFor() != 0) {
			throw new IOException("The storage was not formatted: " + Files.readString(log(directory)));
		}
		Process process = java(directory, "kafka.Kafka", file.toString());
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
		KafkaBroker broker = new KafkaBroker(process, directory, port);
		try {
			broker.awaitAnswer();
			return broker;
		}
		catch (Exception ex) {
			broker.close();
			throw ex;
		}
	}

	private static Properties properties(Path directory, int port, int controllerPort) {
		Properties properties = new Properties();
		properties.putAll(Map.of("process.roles", "broker,controller", "node.id", "1", "controller.quorum.voters",
				"1@127.0.0.1:" + controllerPort, "listeners",
				"PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d".formatted(port, controllerPort),
				"controller.listener.names", "CONTROLLER", "log.dirs", directory.resolve("data").toString()));
		// There is one node only.
		properties.putAll(Map.of("offsets.topic.replication.factor", "1", "transaction.state.log.replication.factor",
				"1", "transaction.state.log.min.isr", "1"));
		return properties;
	}

	private static Process java(Path directory, String... command) throws Exception {
		List<String> all = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-Xms512m", "-Xmx512m", "-cp", System.getProperty("java.class.path") + libraries()));
		Collections.addAll(all, command);
		return new ProcessBuilder(all).redirectErrorStream(true)
			.redirectOutput(Redirect.appendTo(log(directory).toFile()))
			.start();
	}

	/** Nothing where they are on the class path, as in tests. */
	private static String libraries() throws Exception {
		Path classes = Path.of(KafkaBroker.class.getProtectionDomain().getCodeSource().getLocation().toURI());
		return Files.isRegularFile(classes)
				? File.pathSeparator + classes.resolveSibling(LIBRARIES) + File.separator + "*" : "";
	}

	private static Path log(Path directory) {
		return directory.resolve("broker.log");
	}

	private void awaitAnswer() throws Exception {
		Admin admin = admin();
		try {
			// The client itself tries until it is connected.
			KafkaFuture<?> answer = admin.describeCluster().nodes();
			long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
			while (!isAnswered(answer)) {
				if (!this.process.isAlive()) {
					throw new IOException("Kafka has ended with " + this.process.exitValue() + ": " + logsEnd());
				}
				if (System.nanoTime() - deadline > 0) {
					throw new IOException("Kafka does not answer within " + PATIENCE_SECONDS + " s: " + logsEnd());
				}
			}
		}
		finally {
			// At once: else it would wait until the question times out.
			admin.close(Duration.ZERO);
		}
	}

	private boolean isAnswered(KafkaFuture<?> answer) throws Exception {
		try {
			answer.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (ExecutionException ex) {
			throw new IOException("Kafka does not answer: " + logsEnd(), ex);
		}
	}

	/** In words, because the log itself is deleted with the broker. */
	private String logsEnd() throws IOException {
		List<String> lines = Files.readAllLines(log(this.directory));
		return "its log ends with\n"
				+ String.join("\n", lines.subList(Math.max(0, lines.size() - LOGS_LAST_LINES), lines.size()));
	}

	/**
	 * Creates a topic.
	 * @param name its name
	 * @param partitions how many
	 */
	void createTopic(String name, int partitions) throws Exception {
		try (Admin admin = admin()) {
			admin.createTopics(List.of(new NewTopic(name, Optional.of(partitions), Optional.of((short) 1))))
				.all()
				.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
		}
	}

	private Admin admin() {
		return Admin.create(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, address()));
	}

	String address() {
		return "127.0.0.1:" + this.port;
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
	}

	@Override
	public void close() throws IOException {
		this.process.destroyForcibly();
		this.process.onExit().join();
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
