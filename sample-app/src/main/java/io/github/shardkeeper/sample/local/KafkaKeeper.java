package io.github.shardkeeper.sample.local;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;

import javax.management.MBeanServer;
import javax.management.ObjectName;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.FileSystemUtils;

/**
 * {@linkplain KeeperProcess Process of its own} that keeps a Kafka: a single node, broker
 * and controller at once, in the same JVM.
 */
final class KafkaKeeper {

	/** Listener of clients; the node itself uses others. */
	private static final String LISTENER = "CLIENT";

	private KafkaKeeper() {
	}

	/**
	 * Starts a keeper and waits until its Kafka is ready. If another keeper was faster on
	 * the same port, that one's Kafka may not be ready yet.
	 * @param port the port on which Kafka shall listen
	 * @return the output of the keeper, in case nothing listens there
	 * @throws IOException when the keeper cannot be started
	 */
	static String start(int port) throws IOException {
		return KeeperProcess.start(KafkaKeeper.class, port, "-Xmx256m",
				"-Dlogback.configurationFile=io/github/shardkeeper/sample/local/keeper-logback.xml");
	}

	/**
	 * Keeps a Kafka until nobody else has been connected for 5 s, or until this process
	 * is asked to end.
	 * @param args the port
	 * @throws Exception when Kafka does not know its connections
	 */
	public static void main(String[] args) throws Exception {
		Path directory = Files.createTempDirectory("shardkeeper-sample-kafka");
		KafkaRaftServer kafka = start(directory, Integer.parseInt(args[0]));
		if (kafka == null) {
			FileSystemUtils.deleteRecursively(directory);
			System.out.flush();
			// Threads of the node that did not start may still run.
			Runtime.getRuntime().halt(1);
			return;
		}
		Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(kafka, directory), "kafka-stop"));
		System.out.close();
		System.err.close();
		KeeperProcess.awaitDeserted(() -> connections() == 0);
		System.exit(0);
	}

	private static @Nullable KafkaRaftServer start(Path directory, int port) {
		try {
			Properties settings = settings(directory, port);
			format(directory, settings);
			KafkaRaftServer kafka = new KafkaRaftServer(new KafkaConfig(settings), Time.SYSTEM);
			kafka.startup();
			return kafka;
		}
		catch (Exception ex) {
			System.out.println(NestedExceptionUtils.getMostSpecificCause(ex).getMessage());
			return null;
		}
	}

	private static Properties settings(Path directory, int port) throws IOException {
		int controller = freePort();
		Properties settings = new Properties();
		settings.putAll(Map.of("process.roles", "broker,controller", "node.id", "1", "controller.quorum.voters",
				"1@127.0.0.1:" + controller, "listeners",
				LISTENER + "://127.0.0.1:%d,INTERNAL://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d".formatted(port,
						freePort(), controller),
				"listener.security.protocol.map", LISTENER + ":PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
				"controller.listener.names", "CONTROLLER", "inter.broker.listener.name", "INTERNAL", "log.dirs",
				directory.resolve("data").toString()));
		// There is one node only, for one topic.
		settings.putAll(Map.of("offsets.topic.replication.factor", "1", "offsets.topic.num.partitions", "1",
				"transaction.state.log.replication.factor", "1", "transaction.state.log.min.isr", "1",
				"transaction.state.log.num.partitions", "1", "auto.create.topics.enable", "false",
				"log.cleaner.dedupe.buffer.size", "4194304"));
		// An instance is connected for as long as it lives, and need not say anything.
		settings.put("connections.max.idle.ms", "-1");
		return settings;
	}

	private static void format(Path directory, Properties settings) throws IOException {
		Path file = directory.resolve("server.properties");
		try (var writer = Files.newBufferedWriter(file)) {
			settings.store(writer, null);
		}
		ByteArrayOutputStream output = new ByteArrayOutputStream();
		int status = StorageTool.execute(
				new String[] { "format", "-t", Uuid.randomUuid().toString(), "-c", file.toString() },
				new PrintStream(output, true, StandardCharsets.UTF_8));
		if (status != 0) {
			throw new IOException(output.toString(StandardCharsets.UTF_8));
		}
	}

	private static long connections() throws Exception {
		MBeanServer server = ManagementFactory.getPlatformMBeanServer();
		double connections = 0;
		for (ObjectName name : server.queryNames(
				new ObjectName("kafka.server:type=socket-server-metrics,listener=" + LISTENER + ",networkProcessor=*"),
				null)) {
			connections += ((Number) server.getAttribute(name, "connection-count")).doubleValue();
		}
		return Math.round(connections);
	}

	private static void stop(KafkaRaftServer kafka, Path directory) {
		kafka.shutdown();
		try {
			FileSystemUtils.deleteRecursively(directory);
		}
		catch (IOException ex) {
			throw new IllegalStateException(directory + " could not be deleted", ex);
		}
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
	}

}
