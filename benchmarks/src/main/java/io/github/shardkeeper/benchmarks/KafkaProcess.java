package io.github.shardkeeper.benchmarks;

import java.util.Map;

import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * Starts a Kafka of one node, broker and controller at once, in a process of its own. Has
 * no state.
 */
public final class KafkaProcess {

	private KafkaProcess() {
	}

	/**
	 * Starts a broker, and waits until it replies.
	 * @param settings those that are not at their defaults
	 * @return the running broker; the caller closes it
	 */
	public static EmbeddedKafka start(Map<String, String> settings) {
		EmbeddedKafka.Builder builder = EmbeddedKafka.builder()
			.kafkaDefaults()
			.javaOptions("-Xms512m", "-Xmx512m")
			.classPath(ClassPath.librariesOfProcesses());
		settings.forEach(builder::setting);
		return builder.start();
	}

}
