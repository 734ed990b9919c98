package io.github.shardkeeper.test;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@Tag("proof")
class EmbeddedKafkaTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@Test
	void keepsPortAndDataWhileItIsOpen() throws Exception {
		Path directory;
		try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
			directory = kafka.directory();
			String address = kafka.bootstrapServers();
			kafka.createTopic("visits", 2);
			send(kafka, "visits", "1");

			kafka.kill();
			assertThat(kafka.isRunning(1)).isFalse();
			kafka.restart();
			send(kafka, "visits", "2");

			kafka.stop();
			assertThat(kafka.isRunning(1)).isFalse();
			kafka.restart();
			assertThat(kafka.bootstrapServers()).isEqualTo(address);
			assertThat(read(kafka, "visits", 2)).containsExactly("1", "2");

			kafka.freeze();
			kafka.thaw();
			send(kafka, "visits", "3");
			assertThat(read(kafka, "visits", 3)).containsExactly("1", "2", "3");
			assertThat(directory).exists();
		}
		assertThat(directory).doesNotExist();
	}

	@Test
	void anyOfSeveralBrokersMayDie() throws Exception {
		try (EmbeddedKafka kafka = EmbeddedKafka.startCluster(2)) {
			kafka.createTopic("visits", 1);
			send(kafka, "visits", "1");

			int leader = kafka.leaderOf("visits", 0).orElseThrow();
			kafka.kill(leader);
			await().atMost(PATIENCE).until(() -> kafka.leaderOf("visits", 0), Optional.of(3 - leader)::equals);
			send(kafka, "visits", "2");

			kafka.restart(leader);
			await().atMost(PATIENCE).until(() -> inSync(kafka, "visits") == 2);
			kafka.stop(3 - leader);
			assertThat(kafka.leaderOf("visits", 0)).contains(leader);
			assertThat(read(kafka, "visits", 2)).containsExactly("1", "2");
		}
	}

	@Test
	void asksForUsers() throws Exception {
		try (EmbeddedKafka kafka = EmbeddedKafka.builder().user("ann", "secret").start()) {
			kafka.createTopic("visits", 1);
			send(kafka, "visits", "1");
			assertThat(read(kafka, "visits", 1)).containsExactly("1");

			Map<String, Object> wrong = kafka.clientProperties();
			wrong.putAll(EmbeddedKafka.credentials("ann", "wrong"));
			try (Admin admin = Admin.create(wrong)) {
				assertThatExceptionOfType(ExecutionException.class)
					.isThrownBy(() -> admin.describeCluster().nodes().get())
					.withCauseInstanceOf(SaslAuthenticationException.class);
			}
		}
	}

	@Test
	void failedStartIsExplained() {
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> EmbeddedKafka.builder().setting("num.io.threads", "many").start())
			.withMessageContaining("num.io.threads");
	}

	@Test
	void namesTheDependencyThatIsMissing() throws Exception {
		Process process = java(Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> !entry.contains("kafka"))
			.collect(Collectors.joining(File.pathSeparator)), Started.class);
		try (BufferedReader output = process.inputReader()) {
			assertThat(output.lines().toList()).anySatisfy(
					(line) -> assertThat(line).contains("IllegalStateException", "org.apache.kafka:kafka_2.13"));
		}
	}

	@Test
	void endsWithTheJvmThatIsKilledEvenWhenFrozen() throws Exception {
		Process process = java(System.getProperty("java.class.path"), Started.class);
		try (BufferedReader output = process.inputReader()) {
			long pid = Long.parseLong(output.readLine());
			Path directory = Path.of(output.readLine());
			assertThat(ProcessHandle.of(pid)).get().matches(ProcessHandle::isAlive);
			assertThat(directory).exists();
			process.destroyForcibly().waitFor();
			await().atMost(PATIENCE)
				.until(() -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty()
						&& Files.notExists(directory));
		}
		finally {
			process.destroyForcibly();
		}
	}

	/** JVM that starts a Kafka, freezes it, and says where it is. */
	static final class Started {

		public static void main(String[] args) throws Exception {
			EmbeddedKafka kafka = EmbeddedKafka.start();
			kafka.freeze();
			System.out.println(broker().pid());
			System.out.println(kafka.directory());
			System.in.read();
		}

		private static ProcessHandle broker() {
			return ProcessHandle.current()
				.children()
				.filter((child) -> child.info().command().orElse("").endsWith("java"))
				.findFirst()
				.orElseThrow();
		}

	}

	private static Process java(String classPath, Class<?> main) throws IOException {
		ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-XX:TieredStopAtLevel=1", main.getName())
			.redirectErrorStream(true);
		builder.environment().put("CLASSPATH", classPath);
		return builder.start();
	}

	private static void send(EmbeddedKafka kafka, String topic, String value) throws Exception {
		StringSerializer text = new StringSerializer();
		try (KafkaProducer<String, String> producer = new KafkaProducer<>(kafka.clientProperties(), text, text)) {
			producer.send(new ProducerRecord<>(topic, 0, null, value)).get();
		}
	}

	/** The first values of a topic's first partition. */
	private static List<String> read(EmbeddedKafka kafka, String topic, int count) {
		Map<String, Object> properties = new HashMap<>(kafka.clientProperties());
		properties.put("auto.offset.reset", "earliest");
		StringDeserializer text = new StringDeserializer();
		try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties, text, text)) {
			consumer.assign(List.of(new TopicPartition(topic, 0)));
			List<String> values = new ArrayList<>();
			long deadline = System.nanoTime() + PATIENCE.toNanos();
			while (values.size() < count && System.nanoTime() - deadline < 0) {
				consumer.poll(Duration.ofMillis(100)).forEach((record) -> values.add(record.value()));
			}
			return values;
		}
	}

	private static int inSync(EmbeddedKafka kafka, String topic) throws Exception {
		try (Admin admin = kafka.admin()) {
			return admin.describeTopics(List.of(topic))
				.allTopicNames()
				.get()
				.get(topic)
				.partitions()
				.get(0)
				.isr()
				.size();
		}
	}

}
