package io.github.shardkeeper.benchmarks.records;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
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

import io.github.shardkeeper.benchmarks.RedisStreams;

/**
 * Spring Data Redis' {@code StreamMessageListenerContainer} with a subscription per
 * stream. It either acknowledges each record when it is handled, or leaves that to Redis,
 * in batches of 500, and loses what was read and not handled when it dies.
 *
 * @param automatic whether records count as handled when they were read
 * @param pooled whether its blocking reads take their connections from a pool, rather
 * than opening one each
 */
record SpringContainer(boolean automatic, boolean pooled) implements Reader<Streams> {

	/** Each run is a group of its own, which reads everything. */
	private static final AtomicInteger groups = new AtomicInteger();

	private static final int BATCH_SIZE = 500;

	/**
	 * Shorter than its default of 2 s, so that it stops soon; there are always records.
	 */
	private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

	@Override
	public String text() {
		String mode = this.automatic ? "automatic" : "acknowledging each";
		return "Spring container, " + mode + (this.pooled ? ", pooled connections" : "");
	}

	@Override
	public int divisor() {
		return this.automatic ? 1 : 10;
	}

	@Override
	public void consume(Streams streams, HandledRecords handled) throws Exception {
		LettuceConnectionFactory factory = RedisStreams.connect(streams.redis(), this.pooled, streams.shards());
		try {
			String group = "spring-" + groups.incrementAndGet();
			StringRedisTemplate template = new StringRedisTemplate(factory);
			streams.keys().forEach((key) -> template.opsForStream().createGroup(key, ReadOffset.from("0-0"), group));
			consume(streams, handled, group, factory, template.opsForStream());
		}
		finally {
			factory.destroy();
		}
	}

	private void consume(Streams streams, HandledRecords handled, String group, LettuceConnectionFactory factory,
			StreamOperations<String, Object, Object> operations) throws InterruptedException {
		StreamMessageListenerContainer<String, MapRecord<String, String, byte[]>> container = StreamMessageListenerContainer
			.create(factory, options());
		Function<String, StreamOffset<String>> unread = (key) -> StreamOffset.create(key, ReadOffset.lastConsumed());
		Consumer consumer = Consumer.from(group, "only");
		StreamListener<String, MapRecord<String, String, byte[]>> listener = (message) -> {
			handled.handled(message.getValue().get(RedisStreams.PAYLOAD_FIELD));
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
			handled.awaitCompletion();
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
