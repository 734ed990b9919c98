package io.github.shardkeeper.benchmarks.records;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.shardkeeper.benchmarks.Machine;

/**
 * Counts which records were handled, and when the first and the last one was. Every
 * payload begins with the number of its shard and its own number there.
 * <p>
 * Calls for different shards may come at the same time; those for one shard come one
 * after the other, unless its records have keys.
 */
final class Tally implements HandledRecords {

	private static final int PATIENCE_SECONDS = 240;

	private final int recordsPerShard;

	private final int keys;

	private final Shard[] shards;

	private final AtomicInteger unfinishedShards;

	private final AtomicInteger miscounted = new AtomicInteger();

	private final CountDownLatch finished = new CountDownLatch(1);

	private final AtomicLong firstNanos = new AtomicLong();

	private volatile long lastNanos;

	private volatile long processorNanosAtBegin;

	private volatile long processorNanosAtEnd;

	Tally(int shards, int recordsPerShard) {
		this(shards, recordsPerShard, 0);
	}

	/**
	 * Creates a tally.
	 * @param keys how many keys each shard has; 0 if all records of a shard have one
	 * order. With keys, calls for a shard may come at the same time.
	 */
	Tally(int shards, int recordsPerShard, int keys) {
		this.recordsPerShard = recordsPerShard;
		this.keys = keys;
		this.shards = new Shard[shards];
		for (int i = 0; i < shards; i++) {
			this.shards[i] = new Shard(keys);
		}
		this.unfinishedShards = new AtomicInteger(shards);
	}

	/** What a record is to carry. */
	static byte[] payload(int shard, int number, int bytes) {
		byte[] payload = new byte[bytes];
		ByteBuffer.wrap(payload).putInt(shard).putInt(number);
		return payload;
	}

	/** Returns the key of a record. */
	static int key(byte[] payload, int keys) {
		return number(payload, 4) % keys;
	}

	@Override
	public void handled(byte[] payload) {
		Shard shard = this.shards[number(payload, 0)];
		int number = number(payload, 4);
		if (this.keys == 0) {
			handled(shard, number);
			return;
		}
		synchronized (shard) {
			shard.handledOfKey(number % this.keys, number);
			handled(shard, number);
		}
	}

	@Override
	public void counted(byte[] payload, long count) {
		if (count != CountedKeys.expected(payload)) {
			this.miscounted.incrementAndGet();
		}
		handled(payload);
	}

	private void handled(Shard shard, int number) {
		if (number == shard.next) {
			if (number == 0) {
				begun();
			}
			shard.advance();
		}
		else {
			shard.handledOutOfOrder(number);
		}
		if (shard.next == this.recordsPerShard && !shard.finished) {
			shard.finished = true;
			ended();
		}
	}

	private void begun() {
		if (this.firstNanos.compareAndSet(0, System.nanoTime())) {
			this.processorNanosAtBegin = Machine.processorNanos();
		}
	}

	private void ended() {
		if (this.unfinishedShards.decrementAndGet() == 0) {
			this.lastNanos = System.nanoTime();
			this.processorNanosAtEnd = Machine.processorNanos();
			this.finished.countDown();
		}
	}

	private static int number(byte[] payload, int at) {
		return (payload[at] & 0xff) << 24 | (payload[at + 1] & 0xff) << 16 | (payload[at + 2] & 0xff) << 8
				| payload[at + 3] & 0xff;
	}

	@Override
	public boolean isComplete() {
		return this.finished.getCount() == 0;
	}

	@Override
	public void awaitCompletion() throws InterruptedException {
		if (!this.finished.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
			long handled = 0;
			for (Shard shard : this.shards) {
				handled += shard.next;
			}
			throw new IllegalStateException(String.format(Locale.ROOT,
					"After %d s only %,d of %,d records were handled", PATIENCE_SECONDS, handled, records()));
		}
	}

	/** Fails unless each record was handled once, in its order, and counted right. */
	void verify() {
		long outOfOrder = 0;
		long repeated = 0;
		for (Shard shard : this.shards) {
			outOfOrder += (this.keys > 0) ? shard.keysOutOfOrder : shard.outOfOrder;
			repeated += shard.repeated;
		}
		if (!isComplete() || outOfOrder > 0 || repeated > 0 || this.miscounted.get() > 0) {
			throw new IllegalStateException(String.format(Locale.ROOT,
					"%,d records handled out of order, %,d more than once, %,d miscounted, shards unfinished: %d",
					outOfOrder, repeated, this.miscounted.get(), this.unfinishedShards.get()));
		}
	}

	private long records() {
		return (long) this.recordsPerShard * this.shards.length;
	}

	/** Returns records per second from the first to the last handled one. */
	double rate() {
		return records() * 1e9 / (this.lastNanos - this.firstNanos.get());
	}

	/**
	 * Returns the processor time of this process, with all its threads, for each record.
	 * Depends less than the rate on what else runs on the machine.
	 */
	double processorMicrosPerRecord() {
		return (this.processorNanosAtEnd - this.processorNanosAtBegin) / 1e3 / records();
	}

	Map<String, Double> figures() {
		return figures(rate(), processorMicrosPerRecord());
	}

	static Map<String, Double> figures(double rate, double processorMicros) {
		Map<String, Double> figures = new LinkedHashMap<>();
		figures.put(ConsumingBenchmark.RATE, rate);
		figures.put(ConsumingBenchmark.PROCESSOR, processorMicros);
		return figures;
	}

	private static final class Shard {

		private int next;

		private boolean finished;

		private long outOfOrder;

		private long repeated;

		private final BitSet early = new BitSet();

		/** Last record of each key. */
		private final int[] last;

		private long keysOutOfOrder;

		Shard(int keys) {
			this.last = new int[keys];
			Arrays.fill(this.last, -1);
		}

		void handledOfKey(int key, int number) {
			if (number < this.last[key]) {
				this.keysOutOfOrder++;
			}
			this.last[key] = number;
		}

		void handledOutOfOrder(int number) {
			if (number < this.next || this.early.get(number)) {
				this.repeated++;
				return;
			}
			this.outOfOrder++;
			this.early.set(number);
		}

		/** Goes on to the first record that was not handled yet. */
		void advance() {
			this.next = this.early.nextClearBit(this.next + 1);
		}

	}

}
