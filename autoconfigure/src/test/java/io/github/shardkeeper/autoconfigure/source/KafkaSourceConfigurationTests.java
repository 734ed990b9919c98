package io.github.shardkeeper.autoconfigure.source;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.LongSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaProperties;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.autoconfigure.client.KafkaClientPropertiesCustomizer;
import io.github.shardkeeper.autoconfigure.client.KafkaClientPropertiesCustomizer.Client;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.kafka.KafkaShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.test.EmbeddedKafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/** The source {@code kafka} of an application. */
class KafkaSourceConfigurationTests {

	private final EmbeddedKafka kafka = EmbeddedKafka.shared();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class, KafkaAutoConfiguration.class,
				SslAutoConfiguration.class))
		.withPropertyValues("shardkeeper.group=kafka", "shardkeeper.store=memory",
				"shardkeeper.topics.orders.source=kafka",
				"spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers());

	@Test
	void recordsAreSentAndConsumedWithTheClientsOfTheApplication() {
		this.kafka.createTopic("wired", 3);
		Recorder recorder = new Recorder();
		this.runner.withBean(Recorder.class, () -> recorder)
			.withPropertyValues("shardkeeper.kafka.topics.orders.name=wired", "spring.kafka.client-id=shop",
					"spring.kafka.consumer.group-id=ignored", "spring.kafka.consumer.auto-offset-reset=latest",
					"spring.kafka.consumer.enable-auto-commit=true")
			.run((context) -> {
				assertThat(context.getBean(SourceRegistry.class).of("orders")).isInstanceOf(KafkaShardSource.class);
				context.getBean(ShardTemplate.class).send("orders", "key", "an order");

				ShardRecord<String> received = recorder.records.poll(20, TimeUnit.SECONDS);
				assertThat(received).isNotNull();
				assertThat(received.payload()).isEqualTo("an order");
				assertThat(received.key()).isEqualTo("key");
				assertThat(received.offset().value()).isEqualTo("0");
			});
	}

	@Test
	void deserializerOfTheApplicationGetsTopicHeadersAndBytes() throws Exception {
		this.kafka.createTopic("deserialized", 1);
		Recorder recorder = new Recorder();
		MessageRecorder messages = new MessageRecorder();
		ProducerRecord<byte[], byte[]> sent = new ProducerRecord<>("deserialized",
				"payload".getBytes(StandardCharsets.UTF_8));
		sent.headers().add("kind", "text".getBytes(StandardCharsets.UTF_8)).add("binary", new byte[] { (byte) 0xff });
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(this.kafka.clientProperties(),
				new ByteArraySerializer(), new ByteArraySerializer())) {
			producer.send(sent).get();
		}
		String expected = "deserialized text 255 payload value";
		ApplicationContextRunner deserializing = this.runner.withPropertyValues(
				"shardkeeper.kafka.topics.orders.name=deserialized", "shardkeeper.kafka.deserializers=true",
				"spring.kafka.consumer.value-deserializer=" + Describing.class.getName(),
				"spring.kafka.consumer.properties.describing.suffix=value");
		deserializing.withBean(Recorder.class, () -> recorder).run((context) -> {
			ShardRecord<String> received = recorder.records.poll(20, TimeUnit.SECONDS);
			assertThat(received).isNotNull();
			assertThat(received.payload()).isEqualTo(expected);
		});
		deserializing.withBean(MessageRecorder.class, () -> messages)
			.run((context) -> assertThat(messages.payloads.poll(20, TimeUnit.SECONDS)).isEqualTo("text: " + expected));
		assertThat(Describing.CLOSED).as("closed with their contexts").hasValueGreaterThanOrEqualTo(2);
	}

	@Test
	void customizersChangeThePropertiesOfEachClient() {
		this.kafka.createTopic("customized", 1);
		NumberRecorder recorder = new NumberRecorder();
		Map<Client, Object> servers = new ConcurrentHashMap<>();
		this.runner.withBean(NumberRecorder.class, () -> recorder)
			.withBean(KafkaClientPropertiesCustomizer.class, () -> (client, properties) -> {
				servers.put(client, properties.get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG));
				if (client == Client.CONSUMER) {
					properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, LongDeserializer.class);
				}
				else if (client == Client.PRODUCER) {
					properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, LongSerializer.class);
				}
			})
			.withPropertyValues("shardkeeper.kafka.topics.orders.name=customized", "shardkeeper.kafka.serializers=true",
					"shardkeeper.kafka.deserializers=true")
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "key", 1042L);

				assertThat(recorder.numbers.poll(20, TimeUnit.SECONDS)).isEqualTo(1042L);
				assertThat(servers).containsOnlyKeys(Client.values())
					.containsValue(List.of(this.kafka.bootstrapServers()));
			});
	}

	@Test
	void serializerOfTheApplicationWritesWhatItsDeserializerReads() {
		this.kafka.createTopic("serialized", 1);
		NumberRecorder recorder = new NumberRecorder();
		this.runner.withBean(NumberRecorder.class, () -> recorder)
			.withPropertyValues("shardkeeper.kafka.topics.orders.name=serialized", "shardkeeper.kafka.serializers=true",
					"shardkeeper.kafka.deserializers=true",
					"spring.kafka.producer.value-serializer=org.apache.kafka.common.serialization.LongSerializer",
					"spring.kafka.consumer.value-deserializer=org.apache.kafka.common.serialization.LongDeserializer")
			.run((context) -> {
				ShardTemplate template = context.getBean(ShardTemplate.class);
				template.send("orders", "key", 1042L);

				assertThat(recorder.numbers.poll(20, TimeUnit.SECONDS)).isEqualTo(1042L);
				assertThatIllegalArgumentException().isThrownBy(() -> template.send("orders", "key", "text"))
					.withMessageContaining("LongSerializer");
			});
	}

	@Test
	void serializerThatDoesNotExistFailsStartup() {
		this.runner.withBean(Recorder.class)
			.withPropertyValues("shardkeeper.kafka.serializers=true",
					"spring.kafka.producer.value-serializer=" + NoDefaultConstructor.class.getName())
			.run((context) -> assertFailure(context.getStartupFailure(), "'spring.kafka.producer.value-serializer'",
					"'shardkeeper.kafka.serializers'"));
	}

	@Test
	void deserializerThatReturnsAnotherTypeIsAConversionFailure() throws Exception {
		this.kafka.createTopic("mismatched", 1);
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(this.kafka.clientProperties(),
				new ByteArraySerializer(), new ByteArraySerializer())) {
			producer.send(new ProducerRecord<>("mismatched", new byte[8])).get();
		}
		this.runner.withBean(Recorder.class)
			.withPropertyValues("shardkeeper.kafka.topics.orders.name=mismatched",
					"shardkeeper.kafka.deserializers=true", "shardkeeper.consumer.commit.interval=100ms",
					"spring.kafka.consumer.value-deserializer=org.apache.kafka.common.serialization.LongDeserializer")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				await().untilAsserted(() -> assertThat(
						context.getBean(DeadLetters.class).list(DeadLetterFilter.topic("orders"), null, 10).toString())
					.contains("has returned a java.lang.Long, but the handler takes a java.lang.String"));
			});
	}

	@Test
	void missingTopicIsAProblemAndTheApplicationStarts() {
		this.runner.withBean(Recorder.class)
			.withPropertyValues("shardkeeper.kafka.topics.orders.name=no-such-topic")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(ShardConsumerRunner.class).topicProblems()).hasEntrySatisfying("orders",
						(problem) -> assertThat(problem).contains("'no-such-topic' does not exist"));
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					shardkeeper.kafka.topics.orders.pattern=a[    | which is not a regular expression   | orders\\..*
					shardkeeper.kafka.topics.visits.name=x        | no topic 'visits' has the source    | Set 'shardkeeper.topics.visits.source: kafka'
					shardkeeper.kafka.refresh-interval=0s         | 'shardkeeper.kafka.refresh-interval' | positive duration
					shardkeeper.topics.orders.trim.max-length=5   | has a retention of its own          | Remove the property
					""")
	void invalidPropertiesFailStartup(String property, String description, String action) {
		this.runner.withPropertyValues(property)
			.run((context) -> assertFailure(context.getStartupFailure(), description, action));
	}

	@Test
	void deserializerThatDoesNotExistFailsStartup() {
		this.runner.withBean(Recorder.class)
			.withPropertyValues("shardkeeper.kafka.deserializers=true",
					"spring.kafka.consumer.value-deserializer=" + NoDefaultConstructor.class.getName())
			.run((context) -> assertFailure(context.getStartupFailure(), "which cannot be created",
					"remove 'shardkeeper.kafka.deserializers'"));
	}

	@Test
	void missingModuleFailsStartup() {
		this.runner.withClassLoader(new FilteredClassLoader(KafkaShardSource.class))
			.run((context) -> assertFailure(context.getStartupFailure(), "'shardkeeper-kafka' is not on the class path",
					"io.github.shardkeeper:shardkeeper-kafka"));
	}

	@Test
	void missingSpringBootKafkaFailsStartup() {
		this.runner.withClassLoader(new FilteredClassLoader(KafkaProperties.class))
			.run((context) -> assertFailure(context.getStartupFailure(), "'spring-boot-kafka' is not on the class path",
					"org.springframework.boot:spring-boot-starter-kafka"));
	}

	@Test
	void excludedKafkaAutoConfigurationFailsStartup() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withPropertyValues("shardkeeper.group=kafka", "shardkeeper.store=memory",
					"shardkeeper.topics.orders.source=kafka")
			.run((context) -> assertFailure(context.getStartupFailure(), "there is no KafkaConnectionDetails bean",
					"KafkaAutoConfiguration"));
	}

	@Test
	@Tag("proof")
	void recordsAreReadOverTlsWithTheSslBundleOfTheApplication(@TempDir Path directory) throws Exception {
		Path certificate = selfSigned(directory);
		String password = "secret";
		try (EmbeddedKafka secured = EmbeddedKafka.builder()
			.setting("listener.security.protocol.map", "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENT:SSL")
			.setting("ssl.keystore.location", certificate.toString())
			.setting("ssl.keystore.password", password)
			.setting("ssl.keystore.type", "PKCS12")
			.start()) {
			try (Admin admin = Admin.create(Map.of("bootstrap.servers", secured.bootstrapServers(), "security.protocol",
					"SSL", "ssl.truststore.location", certificate.toString(), "ssl.truststore.password", password,
					"ssl.truststore.type", "PKCS12"))) {
				admin.createTopics(List.of(new NewTopic("orders", 1, (short) 1))).all().get();
			}
			ApplicationContextRunner overTls = this.runner.withPropertyValues(
					"spring.kafka.bootstrap-servers=" + secured.bootstrapServers(),
					"spring.kafka.security.protocol=SSL");
			Recorder recorder = new Recorder();
			overTls.withBean(Recorder.class, () -> recorder)
				.withPropertyValues("spring.kafka.ssl.bundle=brokers",
						"spring.ssl.bundle.jks.brokers.truststore.location=file:" + certificate,
						"spring.ssl.bundle.jks.brokers.truststore.password=" + password,
						"spring.ssl.bundle.jks.brokers.truststore.type=PKCS12")
				.run((context) -> {
					context.getBean(ShardTemplate.class).send("orders", "key", "an order");
					ShardRecord<String> received = recorder.records.poll(20, TimeUnit.SECONDS);
					assertThat(received).isNotNull();
					assertThat(received.payload()).isEqualTo("an order");
				});
			overTls.run((context) -> await().untilAsserted(
					() -> assertThat(context.getBean(SourceRegistry.class).of("orders").problems().get("orders"))
						.contains("no TLS connection to " + secured.bootstrapServers())
						.contains("'spring.kafka.ssl.*'")));
		}
	}

	private static Path selfSigned(Path directory) throws Exception {
		Path file = directory.resolve("broker.p12");
		Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-genkeypair", "-alias", "broker", "-keyalg", "EC", "-dname", "CN=broker", "-ext", "SAN=ip:127.0.0.1",
				"-storetype", "PKCS12", "-keystore", file.toString(), "-storepass", "secret")
			.inheritIO()
			.start();
		assertThat(keytool.waitFor()).isZero();
		return file;
	}

	@Test
	void missingSslBundleFailsStartup() {
		this.runner.withPropertyValues("spring.kafka.ssl.bundle=no-such-bundle")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("no-such-bundle"));
	}

	private static void assertFailure(Throwable failure, String description, String action) {
		assertThat(failure).isNotNull();
		FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(failure);
		assertThat(analysis).isNotNull();
		assertThat(analysis.getDescription()).contains(description);
		assertThat(analysis.getAction()).contains(action);
	}

	static class Recorder {

		private final BlockingQueue<ShardRecord<String>> records = new LinkedBlockingQueue<>();

		@ShardConsumer("orders")
		void handle(ShardRecord<String> each) {
			this.records.add(each);
		}

	}

	static class NumberRecorder {

		private final BlockingQueue<Long> numbers = new LinkedBlockingQueue<>();

		@ShardConsumer("orders")
		void handle(Long number) {
			this.numbers.add(number);
		}

	}

	static class MessageRecorder {

		private final BlockingQueue<String> payloads = new LinkedBlockingQueue<>();

		@ShardConsumer("orders")
		void handle(@Payload String payload, @Header("kind") String kind) {
			this.payloads.add(kind + ": " + payload);
		}

	}

	/** Describes everything that it gets. */
	public static class Describing implements Deserializer<String> {

		private static final AtomicInteger CLOSED = new AtomicInteger();

		private String suffix;

		@Override
		public void configure(Map<String, ?> properties, boolean key) {
			this.suffix = (String) properties.get("describing.suffix");
		}

		@Override
		public void close() {
			CLOSED.incrementAndGet();
		}

		@Override
		public String deserialize(String topic, byte[] data) {
			throw new UnsupportedOperationException();
		}

		@Override
		public String deserialize(String topic, Headers headers, byte[] data) {
			return String.join(" ",
					List.of(topic, new String(headers.lastHeader("kind").value(), StandardCharsets.UTF_8),
							Integer.toString(headers.lastHeader("binary").value()[0] & 0xff),
							new String(data, StandardCharsets.UTF_8), this.suffix));
		}

	}

	/** Cannot be created. */
	public static class NoDefaultConstructor extends Describing {

		public NoDefaultConstructor(String needed) {
		}

	}

}
