package io.github.shardkeeper.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * What every {@link ShardSource} that can be written to does. A subclass supplies the
 * source; a thread polls a reader all the time, as the runner's does.
 */
public abstract class ShardSourceContract {

	/** Much less than a poll waits when nothing happens. */
	protected static final Duration SOON = Duration.ofMillis(700);

	protected static final ShardId SHARD = ShardId.of("orders", 0);

	private static final ShardId OTHER = ShardId.of("orders", 1);

	private static final int SHARDS = 40;

	private ShardSource source;

	private ShardAppender appender;

	private ShardReader reader;

	private Thread poller;

	private volatile boolean polling = true;

	private final List<RuntimeException> failures = new CopyOnWriteArrayList<>();

	/**
	 * Creates a source without records.
	 * @param topics the topics with their shard counts
	 * @return the source, which the contract closes
	 */
	protected abstract ShardSource createSource(Map<String, Integer> topics);

	/** The other side of a source. */
	protected ShardAppender appender(ShardSource created) {
		return (ShardAppender) created;
	}

	/** What gives its topics more shards. */
	protected ShardTopics topics(ShardSource created) {
		return (ShardTopics) created;
	}

	@BeforeEach
	void open() {
		this.source = createSource(Map.of("orders", SHARDS));
		this.appender = appender(this.source);
		this.reader = this.source.openReader();
		this.poller = new Thread(this::pollOn, "poller");
		this.poller.setDaemon(true);
		this.poller.start();
	}

	@AfterEach
	void close() throws InterruptedException {
		this.polling = false;
		this.poller.interrupt();
		this.poller.join(10_000);
		this.reader.close();
		this.source.close();
	}

	@Test
	void knowsItsTopics() {
		assertThat(this.source.topics()).containsOnly(Map.entry("orders", TopicShards.count(SHARDS)));
	}

	@Test
	void aShardThatItDoesNotKnowIsReadAllTheSame() {
		ShardId unknown = ShardId.of("orders", SHARDS + 5);
		assertThat(this.source.topics().get("orders").contains(unknown.id())).isFalse();
		append(unknown, 1, 2);

		assertThat(payloads(start(unknown, null).await(2))).containsExactly("r1", "r2");
	}

	@Test
	void headersAreNotCalledLikeWhatHoldsKeyAndPayload() {
		for (String name : List.of("k", "v")) {
			NewRecord refused = new NewRecord(SHARD, "key", new byte[0], Map.of("tenant", "a", name, "b"));
			assertThatIllegalArgumentException().isThrownBy(() -> this.appender.check(refused))
				.withMessageContaining("A header is called '%s'".formatted(name))
				.withMessageContaining("rename it");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> this.appender.append(List.of(new NewRecord(SHARD, "key", new byte[0]), refused)));
		}
		append(SHARD, 1, 1);

		assertThat(payloads(start(SHARD, null).await(1))).as("nothing was sent with them").containsExactly("r1");
	}

	@Test
	void aTopicIsRaisedWithinItsBounds() {
		ShardTopics topics = topics(this.source);
		assertThat(topics.raise("orders", SHARDS)).isEqualTo(SHARDS);
		assertThat(topics.raise("orders", SHARDS + 2)).isEqualTo(SHARDS + 2);

		assertThatIllegalArgumentException().isThrownBy(() -> topics.raise("orders", SHARDS))
			.withMessageContaining("'orders' has %d shards already, and cannot have fewer".formatted(SHARDS + 2));
		assertThatIllegalArgumentException().isThrownBy(() -> topics.raise("orders", -1));
		for (int tooMany : new int[] { 100_001, Integer.MAX_VALUE }) {
			assertThatIllegalArgumentException().isThrownBy(() -> topics.raise("orders", tooMany))
				.withMessageContaining("A topic has at most 100,000 shards");
		}
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> topics.raise("unknown", 2))
			.withMessageContaining("names the topic 'unknown', which is not configured; known topics: [orders]");
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(() -> topics.shards("unknown"));
		assertThat(topics.shards("orders")).isEqualTo(SHARDS + 2);
	}

	@Test
	void aShardThatIsOpenDoesNotEnd() {
		append(SHARD, 1, 2);
		Sink sink = start(SHARD, null);
		sink.await(2);
		append(SHARD, 3, 3);
		sink.await(1);
		awaitWaiting();

		assertThat(sink.ends).isZero();
	}

	@Test
	void whoEndsItsWatchIsLeftAlone() {
		AtomicInteger calls = new AtomicInteger();
		ShardSource.Watch watch = this.source.watch(calls::incrementAndGet);
		watch.close();
		watch.close();

		assertThat(calls).hasValue(0);
	}

	@Test
	void recordsArriveAsTheyWereSentAndInTheirOrder() {
		List<Offset> offsets = append(SHARD, 1, 1200);
		Sink sink = start(SHARD, null);

		List<SourceRecord> records = sink.await(1200);
		assertThat(records).extracting(SourceRecord::offset).containsExactlyElementsOf(offsets).doesNotHaveDuplicates();
		assertThat(payloads(records)).containsExactlyElementsOf(payloads(1, 1200));
		assertThat(records.get(0).key()).isEqualTo("kéy");
		assertThat(records.get(0).timestamp()).isNotNull();
	}

	@Test
	void bytesArriveAsTheyAre() {
		byte[] bytes = { 0, -1, '\r', '\n', (byte) 0xc3, 0x28 };
		Appends.append(this.appender, List.of(new NewRecord(SHARD, "", bytes), new NewRecord(SHARD, "k", new byte[0])));
		Sink sink = start(SHARD, null);

		List<SourceRecord> records = sink.await(2);
		assertThat(records.get(0).payload()).isEqualTo(bytes);
		assertThat(records.get(0).key()).isEmpty();
		assertThat(records.get(1).payload()).isEmpty();
	}

	@Test
	void headersArriveAsTheyAre() {
		Map<String, String> headers = Map.of("tenant", "ácme", "empty", "", "traceparent", "00-1-2-01");
		Appends.append(this.appender, List.of(new NewRecord(SHARD, "k", new byte[] { 1 }, headers),
				new NewRecord(SHARD, "k", new byte[] { 2 })));

		List<SourceRecord> records = start(SHARD, null).await(2);
		assertThat(records).extracting(SourceRecord::headers).containsExactly(headers, Map.of());
	}

	@Test
	void aRecordMayHaveNoKey() {
		Appends.append(this.appender, List.of(new NewRecord(SHARD, null, new byte[] { 1 })));

		assertThat(start(SHARD, null).await(1).get(0).key()).isNull();
	}

	@Test
	void startsAfterAnOffset() {
		List<Offset> offsets = append(SHARD, 1, 5);
		Sink sink = start(SHARD, offsets.get(2));

		assertThat(payloads(sink.await(2))).containsExactly("r4", "r5");
		append(SHARD, 6, 6);
		assertThat(payloads(sink.await(1))).containsExactly("r6");
	}

	@Test
	void startsAfterTheLastOffset() {
		List<Offset> offsets = append(SHARD, 1, 5);
		Sink sink = start(SHARD, offsets.get(4));
		append(SHARD, 6, 6);

		assertThat(payloads(sink.await(1))).containsExactly("r6");
	}

	@Test
	void theEarliestPositionIsBeforeTheFirstRecord() {
		append(SHARD, 1, 3);

		assertThat(payloads(start(SHARD, before(StartPosition.EARLIEST)).await(3))).containsExactly("r1", "r2", "r3");
	}

	@Test
	void theLatestPositionIsBehindTheLastRecord() {
		append(SHARD, 1, 3);
		Offset before = before(StartPosition.LATEST);
		append(SHARD, 4, 5);

		assertThat(payloads(start(SHARD, before).await(2))).containsExactly("r4", "r5");
	}

	@Test
	void inAnEmptyShardEverythingComesAfterTheLatestPosition() {
		Offset before = before(StartPosition.LATEST);
		append(SHARD, 1, 2);

		assertThat(payloads(start(SHARD, before).await(2))).containsExactly("r1", "r2");
	}

	@Test
	void aPositionByTimeBeginsWithTheRecordsOfThatTime() throws InterruptedException {
		append(SHARD, 1, 2);
		Sink all = start(SHARD, null);
		Instant last = all.await(2).get(1).timestamp();
		// Until a record has a later time.
		SourceRecord later;
		int number = 2;
		do {
			number++;
			append(SHARD, number, number);
			later = all.await(1).get(0);
		}
		while (!later.timestamp().isAfter(last));

		assertThat(payloads(start(SHARD, before(StartPosition.at(later.timestamp()))).await(1)))
			.containsExactly("r" + number);
		Sink sink = start(SHARD, before(StartPosition.at(Instant.EPOCH)));
		assertThat(payloads(sink.await(1))).containsExactly("r1");
	}

	@Test
	void aPositionByOffsetBeginsWithThatRecord() {
		List<Offset> offsets = append(SHARD, 1, 5);

		assertThat(payloads(start(SHARD, before(StartPosition.from(offsets.get(2)))).await(3))).containsExactly("r3",
				"r4", "r5");
		assertThat(payloads(start(SHARD, before(StartPosition.from(offsets.get(0)))).await(5))).startsWith("r1");
	}

	@Test
	void aPositionBehindARecordBeginsWithTheNextOne() {
		List<Offset> offsets = append(SHARD, 1, 5);

		assertThat(payloads(start(SHARD, before(StartPosition.after(offsets.get(2)))).await(2))).containsExactly("r4",
				"r5");
		Sink sink = start(SHARD, before(StartPosition.after(offsets.get(4))));
		append(SHARD, 6, 6);
		assertThat(payloads(sink.await(1))).containsExactly("r6");
	}

	@Test
	void positionsOfManyShardsAreFoundAtOnce() {
		append(SHARD, 1, 3);
		append(OTHER, 1, 5);
		Map<ShardId, Offset> before = this.source.before(StartPosition.LATEST,
				List.of(SHARD, OTHER, ShardId.of("orders", 2)));
		append(SHARD, 4, 4);
		append(OTHER, 6, 6);

		assertThat(before).containsOnlyKeys(SHARD, OTHER, ShardId.of("orders", 2));
		assertThat(payloads(start(SHARD, before.get(SHARD)).await(1))).containsExactly("r4");
		assertThat(payloads(start(OTHER, before.get(OTHER)).await(1))).containsExactly("r6");
	}

	@Test
	void whatCanBeNoOffsetIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> before(StartPosition.from(new Offset("earlist"))))
			.withMessageContaining("'earlist'");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.source.before(StartPosition.from(new Offset("earlist")), List.of()));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.source.before(StartPosition.after(new Offset("earlist")), List.of()))
			.withMessageContaining("'earlist'");
	}

	private Offset before(StartPosition position) {
		return this.source.before(position, List.of(SHARD)).get(SHARD);
	}

	@Test
	void recordsThatAreAppendedWhileAPollWaitsArriveAtOnce() {
		Sink sink = start(SHARD, null);
		for (int number = 1; number <= 5; number++) {
			awaitWaiting();
			append(SHARD, number, number);
			assertThat(payloads(sink.awaitSoon(1))).containsExactly("r" + number);
		}
	}

	@Test
	void aShardThatIsStartedWhileAPollWaitsIsReadAtOnce() {
		start(SHARD, null);
		for (int number = 1; number <= 8; number++) {
			ShardId shard = ShardId.of("orders", number);
			append(shard, 1, 1);
			awaitWaiting();
			assertThat(payloads(start(shard, null).awaitSoon(1))).containsExactly("r1");
		}
	}

	@RepeatedTest(5)
	void shardsThatAreStartedAllAtOnceAreReadAtOnce() {
		append(SHARD, 1, 1);
		start(SHARD, null).await(1);
		List<Sink> sinks = new ArrayList<>();
		for (int number = 1; number < SHARDS; number++) {
			append(ShardId.of("orders", number), 1, 1);
		}
		awaitWaiting();
		for (int number = 1; number < SHARDS; number++) {
			sinks.add(start(ShardId.of("orders", number), null));
		}

		sinks.forEach((sink) -> assertThat(payloads(sink.awaitSoon(1))).containsExactly("r1"));
	}

	@Test
	void aShardThatIsStartedOnAnIdleReaderIsReadAtOnce() {
		append(SHARD, 1, 1);
		awaitWaiting();

		assertThat(payloads(start(SHARD, null).awaitSoon(1))).containsExactly("r1");
	}

	@Test
	void afterAStopNothingMoreIsDelivered() {
		Sink other = start(OTHER, null);
		Sink sink = start(SHARD, null);
		append(SHARD, 1, 1);
		sink.await(1);
		this.reader.stop(SHARD);
		append(SHARD, 2, 3);
		// Proof that polls went on after it.
		append(OTHER, 1, 1);
		other.await(1);
		append(OTHER, 2, 2);
		other.await(1);

		assertThat(sink.records).isEmpty();
	}

	@Test
	void afterAStopThatCrossesADeliveryNothingMoreIsDelivered() {
		for (int round = 0; round < 50; round++) {
			Sink sink = start(SHARD, null);
			append(SHARD, 1, 3);
			this.reader.stop(SHARD);
			int atStop = sink.delivered;
			append(OTHER, 1, 1);
			Sink other = start(OTHER, null);
			other.await(round + 1);
			this.reader.stop(OTHER);

			assertThat(sink.delivered).isEqualTo(atStop);
		}
	}

	@Test
	void aShardThatIsStoppedAndStartedAnewIsDeliveredFromTheNewOffsetOnly() {
		Sink first = start(SHARD, null);
		List<Offset> offsets = append(SHARD, 1, 3);
		first.await(3);
		this.reader.stop(SHARD);
		Sink second = start(SHARD, offsets.get(0));
		append(SHARD, 4, 4);

		assertThat(payloads(second.await(3))).containsExactly("r2", "r3", "r4");
		assertThat(first.records).isEmpty();
	}

	@Test
	void startedAnewAgainAndAgainItMissesAndRepeatsNothing() {
		List<Offset> offsets = append(SHARD, 1, 50);
		Offset after = null;
		List<String> handled = new ArrayList<>();
		while (handled.size() < 50) {
			Sink sink = start(SHARD, after);
			SourceRecord next = sink.await(1).get(0);
			this.reader.stop(SHARD);
			handled.add(new String(next.payload()));
			after = next.offset();
		}

		assertThat(handled).containsExactlyElementsOf(payloads(1, 50));
		assertThat(after).isEqualTo(offsets.get(49));
	}

	@Test
	void aFullSinkPausesItsShardOnly() {
		Sink sink = new Sink(false);
		this.reader.start(SHARD, null, sink);
		Sink other = start(OTHER, null);
		append(SHARD, 1, 1);
		sink.await(1);
		append(SHARD, 2, 3);
		append(OTHER, 1, 1);
		other.await(1);
		append(OTHER, 2, 2);
		other.await(1);
		assertThat(sink.records).isEmpty();

		sink.room = true;
		awaitWaiting();
		this.reader.resume(SHARD);
		assertThat(payloads(sink.awaitSoon(2))).containsExactly("r2", "r3");
		this.reader.resume(SHARD);
		append(SHARD, 4, 4);
		assertThat(payloads(sink.awaitSoon(1))).containsExactly("r4");
	}

	@Test
	void whatIsUnknownCanBeStoppedAndResumed() {
		this.reader.stop(SHARD);
		this.reader.resume(SHARD);
		append(SHARD, 1, 1);

		assertThat(payloads(start(SHARD, null).await(1))).containsExactly("r1");
	}

	@Test
	void manyShardsAreReadAtOnceEachInItsOrder() {
		Map<ShardId, Sink> sinks = new HashMap<>();
		List<NewRecord> records = new ArrayList<>();
		for (int number = 0; number < SHARDS; number++) {
			ShardId shard = ShardId.of("orders", number);
			sinks.put(shard, start(shard, null));
			for (int i = 1; i <= 100; i++) {
				records.add(new NewRecord(shard, "k", ("r" + i).getBytes()));
			}
		}
		Appends.append(this.appender, records);

		sinks.forEach((shard, sink) -> assertThat(payloads(sink.await(100))).as(shard.toString())
			.containsExactlyElementsOf(payloads(1, 100)));
	}

	@Test
	void whatASinkDidNotTakeIsOfferedAgainAndKeepsNoOtherShardWaiting() {
		append(SHARD, 1, 3);
		append(OTHER, 1, 3);
		AtomicInteger refusals = new AtomicInteger();
		Sink taking = new Sink(true);
		this.reader.start(SHARD, null, (records) -> {
			if (refusals.getAndIncrement() < 2) {
				throw new IllegalStateException("as the test wants it");
			}
			return taking.offer(records);
		});

		assertThat(payloads(taking.await(3))).containsExactly("r1", "r2", "r3");
		assertThat(payloads(start(OTHER, null).await(3))).containsExactly("r1", "r2", "r3");
		append(SHARD, 4, 5);
		assertThat(payloads(taking.await(2))).containsExactly("r4", "r5");
		assertThat(this.failures).hasSize(2);
	}

	@Test
	void nothingFailedMeanwhile() {
		append(SHARD, 1, 1);
		start(SHARD, null).await(1);

		assertThat(this.failures).isEmpty();
	}

	protected final ShardSource source() {
		return this.source;
	}

	protected final ShardReader reader() {
		return this.reader;
	}

	/** The other side of the source of this test. */
	protected final ShardAppender appender() {
		return this.appender;
	}

	protected final Sink start(ShardId shard, Offset after) {
		Sink sink = new Sink(true);
		this.reader.start(shard, after, sink);
		return sink;
	}

	protected final List<Offset> append(ShardId shard, int first, int last) {
		List<NewRecord> records = new ArrayList<>();
		for (int number = first; number <= last; number++) {
			records.add(new NewRecord(shard, "kéy", ("r" + number).getBytes()));
		}
		return Appends.append(this.appender, records);
	}

	/** Until the thread that polls has nothing to do. */
	protected final void awaitWaiting() {
		await().pollInterval(Duration.ofMillis(1)).until(() -> this.poller.getState() == Thread.State.TIMED_WAITING);
	}

	/** What the reader says of its shards. */
	protected final Map<ShardId, String> problems() {
		return this.reader.problems();
	}

	/** What polls have thrown. */
	protected final List<RuntimeException> failures() {
		return this.failures;
	}

	protected static List<String> payloads(List<SourceRecord> records) {
		return records.stream().map((record) -> new String(record.payload())).toList();
	}

	private static List<String> payloads(int first, int last) {
		List<String> payloads = new ArrayList<>();
		for (int number = first; number <= last; number++) {
			payloads.add("r" + number);
		}
		return payloads;
	}

	private void pollOn() {
		while (this.polling) {
			try {
				this.reader.poll();
			}
			catch (InterruptedException ex) {
				return;
			}
			catch (RuntimeException ex) {
				this.failures.add(ex);
			}
		}
	}

	/** Takes everything, and says whether it has room. */
	protected static final class Sink implements ShardReader.RecordSink {

		private final BlockingQueue<SourceRecord> records = new LinkedBlockingQueue<>();

		private volatile boolean room;

		private volatile int delivered;

		private volatile int largestOffer;

		private volatile int ends;

		/** What had been delivered by then. */
		private volatile int deliveredAtEnd;

		Sink(boolean room) {
			this.room = room;
		}

		@Override
		public boolean offer(List<SourceRecord> more) {
			assertThat(more).isNotEmpty();
			this.delivered += more.size();
			this.largestOffer = Math.max(this.largestOffer, more.size());
			this.records.addAll(more);
			return this.room;
		}

		@Override
		public void ended() {
			this.deliveredAtEnd = this.delivered;
			this.ends++;
		}

		public int ends() {
			return this.ends;
		}

		public int deliveredAtEnd() {
			return this.deliveredAtEnd;
		}

		public int largestOffer() {
			return this.largestOffer;
		}

		public List<SourceRecord> await(int count) {
			return await(count, Duration.ofSeconds(10));
		}

		public List<SourceRecord> awaitSoon(int count) {
			return await(count, SOON);
		}

		private List<SourceRecord> await(int count, Duration longest) {
			List<SourceRecord> taken = new ArrayList<>();
			long end = System.nanoTime() + longest.toNanos();
			try {
				while (taken.size() < count) {
					SourceRecord next = this.records.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
					assertThat(next).as("record %d of %d within %s", taken.size() + 1, count, longest).isNotNull();
					taken.add(next);
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException(ex);
			}
			return taken;
		}

	}

}
