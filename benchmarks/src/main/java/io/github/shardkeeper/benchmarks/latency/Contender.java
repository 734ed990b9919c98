package io.github.shardkeeper.benchmarks.latency;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;
import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.data.redis.stream.StreamMessageListenerContainer;
import org.springframework.data.redis.stream.StreamMessageListenerContainer.StreamMessageListenerContainerOptions;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.KafkaMessageListenerContainer;
import org.springframework.kafka.listener.MessageListener;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.benchmarks.Applications;

/**
 * Libraries that pass records from a sender to handlers. What they start runs until the
 * JVM ends.
 */
enum Contender {

	/**
	 * Lettuce and one thread, which reads and handles: {@code XREAD BLOCK} over all
	 * streams of this instance. Keeps no position.
	 */
	BARE("bare XREAD") {
		@Override
		void start(Place place, Arrivals arrivals) {
			Thread loop = new Thread(() -> read(place, arrivals), "bare-loop");
			loop.setDaemon(true);
			loop.start();
		}

		@SuppressWarnings({ "unchecked", "rawtypes" })
		private void read(Place place, Arrivals arrivals) {
			StatefulRedisConnection<String, byte[]> connection = RedisClient.create(RedisURI.create(place.address()))
				.connect(CODEC);
			Map<String, String> positions = new LinkedHashMap<>();
			place.streams().forEach((stream) -> positions.put(stream, "0-0"));
			XReadArgs arguments = XReadArgs.Builder.count(MOST_RECORDS).block(BLOCK_MILLIS);
			while (true) {
				StreamOffset[] offsets = positions.entrySet()
					.stream()
					.map((entry) -> StreamOffset.from(entry.getKey(), entry.getValue()))
					.toArray(StreamOffset[]::new);
				List<StreamMessage<String, byte[]>> messages = connection.sync().xread(arguments, offsets);
				for (StreamMessage<String, byte[]> message : messages) {
					arrivals.received(message.getBody().get(PAYLOAD_FIELD));
					positions.put(message.getStream(), message.getId());
				}
			}
		}
	},

	/**
	 * Spring Data Redis' container with a subscription per stream of this instance, in
	 * automatic mode, with connections from a pool.
	 */
	SPRING("Spring container, automatic, pooled connections") {
		@Override
		void start(Place place, Arrivals arrivals) {
			RedisURI uri = RedisURI.create(place.address());
			GenericObjectPoolConfig<StatefulConnection<?, ?>> pool = new GenericObjectPoolConfig<>();
			pool.setMaxTotal(place.shards() + 8);
			pool.setMaxIdle(place.shards() + 8);
			LettuceConnectionFactory factory = new LettuceConnectionFactory(
					new RedisStandaloneConfiguration(uri.getHost(), uri.getPort()),
					LettucePoolingClientConfiguration.builder().poolConfig(pool).build());
			factory.afterPropertiesSet();
			factory.start();
			StringRedisTemplate template = new StringRedisTemplate(factory);
			StreamMessageListenerContainer<String, MapRecord<String, String, byte[]>> container = StreamMessageListenerContainer
				.create(factory,
						StreamMessageListenerContainerOptions.builder()
							.batchSize(MOST_RECORDS)
							.serializer(RedisSerializer.string())
							.<String, byte[]>hashValueSerializer(RedisSerializer.byteArray())
							.build());
			for (String stream : place.streams()) {
				template.opsForStream().createGroup(stream, ReadOffset.from("0-0"), GROUP);
				container.receiveAutoAck(Consumer.from(GROUP, "instance-" + place.instance()),
						org.springframework.data.redis.connection.stream.StreamOffset.create(stream,
								ReadOffset.lastConsumed()),
						(message) -> arrivals.received(message.getValue().get(PAYLOAD_FIELD)));
			}
			container.start();
		}
	},

	/** The starter at its defaults, with a handler that keeps state. */
	SHARDKEEPER("Shardkeeper, with state, web and actuator") {
		@Override
		void start(Place place, Arrivals arrivals) {
			Map<String, Object> properties = new HashMap<>(
					Map.of("shardkeeper.group", GROUP, "shardkeeper.topics." + TOPIC + ".shards", place.shards(),
							"server.port", 0, "management.endpoints.web.exposure.include", "*"));
			Applications.startWhole(RedisURI.create(place.address()).getPort(), new Handler(arrivals), properties);
		}
	},

	/** Spring Kafka's container at its defaults. */
	KAFKA("Spring Kafka, linger.ms=0") {
		@Override
		void start(Place place, Arrivals arrivals) {
			ContainerProperties properties = new ContainerProperties(TOPIC);
			properties
				.setMessageListener((MessageListener<byte[], byte[]>) (record) -> arrivals.received(record.value()));
			ByteArrayDeserializer bytes = new ByteArrayDeserializer();
			Map<String, Object> consumer = Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, place.address(),
					ConsumerConfig.GROUP_ID_CONFIG, GROUP, ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
					ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
			new KafkaMessageListenerContainer<>(new DefaultKafkaConsumerFactory<>(consumer, bytes, bytes), properties)
				.start();
		}
	};

	static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

	static final String TOPIC = "sent";

	/** The field that has the payload. */
	static final String PAYLOAD_FIELD = "v";

	private static final String GROUP = "latency";

	private static final int MOST_RECORDS = 500;

	private static final int BLOCK_MILLIS = 2000;

	private final String text;

	Contender(String text) {
		this.text = text;
	}

	String text() {
		return this.text;
	}

	/** Starts to receive, in this process. */
	abstract void start(Place place, Arrivals arrivals);

	/** The stream of a shard, under the name that Shardkeeper gives it. */
	static String stream(int shard) {
		return "shardkeeper:{%s#%d}:stream:%d".formatted(TOPIC, shard % 16, shard);
	}

	/**
	 * An instance among others.
	 *
	 * @param address the address of the server
	 * @param shards the number of shards of all instances
	 * @param instance its number, from 0
	 * @param instances how many there are
	 */
	record Place(String address, int shards, int instance, int instances) {

		/** The streams of this instance, where nobody else divides them. */
		List<String> streams() {
			return new ArrayList<>(IntStream.range(0, this.shards)
				.filter((shard) -> shard % this.instances == this.instance)
				.mapToObj(Contender::stream)
				.toList());
		}

	}

	/** Counts in the state of its shard. */
	record Handler(Arrivals arrivals) {

		@ShardConsumer(TOPIC)
		public void handle(byte[] payload, ShardState state) {
			this.arrivals.received(payload);
			state.increment("handled", 1);
			long bytes = state.get("bytes", Long.class).orElse(0L);
			state.put("bytes", bytes + payload.length);
		}

	}

}
