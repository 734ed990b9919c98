package io.github.shardkeeper.benchmarks.records;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.lettuce.core.Consumer;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.api.StatefulRedisConnection;

import io.github.shardkeeper.benchmarks.RedisStreams;

/**
 * Lettuce and a loop, as short as it gets: {@code XREAD COUNT 500} over all streams,
 * which keeps its positions in memory only, or {@code XREADGROUP COUNT 500} and one
 * {@code XACK} per stream and batch.
 *
 * @param inGroup whether it reads in a consumer group
 */
record BareClient(boolean inGroup) implements Reader<Streams> {

	private static final String GROUP = "bare";

	private static final XReadArgs COUNT = XReadArgs.Builder.count(500).block(100);

	@Override
	public String text() {
		return this.inGroup ? "bare XREADGROUP + XACK per batch" : "bare XREAD";
	}

	@Override
	public void consume(Streams streams, HandledRecords handled) {
		RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", streams.redis()));
		try (StatefulRedisConnection<String, byte[]> connection = client.connect(RedisStreams.CODEC)) {
			if (this.inGroup) {
				readInGroup(streams.keys(), handled, connection);
			}
			else {
				RedisStreams.read(connection, streams.keys(), COUNT, handled::isComplete, handled::handled);
			}
		}
		finally {
			client.shutdown();
		}
	}

	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static void readInGroup(List<String> keys, HandledRecords handled,
			StatefulRedisConnection<String, byte[]> connection) {
		keys.forEach((key) -> connection.sync().xgroupCreate(StreamOffset.from(key, "0-0"), GROUP));
		StreamOffset[] offsets = keys.stream().map(StreamOffset::lastConsumed).toArray(StreamOffset[]::new);
		Consumer<String> consumer = Consumer.from(GROUP, "only");
		while (!handled.isComplete()) {
			List<StreamMessage<String, byte[]>> messages = connection.sync().xreadgroup(consumer, COUNT, offsets);
			Map<String, List<String>> ids = new LinkedHashMap<>();
			for (StreamMessage<String, byte[]> message : messages) {
				handled.handled(message.getBody().get(RedisStreams.PAYLOAD_FIELD));
				ids.computeIfAbsent(message.getStream(), (key) -> new ArrayList<>()).add(message.getId());
			}
			RedisFuture<?>[] acknowledgements = ids.entrySet()
				.stream()
				.map((entry) -> connection.async().xack(entry.getKey(), GROUP, entry.getValue().toArray(String[]::new)))
				.toArray(RedisFuture[]::new);
			LettuceFutures.awaitAll(connection.getTimeout(), acknowledgements);
		}
		keys.forEach((key) -> connection.sync().xgroupDestroy(key, GROUP));
	}

}
