package io.github.shardkeeper.benchmarks.sending;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.RedisProcess;
import io.github.shardkeeper.test.EmbeddedKafka;

/**
 * Ways to send records. Each client is confined to its thread.
 */
enum Contender {

	/** One {@code XADD} per record; batches are written to the connection at once. */
	BARE("bare Lettuce"),

	PLAIN("Shardkeeper"),

	RETRIES("Shardkeeper with retries"),

	IDS("Shardkeeper with ids"),

	RETRIES_AND_IDS("Shardkeeper with retries and ids"),

	/** Without its pause for more records, which each record would wait for. */
	KAFKA("KafkaTemplate, linger.ms=0");

	private static final int RETRY_TIMES = 5;

	private static final String TOPIC = "sent";

	private static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

	private final String text;

	Contender(String text) {
		this.text = text;
	}

	String text() {
		return this.text;
	}

	Client open(RedisProcess redis, int shards) {
		return switch (this) {
			case BARE -> new LettuceClient(redis.client(), shards);
			case PLAIN -> template(redis, shards, 0, false);
			case RETRIES -> template(redis, shards, RETRY_TIMES, false);
			case IDS -> template(redis, shards, 0, true);
			case RETRIES_AND_IDS -> template(redis, shards, RETRY_TIMES, true);
			case KAFKA -> throw new IllegalStateException("Kafka is no Redis");
		};
	}

	private static Client template(RedisProcess redis, int shards, int retries, boolean withIds) {
		ConfigurableApplicationContext application = Applications.start(redis, new Object(), Map.of("shardkeeper.group",
				"sending", "shardkeeper.topics." + TOPIC + ".shards", shards, "shardkeeper.template.retries", retries));
		return new TemplateClient(application, application.getBean(ShardTemplate.class), withIds);
	}

	static Client open(EmbeddedKafka kafka, int shards) {
		kafka.createTopic(TOPIC, shards);
		DefaultKafkaProducerFactory<String, byte[]> factory = new DefaultKafkaProducerFactory<>(Map
			.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.bootstrapServers(), ProducerConfig.LINGER_MS_CONFIG, 0),
				new StringSerializer(), new ByteArraySerializer());
		return new KafkaClient(factory, new KafkaTemplate<>(factory));
	}

	private static String key(int number) {
		return "key-" + number;
	}

	private static byte[] payload() {
		return new byte[SendingBenchmark.PAYLOAD_BYTES];
	}

	/** Sends records by their numbers. */
	interface Client extends AutoCloseable {

		/** Sends a record and waits for its answer. */
		void send(int number) throws Exception;

		CompletableFuture<?> sendAsync(int number);

		/** Sends records together and waits for all answers. */
		void sendAll(int from, int to) throws Exception;

		@Override
		void close();

	}

	/** A template of an application. */
	private record TemplateClient(ConfigurableApplicationContext application, ShardTemplate template,
			boolean withIds) implements Client {

		@Override
		public void send(int number) {
			this.template.send(TOPIC, outgoing(number));
		}

		@Override
		public CompletableFuture<?> sendAsync(int number) {
			return this.template.sendAsync(TOPIC, outgoing(number));
		}

		@Override
		public void sendAll(int from, int to) {
			this.template.sendAll(TOPIC, IntStream.range(from, to).mapToObj(this::outgoing).toList());
		}

		private Outgoing outgoing(int number) {
			Outgoing plain = new Outgoing(key(number), payload());
			return this.withIds ? plain.withId("00000000-0000-4000-8000-%012d".formatted(number)) : plain;
		}

		@Override
		public void close() {
			this.application.close();
		}

	}

	/** A connection, and the records' shards in turn. */
	private static final class LettuceClient implements Client {

		private final RedisClient client;

		private final StatefulRedisConnection<String, byte[]> connection;

		private final List<String> streams;

		LettuceClient(RedisClient client, int shards) {
			this.client = client;
			this.connection = client.connect(CODEC);
			this.streams = IntStream.range(0, shards)
				.mapToObj((shard) -> "shardkeeper:{%s#%d}:stream:%d".formatted(TOPIC, shard % 16, shard))
				.toList();
		}

		@Override
		public void send(int number) {
			this.connection.sync().xadd(stream(number), fields(number));
		}

		@Override
		public CompletableFuture<?> sendAsync(int number) {
			return xadd(number).toCompletableFuture();
		}

		@Override
		public void sendAll(int from, int to) {
			RedisFuture<?>[] sent = new RedisFuture<?>[to - from];
			this.connection.setAutoFlushCommands(false);
			for (int number = from; number < to; number++) {
				sent[number - from] = xadd(number);
			}
			this.connection.flushCommands();
			this.connection.setAutoFlushCommands(true);
			LettuceFutures.awaitAll(this.connection.getTimeout(), sent);
		}

		private RedisFuture<String> xadd(int number) {
			return this.connection.async().xadd(stream(number), fields(number));
		}

		private String stream(int number) {
			return this.streams.get(number % this.streams.size());
		}

		private static Object[] fields(int number) {
			return new Object[] { "k", key(number).getBytes(), "v", payload() };
		}

		@Override
		public void close() {
			this.client.shutdown();
		}

	}

	/** A template of Spring Kafka. */
	private record KafkaClient(DefaultKafkaProducerFactory<String, byte[]> factory,
			KafkaTemplate<String, byte[]> template) implements Client {

		private static final long PATIENCE_SECONDS = 60;

		@Override
		public void send(int number) throws Exception {
			sendAsync(number).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
		}

		@Override
		public CompletableFuture<?> sendAsync(int number) {
			return this.template.send(TOPIC, key(number), payload());
		}

		@Override
		public void sendAll(int from, int to) throws Exception {
			List<CompletableFuture<?>> sent = new ArrayList<>(to - from);
			for (int number = from; number < to; number++) {
				sent.add(sendAsync(number));
			}
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
