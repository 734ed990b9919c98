package io.github.shardkeeper.benchmarks.records;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.Contender;
import io.github.shardkeeper.benchmarks.RedisStreams;
import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * Sends records by their numbers. Confined to its thread.
 */
interface SendingClient extends AutoCloseable {

	String TOPIC = "sent";

	/** Sends a record and waits for its reply. */
	void send(int number) throws Exception;

	CompletableFuture<?> sendAsync(int number, byte[] payload);

	default CompletableFuture<?> sendAsync(int number) {
		return sendAsync(number, new byte[Records.PAYLOAD_BYTES]);
	}

	/** Sends records together and waits for all replies. */
	void sendAll(int from, int to) throws Exception;

	@Override
	void close();

	/** Opens a client of Redis. */
	static SendingClient open(Kind kind, int redis, int shards) {
		if (kind == Kind.BARE) {
			return new LettuceClient(RedisClient.create(RedisURI.create("127.0.0.1", redis)), shards);
		}
		ConfigurableApplicationContext application = Applications.start(redis, new Object(),
				Map.of("shardkeeper.group", "sending", "shardkeeper.topics." + TOPIC + ".shards", shards,
						"shardkeeper.template.retries", kind.retries));
		return new TemplateClient(application, application.getBean(ShardTemplate.class), kind.withIds);
	}

	/** Opens a client of Kafka that does not wait for more records. */
	static SendingClient open(EmbeddedKafka kafka, int shards) {
		kafka.createTopic(TOPIC, shards);
		DefaultKafkaProducerFactory<String, byte[]> factory = new DefaultKafkaProducerFactory<>(Map
			.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.bootstrapServers(), ProducerConfig.LINGER_MS_CONFIG, 0),
				new StringSerializer(), new ByteArraySerializer());
		return new KafkaClient(factory, new KafkaTemplate<>(factory));
	}

	/** The kinds of clients. */
	enum Kind implements Contender {

		/** One {@code XADD} per record; batches are written to the connection at once. */
		BARE("bare Lettuce", 0, false),

		PLAIN("Shardkeeper", 0, false),

		RETRIES("Shardkeeper with retries", 5, false),

		IDS("Shardkeeper with ids", 0, true),

		RETRIES_AND_IDS("Shardkeeper with retries and ids", 5, true),

		KAFKA("KafkaTemplate, linger.ms=0", 0, false);

		private final String text;

		private final int retries;

		private final boolean withIds;

		Kind(String text, int retries, boolean withIds) {
			this.text = text;
			this.retries = retries;
			this.withIds = withIds;
		}

		@Override
		public String text() {
			return this.text;
		}

	}

	/** A template of an application. */
	record TemplateClient(ConfigurableApplicationContext application, ShardTemplate template,
			boolean withIds) implements SendingClient {

		@Override
		public void send(int number) {
			this.template.send(TOPIC, outgoing(number, new byte[Records.PAYLOAD_BYTES]));
		}

		@Override
		public CompletableFuture<?> sendAsync(int number, byte[] payload) {
			return this.template.sendAsync(TOPIC, outgoing(number, payload));
		}

		@Override
		public void sendAll(int from, int to) {
			this.template.sendAll(TOPIC,
					IntStream.range(from, to)
						.mapToObj((number) -> outgoing(number, new byte[Records.PAYLOAD_BYTES]))
						.toList());
		}

		private Outgoing outgoing(int number, byte[] payload) {
			Outgoing plain = new Outgoing("key-" + number, payload);
			return this.withIds ? plain.withId("00000000-0000-4000-8000-%012d".formatted(number)) : plain;
		}

		@Override
		public void close() {
			this.application.close();
		}

	}

	/** A connection, and the records' shards in turn. */
	record LettuceClient(RedisClient client, StatefulRedisConnection<String, byte[]> connection,
			List<String> streams) implements SendingClient {

		LettuceClient(RedisClient client, int shards) {
			this(client, client.connect(RedisStreams.CODEC), RedisStreams.keys(TOPIC, shards));
		}

		@Override
		public void send(int number) {
			sendAsync(number).join();
		}

		@Override
		public CompletableFuture<?> sendAsync(int number, byte[] payload) {
			return xadd(number, payload).toCompletableFuture();
		}

		@Override
		public void sendAll(int from, int to) {
			this.connection.setAutoFlushCommands(false);
			RedisFuture<?>[] sent = IntStream.range(from, to)
				.mapToObj((number) -> xadd(number, new byte[Records.PAYLOAD_BYTES]))
				.toArray(RedisFuture<?>[]::new);
			this.connection.flushCommands();
			this.connection.setAutoFlushCommands(true);
			LettuceFutures.awaitAll(this.connection.getTimeout(), sent);
		}

		private RedisFuture<String> xadd(int number, byte[] payload) {
			return this.connection.async()
				.xadd(stream(number), "k", ("key-" + number).getBytes(), RedisStreams.PAYLOAD_FIELD, payload);
		}

		private String stream(int number) {
			return this.streams.get(number % this.streams.size());
		}

		@Override
		public void close() {
			this.client.shutdown();
		}

	}

	/** A template of Spring Kafka. */
	record KafkaClient(DefaultKafkaProducerFactory<String, byte[]> factory,
			KafkaTemplate<String, byte[]> template) implements SendingClient {

		private static final long PATIENCE_SECONDS = 60;

		@Override
		public void send(int number) throws Exception {
			sendAsync(number).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
		}

		@Override
		public CompletableFuture<?> sendAsync(int number, byte[] payload) {
			return this.template.send(TOPIC, "key-" + number, payload);
		}

		@Override
		public void sendAll(int from, int to) throws Exception {
			List<? extends CompletableFuture<?>> sent = IntStream.range(from, to)
				.mapToObj((number) -> sendAsync(number))
				.toList();
			for (CompletableFuture<?> each : sent) {
				each.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
			}
		}

		@Override
		public void close() {
			this.factory.destroy();
		}

	}

}
