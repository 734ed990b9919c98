package io.github.shardkeeper.benchmarks.idle;

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
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.stream.StreamMessageListenerContainer;

/**
 * Spring Data Redis' {@code StreamMessageListenerContainer} at its defaults, with a
 * subscription per stream in one consumer group: a thread and a blocking read each, which
 * opens a connection of its own or takes one from a pool.
 */
final class IdleContainer {

	private IdleContainer() {
	}

	/**
	 * Runs it.
	 * @param arguments the port of Redis, the number of streams, and whether connections
	 * are pooled
	 */
	public static void main(String[] arguments) throws Exception {
		int streams = Integer.parseInt(arguments[1]);
		boolean pooled = Boolean.parseBoolean(arguments[2]);
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", Integer.parseInt(arguments[0])), client(pooled, streams));
		factory.afterPropertiesSet();
		factory.start();
		StringRedisTemplate template = new StringRedisTemplate(factory);
		StreamMessageListenerContainer<String, MapRecord<String, String, String>> container = StreamMessageListenerContainer
			.create(factory);
		String group = "group-" + pooled;
		for (int i = 0; i < streams; i++) {
			String key = "stream-" + streams + "-" + i;
			template.opsForStream().createGroup(key, ReadOffset.from("0-0"), group);
			container.receive(Consumer.from(group, "only"), StreamOffset.create(key, ReadOffset.lastConsumed()),
					(message) -> {
						throw new IllegalStateException("There are no records");
					});
		}
		container.start();
		IdleFigures.tell();
	}

	private static LettuceClientConfiguration client(boolean pooled, int streams) {
		if (!pooled) {
			return LettuceClientConfiguration.defaultConfiguration();
		}
		GenericObjectPoolConfig<StatefulConnection<?, ?>> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(streams + 8);
		pool.setMaxIdle(streams + 8);
		return LettucePoolingClientConfiguration.builder().poolConfig(pool).build();
	}

}
