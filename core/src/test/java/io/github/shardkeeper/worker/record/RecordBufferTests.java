package io.github.shardkeeper.worker.record;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class RecordBufferTests {

	private final List<String> calls = new ArrayList<>();

	private final RecordBuffer buffer = new RecordBuffer(1000, 1_000_000, share(new BufferBudget(Long.MAX_VALUE)));

	@Test
	void bufferKeepsTheOrder() {
		this.buffer.add(records(1, 2));
		this.buffer.add(records(3, 3));

		for (String offset : List.of("1", "2", "3")) {
			assertThat(this.buffer.peek().offset()).isEqualTo(new Offset(offset));
			assertThat(this.buffer.peek().offset()).isEqualTo(new Offset(offset));
			remove();
		}
		assertThat(this.buffer.peek()).isNull();
	}

	@Test
	void readerPausesAtAFullBufferAndResumesOnce() {
		assertThat(this.buffer.add(records(1, 999))).isTrue();
		assertThat(this.buffer.add(records(1000, 1000))).isFalse();

		for (int left = 999; left > 500; left--) {
			assertThat(remove()).isFalse();
		}
		assertThat(remove()).as("half empty").isTrue();
		assertThat(remove()).isFalse();
	}

	@Test
	void recordsOfOneReadAreAddedEvenIfTheBufferOverflows() {
		assertThat(this.buffer.add(records(1, 1500))).isFalse();
		assertThat(this.buffer.add(records(1501, 1501))).isFalse();
	}

	@Test
	void clearDropsEverything() {
		this.buffer.add(records(1, 3));
		this.buffer.clear();

		assertThat(this.buffer.peek()).isNull();
	}

	@Test
	void bufferIsLimitedByBytes() {
		RecordBuffer small = new RecordBuffer(1000, 1000, share(new BufferBudget(Long.MAX_VALUE)));

		assertThat(small.add(List.of(record(1, 500)))).isTrue();
		assertThat(small.add(List.of(record(2, 500)))).isFalse();
		assertThat(removeFrom(small)).as("less than half of it is free").isFalse();
		assertThat(removeFrom(small)).isTrue();
	}

	@Test
	void sizeIncludesKeysAndHeaders() {
		RecordBuffer small = new RecordBuffer(1000, 1000, share(new BufferBudget(Long.MAX_VALUE)));

		assertThat(small.add(List
			.of(new SourceRecord(new Offset("1"), "k".repeat(400), new byte[0], Map.of("image", "x".repeat(500)), 0))))
			.isFalse();
	}

	@Test
	void failedResumeIsRepeated() {
		this.buffer.add(records(1, 1000));
		for (int i = 0; i < 500; i++) {
			this.buffer.peek();
			this.buffer.remove();
		}

		assertThatIllegalStateException().isThrownBy(() -> this.buffer.resume(() -> {
			throw new IllegalStateException("caused by the test");
		}));
		assertThat(readsOn(this.buffer)).isTrue();
		assertThat(readsOn(this.buffer)).isFalse();
	}

	@Test
	void shardAboveItsShareIsPausedWhenTheBudgetIsUsedUp() {
		BufferBudget budget = new BufferBudget(4000);
		RecordBuffer greedy = buffer(budget);
		RecordBuffer modest = buffer(budget);

		assertThat(greedy.add(List.of(record(1, 3000)))).as("there is enough for all").isTrue();
		assertThat(modest.add(List.of(record(1, 1000)))).as("too much, but less than its share").isTrue();
		assertThat(greedy.add(List.of(record(2, 10)))).isFalse();
		greedy.clear();
		assertThat(budget.used()).isBetween(1000L, 1999L);
		assertThat(modest.add(List.of(record(2, 2000)))).isTrue();
		removeFrom(modest);
		removeFrom(modest);
		assertThat(budget.used()).isZero();
	}

	@Test
	void waitingShardResumesWhenOthersGiveBack() {
		BufferBudget budget = new BufferBudget(4000);
		RecordBuffer slow = buffer(budget, "slow");
		RecordBuffer fast = buffer(budget, "fast");
		fast.add(List.of(record(1, 500)));
		fast.add(List.of(record(2, 500)));
		assertThat(slow.add(List.of(record(1, 1200), record(2, 2500)))).isFalse();

		assertThat(removeFrom(fast)).as("has room as ever").isFalse();
		assertThat(this.calls).as("there is not enough yet").isEmpty();
		assertThat(readsOn(slow)).isFalse();
		removeFrom(fast);

		assertThat(this.calls).as("woken, by the other").containsExactly("slow");
		assertThat(readsOn(slow)).isTrue();
		assertThat(readsOn(slow)).as("once").isFalse();
		fast.add(List.of(record(3, 10)));
		removeFrom(fast);
		assertThat(this.calls).as("waits no more").containsExactly("slow");
	}

	@Test
	void halfFreeBufferDoesNotResumeWhileTheBudgetIsUsedUp() {
		BufferBudget budget = new BufferBudget(10_000);
		BufferBudget.Share others = share(budget, "others");
		budget.join();
		RecordBuffer own = new RecordBuffer(100, 1_000_000, share(budget, "own"));
		budget.join();
		assertThat(own.add(Collections.nCopies(100, record(1, 10)))).isFalse();
		others.take(1, 20_000);

		for (int left = 99; left >= 50; left--) {
			assertThat(removeFrom(own)).as("%d left", left).isFalse();
		}
		assertThat(this.calls).isEmpty();
		others.giveBack(1, 20_000);
		assertThat(this.calls).containsExactly("own");
		assertThat(readsOn(own)).isTrue();
	}

	@Test
	void shardBelowItsShareIsNeverPaused() {
		BufferBudget budget = new BufferBudget(2000);
		budget.join();
		share(budget, "others").take(1, 100_000);
		RecordBuffer modest = buffer(budget, "modest");
		assertThat(modest.add(List.of(record(1, 300)))).isTrue();
		assertThat(modest.add(List.of(record(2, 300), record(3, 300)))).isFalse();

		assertThat(removeFrom(modest)).isTrue();
	}

	@Test
	void leavingShardMakesRoomForWaitingOnes() {
		BufferBudget budget = new BufferBudget(3000);
		budget.join();
		share(budget, "stuck").take(1, 10_000);
		budget.join();
		RecordBuffer waiting = buffer(budget, "waiting");
		assertThat(waiting.add(List.of(record(1, 1200)))).as("more than a third").isFalse();

		budget.leave();

		assertThat(this.calls).containsExactly("waiting");
		assertThat(readsOn(waiting)).isTrue();
	}

	@Test
	void deliveriesOutOfOrderCountUntilTheyAreDone() {
		BufferBudget budget = new BufferBudget(1000);
		BufferBudget.Share share = share(budget, "busy");
		budget.join();
		RecordBuffer busy = new RecordBuffer(1000, 1_000_000, share);
		share.take(1, 800);
		BufferBudget.Share others = share(budget, "others");
		budget.join();
		assertThat(busy.add(List.of(record(1, 100)))).isFalse();
		assertThat(removeFrom(busy)).as("the records taken exceed its share").isEqualTo(budget.used() <= 1000);
		others.take(1, 900);
		assertThat(busy.add(List.of(record(2, 100)))).isFalse();

		share.giveBack(1, 800);

		assertThat(readsOn(busy)).isTrue();
	}

	@Test
	void budgetIsExceededByAtMostOneReadOfEachShard() {
		int shards = 10;
		long total = 1_000_000;
		int read = 100 * 4000;
		BufferBudget budget = new BufferBudget(total);
		List<RecordBuffer> buffers = new ArrayList<>();
		boolean[] reading = new boolean[shards];
		for (int i = 0; i < shards; i++) {
			buffers.add(buffer(budget));
			reading[i] = true;
		}
		long most = 0;
		for (int round = 0; round < 1000; round++) {
			for (int i = 0; i < shards; i++) {
				if (reading[i]) {
					reading[i] = buffers.get(i).add(Collections.nCopies(100, record(round, 4000 - 150)));
				}
			}
			most = Math.max(most, budget.used());
			for (int i = 0; i < shards; i++) {
				// A slow handler has handled one record.
				reading[i] |= buffers.get(i).peek() != null && removeFrom(buffers.get(i));
			}
		}
		assertThat(most).isLessThanOrEqualTo(total + shards * read);
	}

	@Test
	void noShardWaitsForever() throws Exception {
		BufferBudget budget = new BufferBudget(20_000);
		int shards = 4;
		ExecutorService threads = Executors.newFixedThreadPool(2 * shards);
		try {
			List<Future<?>> all = new ArrayList<>();
			for (int i = 0; i < shards; i++) {
				budget.join();
				Semaphore room = new Semaphore(1);
				Semaphore wake = new Semaphore(0);
				RecordBuffer busy = new RecordBuffer(100, 1_000_000,
						new BufferBudget.Share(budget, new BufferBudget.Usage(), wake::release));
				int batches = 3000;
				all.add(threads.submit(() -> {
					for (int batch = 0; batch < batches; batch++) {
						assertThat(room.tryAcquire(1, TimeUnit.MINUTES)).isTrue();
						if (busy.add(Collections.nCopies(40, record(batch, 200)))) {
							room.release();
						}
						wake.release();
					}
					return null;
				}));
				all.add(threads.submit(() -> {
					for (int left = batches * 40; left > 0;) {
						assertThat(wake.tryAcquire(1, TimeUnit.MINUTES)).isTrue();
						busy.resume(room::release);
						while (busy.peek() != null) {
							busy.remove();
							busy.resume(room::release);
							left--;
						}
					}
					return null;
				}));
			}
			for (Future<?> each : all) {
				each.get(2, TimeUnit.MINUTES);
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(budget.used()).isZero();
	}

	@Test
	void usageOfATopicIsWhatItsShardsHaveReadAhead() {
		BufferBudget budget = new BufferBudget(Long.MAX_VALUE);
		BufferBudget.Usage usage = new BufferBudget.Usage();
		RecordBuffer one = new RecordBuffer(1000, Long.MAX_VALUE, new BufferBudget.Share(budget, usage, () -> {
		}));
		RecordBuffer other = new RecordBuffer(1000, Long.MAX_VALUE, new BufferBudget.Share(budget, usage, () -> {
		}));
		one.add(records(1, 2));
		one.add(records(3, 3));
		other.add(records(1, 4));
		assertThat(usage.records()).isEqualTo(7);
		assertThat(usage.bytes()).isEqualTo(budget.used()).isPositive();

		removeFrom(one);
		removeFrom(one);
		assertThat(usage.records()).as("a whole read was taken up").isEqualTo(5);
		assertThat(usage.bytes()).isEqualTo(budget.used());
		other.clear();
		assertThat(usage.records()).isEqualTo(1);
		one.clear();
		assertThat(usage.records()).isZero();
		assertThat(usage.bytes()).isZero();
	}

	@Test
	void bufferIsAtItsEndWhenItIsEmptyAndEnded() {
		this.buffer.add(records(1, 1));
		this.buffer.end();
		assertThat(this.buffer.isAtEnd()).isFalse();
		this.buffer.peek();
		assertThat(this.buffer.isAtEnd()).isFalse();
		this.buffer.remove();
		assertThat(this.buffer.isAtEnd()).isTrue();
	}

	private RecordBuffer buffer(BufferBudget budget) {
		return buffer(budget, "nobody asks");
	}

	private RecordBuffer buffer(BufferBudget budget, String name) {
		budget.join();
		return new RecordBuffer(1000, Long.MAX_VALUE, share(budget, name));
	}

	private BufferBudget.Share share(BufferBudget budget) {
		return share(budget, "nobody asks");
	}

	private BufferBudget.Share share(BufferBudget budget, String name) {
		return new BufferBudget.Share(budget, new BufferBudget.Usage(), () -> this.calls.add(name));
	}

	private boolean remove() {
		return removeFrom(this.buffer);
	}

	/** Returns whether the reader is to continue. */
	private static boolean removeFrom(RecordBuffer from) {
		assertThat(from.peek()).isNotNull();
		from.remove();
		return readsOn(from);
	}

	private static boolean readsOn(RecordBuffer full) {
		AtomicBoolean resumed = new AtomicBoolean();
		full.resume(() -> resumed.set(true));
		return resumed.get();
	}

	private static SourceRecord record(int offset, int size) {
		return new SourceRecord(new Offset(Integer.toString(offset)), null, new byte[size], Instant.EPOCH);
	}

	private static List<SourceRecord> records(int first, int last) {
		List<SourceRecord> records = new ArrayList<>();
		for (int i = first; i <= last; i++) {
			records.add(new SourceRecord(new Offset(Integer.toString(i)), null, new byte[0], Instant.EPOCH));
		}
		return records;
	}

}
