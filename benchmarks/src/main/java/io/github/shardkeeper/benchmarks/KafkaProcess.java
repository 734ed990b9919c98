package io.github.shardkeeper.benchmarks;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import org.apache.kafka.common.utils.AppInfoParser;

import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * Starts a Kafka of one node, broker and controller at once, in a process of its own. Has
 * no state.
 */
public final class KafkaProcess {

	/** Libraries that only the broker needs lie beside those of the benchmarks. */
	private static final String LIBRARIES = "kafka";

	private KafkaProcess() {
	}

	/**
	 * Starts a broker, and waits until it answers.
	 * @param settings those that are not at their defaults
	 * @return the running broker; the caller closes it
	 */
	public static EmbeddedKafka start(Map<String, String> settings) {
		EmbeddedKafka.Builder builder = EmbeddedKafka.builder()
			.kafkaDefaults()
			.javaOptions("-Xms512m", "-Xmx512m")
			.classPath(libraries());
		settings.forEach(builder::setting);
		return builder.start();
	}

	/**
	 * Says which Kafka it is.
	 * @return name and version
	 */
	public static String version() {
		return "Kafka " + AppInfoParser.getVersion();
	}

	/** Nothing where they are on the class path, as in tests. */
	private static String libraries() {
		try {
			Path classes = Path.of(KafkaProcess.class.getProtectionDomain().getCodeSource().getLocation().toURI());
			return Files.isRegularFile(classes) ? classes.resolveSibling(LIBRARIES) + File.separator + "*" : "";
		}
		catch (URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
