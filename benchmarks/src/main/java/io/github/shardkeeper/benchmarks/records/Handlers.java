package io.github.shardkeeper.benchmarks.records;

import java.util.List;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;

/**
 * The shapes of handlers that are measured. All of them do nothing but tell the tally,
 * and count in the shard's state where they have it.
 */
final class Handlers {

	/** So many counters are in a shard's state. */
	private static final int COUNTERS = 100;

	private static final String HANDLED = "handled";

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
	record OneRecord(HandledRecords tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(byte[] payload) {
			this.tally.handled(payload);
		}

	}

	/** One record per call, with state. */
	record OneRecordAndState(HandledRecords tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(byte[] payload, ShardState state) {
			state.increment(counter(payload), 1);
			this.tally.handled(payload);
		}

	}

	/** One record per call, counted by its key. */
	record CountPerKey(HandledRecords tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(ShardRecord<byte[]> record, ShardState state) {
			this.tally.counted(record.payload(), state.increment(record.key(), 1));
		}

	}

	/** One record per call, with three calls on typed state. */
	record OneRecordAndThreeCalls(HandledRecords tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(byte[] payload, ShardState state) {
			String counter = counter(payload);
			state.increment(counter, 1);
			long handled = state.get(HANDLED, Long.class).orElse(0L);
			state.put(HANDLED, handled + 1);
			this.tally.handled(payload);
		}

	}

	/** One record per call, with a Java record as state. */
	record OneRecordAndJavaRecord(HandledRecords tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(byte[] payload, ShardState state) {
			String key = counter(payload);
			Visits visits = state.get(key, Visits.class).orElse(Visits.NONE);
			state.put(key, visits.plus(key, payload.length));
			this.tally.handled(payload);
		}

	}

	/** The state of a handler that keeps more than a number. */
	record Visits(String visitor, long count, long bytes, double meanBytes, boolean often) {

		private static final int OFTEN = 100;

		static final Visits NONE = new Visits("", 0, 0, 0, false);

		Visits plus(String by, int size) {
			long all = this.bytes + size;
			return new Visits(by, this.count + 1, all, (double) all / (this.count + 1), this.count >= OFTEN);
		}

	}

	/** A list of records per call. */
	record ManyRecords(HandledRecords tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(List<byte[]> payloads) {
			for (byte[] payload : payloads) {
				this.tally.handled(payload);
			}
		}

	}

	/** A list of records per call, with state. */
	record ManyRecordsAndState(HandledRecords tally) {

		@ShardConsumer("${benchmark.topic}")
		public void handle(List<byte[]> payloads, ShardState state) {
			for (byte[] payload : payloads) {
				state.increment(counter(payload), 1);
				this.tally.handled(payload);
			}
		}

	}

}
