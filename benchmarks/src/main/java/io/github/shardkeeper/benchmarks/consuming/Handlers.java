package io.github.shardkeeper.benchmarks.consuming;

import java.util.List;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;

/**
 * The shapes of handlers that are measured. All of them do nothing but tell the tally,
 * and count in the shard's state where they have it.
 */
final class Handlers {

	/** So many counters are in a shard's state. */
	private static final int COUNTERS = 100;

	private static final String[] COUNTER_NAMES = new String[COUNTERS];

	static {
		for (int i = 0; i < COUNTERS; i++) {
			COUNTER_NAMES[i] = "counter-" + i;
		}
	}

	private Handlers() {
	}

	private static String counter(byte[] payload) {
		return COUNTER_NAMES[(payload[7] & 0xff) % COUNTERS];
	}

	/** One record per call. */
	record OneRecord(Tally tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(byte[] payload) {
			this.tally.handled(payload);
		}

	}

	/** One record per call, with state. */
	record OneRecordAndState(Tally tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(byte[] payload, ShardState state) {
			state.increment(counter(payload), 1);
			this.tally.handled(payload);
		}

	}

	/** A list of records per call. */
	record ManyRecords(Tally tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(List<byte[]> payloads) {
			for (byte[] payload : payloads) {
				this.tally.handled(payload);
			}
		}

	}

	/** A list of records per call, with state. */
	record ManyRecordsAndState(Tally tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(List<byte[]> payloads, ShardState state) {
			for (byte[] payload : payloads) {
				state.increment(counter(payload), 1);
				this.tally.handled(payload);
			}
		}

	}

}
