package io.github.shardkeeper.benchmarks.consuming;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.lettuce.core.Consumer;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;

/**
 * Lettuce and a loop, as short as it gets: {@code XREAD COUNT 500} over all streams,
 * which keeps nothing but what it has in memory, or {@code XREADGROUP COUNT 500} and one
 * {@code XACK} per stream and batch.
 *
 * @param inGroup whether it reads in a consumer group
 */
record BareClient(boolean inGroup) implements Contender<Streams> {

	private static final RedisCodec<String, byte[]> CODEC = RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE);

	private static final String GROUP = "bare";

	private static final int COUNT = 500;

	@Override
	public double asked() {
		return this.inGroup ? 1.5 : 0.85;
	}

	@Override
	public String name() {
		return this.inGroup ? "bare XREADGROUP + XACK per batch" : "bare XREAD";
	}

	@Override
	public void consume(Streams streams, Tally tally) throws Exception {
		RedisClient client = streams.redis().client();
		try (StatefulRedisConnection<String, byte[]> connection = client.connect(CODEC)) {
			if (this.inGroup) {
				readInGroup(streams, tally, connection);
			}
			else {
				read(streams, tally, connection);
			}
		}
		finally {
			client.shutdown();
		}
	}

	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static void read(Streams streams, Tally tally, StatefulRedisConnection<String, byte[]> connection) {
		Map<String, String> positions = new LinkedHashMap<>();
		streams.keys().forEach((key) -> positions.put(key, "0-0"));
		XReadArgs count = XReadArgs.Builder.count(COUNT);
		while (!tally.isComplete()) {
			StreamOffset[] offsets = positions.entrySet()
				.stream()
				.map((entry) -> StreamOffset.from(entry.getKey(), entry.getValue()))
				.toArray(StreamOffset[]::new);
			List<StreamMessage<String, byte[]>> messages = connection.sync().xread(count, offsets);
			for (StreamMessage<String, byte[]> message : messages) {
				tally.handled(message.getBody().get(Streams.PAYLOAD_FIELD));
				positions.put(message.getStream(), message.getId());
			}
		}
	}

	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static void readInGroup(Streams streams, Tally tally, StatefulRedisConnection<String, byte[]> connection) {
		List<String> keys = streams.keys();
		keys.forEach((key) -> connection.sync().xgroupCreate(StreamOffset.from(key, "0-0"), GROUP));
		StreamOffset[] offsets = keys.stream().map(StreamOffset::lastConsumed).toArray(StreamOffset[]::new);
		XReadArgs count = XReadArgs.Builder.count(COUNT);
		Consumer<String> consumer = Consumer.from(GROUP, "only");
		while (!tally.isComplete()) {
			List<StreamMessage<String, byte[]>> messages = connection.sync().xreadgroup(consumer, count, offsets);
			Map<String, List<String>> handled = new LinkedHashMap<>();
			for (StreamMessage<String, byte[]> message : messages) {
				tally.handled(message.getBody().get(Streams.PAYLOAD_FIELD));
				handled.computeIfAbsent(message.getStream(), (key) -> new ArrayList<>()).add(message.getId());
			}
			RedisFuture<?>[] acknowledgements = handled.entrySet()
				.stream()
				.map((entry) -> connection.async().xack(entry.getKey(), GROUP, entry.getValue().toArray(String[]::new)))
				.toArray(RedisFuture[]::new);
			LettuceFutures.awaitAll(connection.getTimeout(), acknowledgements);
		}
		keys.forEach((key) -> connection.sync().xgroupDestroy(key, GROUP));
	}

}
