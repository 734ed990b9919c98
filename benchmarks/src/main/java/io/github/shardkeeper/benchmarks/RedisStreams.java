package io.github.shardkeeper.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.lettuce.core.StreamMessage;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

/**
 * The streams of a topic of Shardkeeper, and the plain means to read them. Has no state.
 */
public final class RedisStreams {

	/** Strings as keys, bytes as values. */
	public static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

	/** The field that has the payload. */
	public static final String PAYLOAD_FIELD = "v";

	private RedisStreams() {
	}

	/** Returns the name that Shardkeeper gives the stream of a shard. */
	public static String key(String topic, int shard) {
		return "shardkeeper:{%s#%d}:stream:%d".formatted(topic, shard % 16, shard);
	}

	/** Returns the names of all streams of a topic. */
	public static List<String> keys(String topic, int shards) {
		return IntStream.range(0, shards).mapToObj((shard) -> key(topic, shard)).toList();
	}

	/**
	 * Reads streams with {@code XREAD}, in a loop as short as it gets: its positions are
	 * in memory only.
	 * @param connection the connection, which is used alone
	 * @param keys the streams, read from their beginning
	 * @param arguments the arguments of each read
	 * @param ended whether the loop is to end
	 * @param handler receives the payloads
	 */
	@SuppressWarnings({ "unchecked", "rawtypes" })
	public static void read(StatefulRedisConnection<String, byte[]> connection, List<String> keys, XReadArgs arguments,
			BooleanSupplier ended, Consumer<byte[]> handler) {
		Map<String, String> positions = new LinkedHashMap<>();
		keys.forEach((key) -> positions.put(key, "0-0"));
		while (!ended.getAsBoolean()) {
			StreamOffset[] offsets = positions.entrySet()
				.stream()
				.map((entry) -> StreamOffset.from(entry.getKey(), entry.getValue()))
				.toArray(StreamOffset[]::new);
			List<StreamMessage<String, byte[]>> messages = connection.sync().xread(arguments, offsets);
			for (StreamMessage<String, byte[]> message : messages) {
				handler.accept(message.getBody().get(PAYLOAD_FIELD));
				positions.put(message.getStream(), message.getId());
			}
		}
	}

	/**
	 * Opens the connections of a container of Spring Data Redis.
	 * @param port the port of Redis
	 * @param pooled whether blocking reads take their connections from a pool, rather
	 * than opening one each
	 * @param streams the number of streams that are read at a time
	 * @return the started factory; the caller destroys it
	 */
	public static LettuceConnectionFactory connect(int port, boolean pooled, int streams) {
		GenericObjectPoolConfig<StatefulConnection<?, ?>> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(streams + 8);
		pool.setMaxIdle(streams + 8);
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				pooled ? LettucePoolingClientConfiguration.builder().poolConfig(pool).build()
						: LettuceClientConfiguration.defaultConfiguration());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

}
