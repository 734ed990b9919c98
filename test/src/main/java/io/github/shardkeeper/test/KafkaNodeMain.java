package io.github.shardkeeper.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Time;

import org.springframework.util.FileSystemUtils;

/**
 * Process of one node. It ends when its standard input is closed, so with the JVM that
 * has started it, even if that one is killed.
 */
final class KafkaNodeMain {

	/** Line on the standard output that says that the node is ready. */
	static final String READY = "Kafka node is ready";

	private static final int DELETION_ATTEMPTS = 5;

	private KafkaNodeMain() {
	}

	/**
	 * Formats the storage if it is new, and runs the node until it is terminated.
	 * @param args the cluster's directory, which is deleted when the other JVM is gone;
	 * the file with the node's settings; and the cluster's id
	 * @throws IOException if the settings cannot be read
	 */
	public static void main(String[] args) throws IOException {
		Path directory = Path.of(args[0]);
		Thread watch = new Thread(() -> endWithParent(directory), "test-kafka-parent-watch");
		watch.setDaemon(true);
		watch.start();
		int formatted = StorageTool
			.execute(new String[] { "format", "--ignore-formatted", "-t", args[2], "-c", args[1] }, System.out);
		if (formatted != 0) {
			System.exit(formatted);
		}
		Properties settings = new Properties();
		try (var reader = Files.newBufferedReader(Path.of(args[1]))) {
			settings.load(reader);
		}
		KafkaRaftServer server = new KafkaRaftServer(new KafkaConfig(settings), Time.SYSTEM);
		Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown, "test-kafka-shutdown"));
		server.startup();
		System.out.println(READY);
		server.awaitShutdown();
	}

	private static void endWithParent(Path directory) {
		try {
			while (System.in.read() >= 0) {
				// Nobody writes anything.
			}
		}
		catch (IOException ex) {
			System.out.println("Standard input cannot be read: " + ex);
		}
		// The node still writes files meanwhile, and other nodes delete the same ones.
		for (int attempt = 0; attempt < DELETION_ATTEMPTS && Files.exists(directory); attempt++) {
			try {
				FileSystemUtils.deleteRecursively(directory);
			}
			catch (IOException ex) {
				System.out.println("Not deleted yet: " + ex);
			}
		}
		Runtime.getRuntime().halt(1);
	}

}
