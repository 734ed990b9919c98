package io.github.shardkeeper.benchmarks.consuming;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.lettuce.core.api.StatefulConnection;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;
import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.core.StreamOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.serializer.RedisSerializer;
import org.springframework.data.redis.stream.StreamListener;
import org.springframework.data.redis.stream.StreamMessageListenerContainer;
import org.springframework.data.redis.stream.StreamMessageListenerContainer.StreamMessageListenerContainerOptions;
import org.springframework.data.redis.stream.Subscription;

/**
 * Spring Data Redis' {@code StreamMessageListenerContainer} with a subscription per
 * stream. It either acknowledges each record when it is handled, or leaves that to Redis,
 * in batches of 500, and loses what was read and not handled when it dies.
 *
 * @param automatic whether records count as handled when they were read
 * @param pooled whether its blocking reads take their connections from a pool, rather
 * than opening one each
 */
record SpringContainer(boolean automatic, boolean pooled) implements Contender<Streams> {

	/** Each run is a group of its own, which reads everything. */
	private static final AtomicInteger groups = new AtomicInteger();

	private static final int BATCH_SIZE = 500;

	/**
	 * Shorter than its default of 2 s, so that it stops soon; there are always records.
	 */
	private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

	private static final int PATIENCE_SECONDS = 120;

	@Override
	public double asked() {
		return this.automatic ? 1 : 10;
	}

	@Override
	public String name() {
		String mode = this.automatic ? "automatic" : "acknowledging each";
		return "Spring container, " + mode + (this.pooled ? ", pooled connections" : "");
	}

	@Override
	public int divisor() {
		return this.automatic ? 1 : 10;
	}

	@Override
	public void consume(Streams streams, Tally tally) throws Exception {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", streams.redis().port()), client(streams.shards()));
		factory.afterPropertiesSet();
		factory.start();
		try {
			String group = "spring-" + groups.incrementAndGet();
			StringRedisTemplate template = new StringRedisTemplate(factory);
			streams.keys().forEach((key) -> template.opsForStream().createGroup(key, ReadOffset.from("0-0"), group));
			consume(streams, tally, group, factory, template.opsForStream());
		}
		finally {
			factory.destroy();
		}
	}

	private LettuceClientConfiguration client(int shards) {
		if (!this.pooled) {
			return LettuceClientConfiguration.defaultConfiguration();
		}
		GenericObjectPoolConfig<StatefulConnection<?, ?>> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(shards + 8);
		pool.setMaxIdle(shards + 8);
		return LettucePoolingClientConfiguration.builder().poolConfig(pool).build();
	}

	private void consume(Streams streams, Tally tally, String group, LettuceConnectionFactory factory,
			StreamOperations<String, Object, Object> operations) throws InterruptedException {
		StreamMessageListenerContainer<String, MapRecord<String, String, byte[]>> container = StreamMessageListenerContainer
			.create(factory, options());
		Function<String, StreamOffset<String>> unread = (key) -> StreamOffset.create(key, ReadOffset.lastConsumed());
		Consumer consumer = Consumer.from(group, "only");
		StreamListener<String, MapRecord<String, String, byte[]>> listener = (message) -> {
			tally.handled(message.getValue().get(Streams.PAYLOAD_FIELD));
			if (!this.automatic) {
				operations.acknowledge(group, message);
			}
		};
		List<Subscription> subscriptions = streams.keys()
			.stream()
			.map((key) -> this.automatic ? container.receiveAutoAck(consumer, unread.apply(key), listener)
					: container.receive(consumer, unread.apply(key), listener))
			.toList();
		container.start();
		try {
			tally.awaitCompletion(PATIENCE_SECONDS);
		}
		finally {
			container.stop();
			// A connection that is closed under its read leaves a thread behind.
			while (subscriptions.stream().anyMatch(Subscription::isActive)) {
				Thread.sleep(POLL_TIMEOUT.toMillis() / 4);
			}
		}
	}

	private static StreamMessageListenerContainerOptions<String, MapRecord<String, String, byte[]>> options() {
		return StreamMessageListenerContainerOptions.builder()
			.pollTimeout(POLL_TIMEOUT)
			.batchSize(BATCH_SIZE)
			.serializer(RedisSerializer.string())
			.<String, byte[]>hashValueSerializer(RedisSerializer.byteArray())
			.build();
	}

}
