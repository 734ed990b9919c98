package io.github.shardkeeper.benchmarks.footprint;

import java.lang.management.ManagementFactory;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.stream.StreamMessageListenerContainer;

import io.github.shardkeeper.benchmarks.RedisStreams;

/**
 * Spring Data Redis' {@code StreamMessageListenerContainer} at its defaults, with a
 * subscription per stream in one consumer group: a thread and a blocking read each, which
 * opens a connection of its own or takes one from a pool. Has no state.
 */
final class ContainerProcess {

	private ContainerProcess() {
	}

	/**
	 * Runs it.
	 * @param arguments the port of Redis, the number of streams, and whether connections
	 * are pooled
	 */
	public static void main(String[] arguments) throws Exception {
		int streams = Integer.parseInt(arguments[1]);
		LettuceConnectionFactory factory = RedisStreams.connect(Integer.parseInt(arguments[0]),
				Boolean.parseBoolean(arguments[2]), streams);
		StringRedisTemplate template = new StringRedisTemplate(factory);
		StreamMessageListenerContainer<String, MapRecord<String, String, String>> container = StreamMessageListenerContainer
			.create(factory);
		for (int i = 0; i < streams; i++) {
			String key = "stream-" + i;
			template.opsForStream().createGroup(key, ReadOffset.from("0-0"), "group");
			container.receive(Consumer.from("group", "only"), StreamOffset.create(key, ReadOffset.lastConsumed()),
					(message) -> {
						throw new IllegalStateException("There are no records");
					});
		}
		container.start();
		FootprintProcess.serve(ManagementFactory.getRuntimeMXBean().getUptime());
	}

}
