package io.github.shardkeeper.benchmarks.records;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The records of one topic that all contenders read.
 */
interface Records {

	int PAYLOAD_BYTES = 100;

	/** As many are sent at once. */
	int CHUNK = 1000;

	/** Returns the port of the Redis where Shardkeeper coordinates. */
	int redis();

	String topic();

	int shards();

	int recordsPerShard();

	/** Returns the properties that Shardkeeper needs beside the number of shards. */
	Map<String, Object> properties();

	default Tally tally() {
		return new Tally(shards(), recordsPerShard());
	}

	/** Makes the payloads, all shards at the same pace. */
	default void payloads(Consumer<List<byte[]>> chunks) {
		List<byte[]> payloads = new ArrayList<>();
		for (int number = 0; number < recordsPerShard(); number++) {
			for (int shard = 0; shard < shards(); shard++) {
				payloads.add(Tally.payload(shard, number, PAYLOAD_BYTES));
				if (payloads.size() == CHUNK) {
					chunks.accept(payloads);
					payloads.clear();
				}
			}
		}
		chunks.accept(payloads);
	}

}
