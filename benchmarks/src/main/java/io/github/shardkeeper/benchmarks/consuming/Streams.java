package io.github.shardkeeper.benchmarks.consuming;

import java.util.ArrayList;
import java.util.List;
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
record Streams(RedisProcess redis, String topic, int shards, int recordsPerShard) {

	/** The field that has the payload. */
	static final String PAYLOAD_FIELD = "v";

	static final int PAYLOAD_BYTES = 100;

	/** The names under which Shardkeeper has put them into Redis. */
	List<String> keys() {
		return IntStream.range(0, this.shards)
			.mapToObj((shard) -> "shardkeeper:{%s#%d}:stream:%d".formatted(this.topic, shard % 16, shard))
			.toList();
	}

	/** Lets Shardkeeper append the records, all shards at the same pace. */
	void fill() {
		Shardkeeper.append(this, (appender) -> {
			List<byte[]> payloads = new ArrayList<>();
			for (int number = 0; number < this.recordsPerShard; number++) {
				for (int shard = 0; shard < this.shards; shard++) {
					payloads.add(Tally.payload(shard, number, PAYLOAD_BYTES));
					if (payloads.size() == 1000) {
						appender.accept(payloads);
						payloads.clear();
					}
				}
			}
			appender.accept(payloads);
		});
	}

	Tally tally() {
		return new Tally(this.shards, this.recordsPerShard);
	}

}
