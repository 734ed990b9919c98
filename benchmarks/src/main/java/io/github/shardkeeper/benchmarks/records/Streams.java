package io.github.shardkeeper.benchmarks.records;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.benchmarks.Applications;
import io.github.shardkeeper.benchmarks.RedisStreams;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;

/**
 * The streams of one topic, filled, and read by all contenders. Immutable.
 *
 * @param redis the port of their Redis
 */
record Streams(int redis, String topic, int shards, int recordsPerShard) implements Records {

	List<String> keys() {
		return RedisStreams.keys(this.topic, this.shards);
	}

	@Override
	public Map<String, Object> properties() {
		return Map.of();
	}

	/**
	 * Has Shardkeeper append the records.
	 * @param key returns the key of each payload
	 */
	Streams fill(Function<byte[], String> key) {
		try (ConfigurableApplicationContext application = Applications.start(this.redis, new Object(),
				Map.of("shardkeeper.group", "sender", "shardkeeper.topics." + this.topic + ".shards", this.shards))) {
			payloads((payloads) -> Applications.append(application,
					payloads.stream()
						.map((payload) -> new NewRecord(ShardId.of(this.topic, ByteBuffer.wrap(payload).getInt()),
								key.apply(payload), payload))
						.toList()));
		}
		return this;
	}

}
