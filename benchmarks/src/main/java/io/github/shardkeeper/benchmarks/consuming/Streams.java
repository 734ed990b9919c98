package io.github.shardkeeper.benchmarks.consuming;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.github.shardkeeper.benchmarks.RedisProcess;

/**
 * The streams of one topic, filled, and read by all contenders. Immutable.
 *
 * @param redis where they are
 * @param topic the topic's name
 * @param shards how many
 * @param recordsPerShard how many records are in each
 */
record Streams(RedisProcess redis, String topic, int shards, int recordsPerShard) implements Records {

	/** The field that has the payload. */
	static final String PAYLOAD_FIELD = "v";

	/** The names under which Shardkeeper has put them into Redis. */
	List<String> keys() {
		return IntStream.range(0, this.shards)
			.mapToObj((shard) -> "shardkeeper:{%s#%d}:stream:%d".formatted(this.topic, shard % 16, shard))
			.toList();
	}

	@Override
	public Map<String, Object> properties() {
		return Map.of();
	}

	/** Lets Shardkeeper append the records. */
	void fill() {
		Shardkeeper.append(this, this::payloads);
	}

}
