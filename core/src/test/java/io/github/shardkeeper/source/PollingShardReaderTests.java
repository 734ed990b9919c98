package io.github.shardkeeper.source;

import java.io.FileNotFoundException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader.RecordSink;
import io.github.shardkeeper.testsupport.SettableClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * What the contract of sources does not reach: failures, time and ends.
 */
class PollingShardReaderTests {

	private static final ShardId A = ShardId.of("orders", 0);

	private static final ShardId B = ShardId.of("orders", 1);

	private static final ShardId C = ShardId.of("orders", 2);

	private final SettableClock clock = new SettableClock();

	/** Number of records by shard. */
	private final Map<ShardId, Integer> records = new HashMap<>();

	private final Map<ShardId, Exception> failures = new HashMap<>();

	private final Set<ShardId> closed = new HashSet<>();

	private final List<ShardId> fetched = new ArrayList<>();

	private Duration fetchTime = Duration.ZERO;

	private final PollingShardReader reader = new PollingShardReader(this::fetch, this.closed::contains,
			Duration.ofMillis(1), this.clock);

	private List<SourceRecord> fetch(ShardId shard, @Nullable Offset after) throws Exception {
		this.fetched.add(shard);
		this.clock.advance(this.fetchTime);
		if (this.failures.containsKey(shard)) {
			throw this.failures.get(shard);
		}
		int next = (after != null) ? Integer.parseInt(after.value()) + 1 : 1;
		if (next > this.records.getOrDefault(shard, 0)) {
			return List.of();
		}
		return List.of(new SourceRecord(new Offset(Integer.toString(next)), null, new byte[0], Instant.EPOCH));
	}

	@Test
	void failureOfAShardDoesNotStopOthers() throws InterruptedException {
		this.failures.put(A, new FileNotFoundException("/data/0"));
		this.records.put(B, 2);
		Sink failing = start(A);
		Sink other = start(B);

		assertThat(this.reader.poll()).isTrue();
		assertThat(this.reader.poll()).isTrue();
		assertThat(failing.offsets).isEmpty();
		assertThat(other.offsets).containsExactly("1", "2");
		assertThat(this.reader.problems()).isEqualTo(Map.of(A, "FileNotFoundException: /data/0"));
	}

	@Test
	void errorOfAShardDoesNotStopOthers() throws InterruptedException {
		PollingShardReader broken = new PollingShardReader((shard, after) -> {
			if (shard.equals(A)) {
				throw new NoClassDefFoundError("expected by the test");
			}
			return List.of(new SourceRecord(new Offset("1"), null, new byte[0], Instant.EPOCH));
		}, Duration.ofMillis(1));
		Sink other = new Sink(true);
		broken.start(A, null, new Sink(true));
		broken.start(B, null, other);
		broken.poll();

		assertThat(other.offsets).containsExactly("1");
		assertThat(broken.problems()).isEqualTo(Map.of(A, "NoClassDefFoundError: expected by the test"));
	}

	@Test
	void pauseBetweenAttemptsDoublesUpTo30Seconds() throws InterruptedException {
		this.failures.put(A, new IllegalStateException("The file is broken"));
		start(A);
		for (int seconds : new int[] { 1, 2, 4, 8, 16, 30, 30 }) {
			assertThat(this.reader.poll()).as("not answered").isFalse();
			int attempts = this.fetched.size();
			this.clock.advance(Duration.ofSeconds(seconds).minusMillis(1));
			this.reader.poll();
			assertThat(this.fetched).as("before %d s", seconds).hasSize(attempts);
			this.clock.advance(Duration.ofMillis(1));
		}
		assertThat(this.reader.problems()).isEqualTo(Map.of(A, "The file is broken"));
	}

	@Test
	void problemEndsWithTheNextFetch() throws InterruptedException {
		this.failures.put(A, new IllegalStateException());
		Sink sink = start(A);
		this.reader.poll();
		assertThat(this.reader.problems()).isEqualTo(Map.of(A, "IllegalStateException"));
		this.failures.clear();
		this.records.put(A, 1);
		this.clock.advance(Duration.ofSeconds(1));
		this.reader.poll();

		assertThat(this.reader.problems()).isEmpty();
		assertThat(sink.offsets).containsExactly("1");
		this.failures.put(A, new IllegalStateException());
		this.reader.poll();
		this.clock.advance(Duration.ofSeconds(1));
		int attempts = this.fetched.size();
		this.reader.poll();
		assertThat(this.fetched).as("the first pause is short again").hasSize(attempts + 1);
	}

	@Test
	void stoppedShardHasNoProblem() throws InterruptedException {
		this.failures.put(A, new IllegalStateException());
		start(A);
		this.reader.poll();
		this.reader.stop(A);

		assertThat(this.reader.problems()).isEmpty();
	}

	@Test
	void nullIsAProblemThatNamesTheFix() throws InterruptedException {
		PollingShardReader broken = new PollingShardReader((shard, after) -> null, Duration.ofMillis(1));
		broken.start(A, null, new Sink(true));
		broken.poll();

		assertThat(broken.problems().get(A)).contains("return an empty list");
	}

	@Test
	void unavailableSourceFailsThePollAndTheNextBeginsWithAnotherShard() {
		this.failures.put(A, new StoreUnavailableException("away", null));
		this.failures.put(B, new StoreUnavailableException("away", null));
		start(A);
		start(B);
		for (int poll = 0; poll < 4; poll++) {
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(this.reader::poll);
		}

		assertThat(this.fetched).containsExactly(A, B, A, B);
		assertThat(this.reader.problems()).as("it is not a shard's").isEmpty();
	}

	@Test
	void longPollReturnsAndTheNextContinues() throws InterruptedException {
		this.fetchTime = Duration.ofSeconds(1);
		start(A);
		start(B);
		start(C);
		this.reader.poll();
		this.reader.poll();
		this.reader.poll();

		assertThat(this.fetched).containsExactly(A, B, C, A, B, C);
	}

	@Test
	void closedShardEndsAfterItsLastRecordAndIsNotFetchedAgain() throws InterruptedException {
		this.records.put(A, 2);
		this.closed.add(A);
		Sink sink = start(A);
		this.reader.poll();
		this.reader.poll();
		assertThat(sink.ends).isZero();
		this.reader.poll();
		assertThat(sink.ends).isOne();
		this.reader.poll();

		assertThat(this.fetched).hasSize(3);
		assertThat(sink.ends).isOne();
	}

	@Test
	void recordAppendedBeforeTheShardClosesIsNotLost() throws InterruptedException {
		PollingShardReader racing = new PollingShardReader((shard, after) -> {
			if (this.closed.add(shard)) {
				// Appended and closed after this fetch.
				this.records.put(shard, 1);
				return List.of();
			}
			return fetch(shard, after);
		}, this.closed::contains, Duration.ofMillis(1));
		Sink sink = new Sink(true);
		racing.start(A, null, sink);
		racing.poll();
		assertThat(sink.ends).isZero();
		racing.poll();
		racing.poll();

		assertThat(sink.offsets).containsExactly("1");
		assertThat(sink.ends).isOne();
	}

	@Test
	void pausedShardEndsOnlyAfterItIsResumed() throws InterruptedException {
		this.records.put(A, 1);
		this.closed.add(A);
		Sink sink = new Sink(false);
		this.reader.start(A, null, sink);
		this.reader.poll();
		this.reader.poll();
		assertThat(sink.ends).isZero();
		this.reader.resume(A);
		this.reader.poll();

		assertThat(sink.ends).isOne();
	}

	@Test
	void refusalIsReportedAfterTheOthersAreServed() throws InterruptedException {
		this.records.put(A, 1);
		this.records.put(B, 1);
		this.reader.start(A, null, (offered) -> {
			throw new IllegalStateException("expected by the test");
		});
		Sink other = start(B);

		assertThatIllegalStateException().isThrownBy(this.reader::poll)
			.withMessageContaining("orders/0 did not take its records");
		assertThat(other.offsets).containsExactly("1");
	}

	@Test
	void shardStoppedDuringItsFetchIsNotDelivered() throws InterruptedException {
		List<PollingShardReader> stopping = new ArrayList<>();
		stopping.add(new PollingShardReader((shard, after) -> {
			stopping.get(0).stop(shard);
			this.records.put(shard, 1);
			return fetch(shard, after);
		}, Duration.ofMillis(1)));
		Sink sink = new Sink(true);
		stopping.get(0).start(A, null, sink);
		stopping.get(0).poll();

		assertThat(sink.offsets).isEmpty();
	}

	@Test
	void interruptedPollEnds() {
		this.records.put(A, 10);
		start(A);
		Thread.currentThread().interrupt();

		assertThatExceptionOfType(InterruptedException.class).isThrownBy(this.reader::poll);
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void wakeUpEndsTheWait() {
		PollingShardReader slow = new PollingShardReader(this::fetch, Duration.ofHours(1));
		Sink sink = new Sink(true);
		slow.start(A, null, sink);
		CompletableFuture<Thread> polling = new CompletableFuture<>();
		CompletableFuture<Void> polled = CompletableFuture.runAsync(() -> {
			polling.complete(Thread.currentThread());
			try {
				slow.poll();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}, (task) -> new Thread(task).start());
		await().until(() -> polling.join().getState() == Thread.State.TIMED_WAITING);
		slow.wakeUp();

		assertThat(polled).succeedsWithin(10, TimeUnit.SECONDS);
	}

	@Test
	void intervalIsPositive() {
		assertThatIllegalArgumentException().isThrownBy(() -> new PollingShardReader(this::fetch, Duration.ofNanos(1)))
			.withMessageContaining("at least 1 ms");
	}

	private Sink start(ShardId shard) {
		Sink sink = new Sink(true);
		this.reader.start(shard, null, sink);
		return sink;
	}

	private static final class Sink implements RecordSink {

		private final boolean room;

		private final List<String> offsets = new ArrayList<>();

		private int ends;

		Sink(boolean room) {
			this.room = room;
		}

		@Override
		public boolean offer(List<SourceRecord> records) {
			records.forEach((offered) -> this.offsets.add(offered.offset().value()));
			return this.room;
		}

		@Override
		public void ended() {
			this.ends++;
		}

	}

}
