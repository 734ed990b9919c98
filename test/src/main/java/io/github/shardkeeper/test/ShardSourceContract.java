package io.github.shardkeeper.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.IdempotentAppender;
import io.github.shardkeeper.source.IdempotentAppender.Appended;
import io.github.shardkeeper.source.IdempotentAppender.Batch;
import io.github.shardkeeper.source.RecordFields;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Contract of a {@link ShardSource}. Extend it in the test of a source, and create the
 * source in {@link #createSource(Map)}. If the source cannot be written to, append
 * records as its producers do in {@link #appender(ShardSource)}. Tests of {@link Ability
 * abilities} that the source does not have are skipped.
 * <p>
 * Each test gets a new source with the topic {@code orders} of 40 shards. During the test
 * a thread polls one reader of it without a pause, as at run time. Subclasses may add
 * tests with the same reader. Confined to the thread of the test.
 */
public abstract class ShardSourceContract {

	/** Maximum delay of a delivery, much shorter than the wait of an idle poll. */
	private static final Duration SOON = Duration.ofMillis(700);

	/** A shard of the topic. */
	protected static final ShardId SHARD = ShardId.of("orders", 0);

	private static final ShardId OTHER = ShardId.of("orders", 1);

	private static final int SHARDS = 40;

	/** How long deliveries took that are to come at once. */
	private final List<Duration> delays = new ArrayList<>();

	private ShardSource source;

	private ShardAppender appender;

	private ShardReader reader;

	private Thread poller;

	private volatile boolean polling = true;

	private final List<RuntimeException> failures = new CopyOnWriteArrayList<>();

	/**
	 * Creates a source without records. The contract closes it.
	 * @param topics the number of shards by topic
	 * @return the source
	 */
	protected abstract ShardSource createSource(Map<String, Integer> topics);

	/**
	 * Returns the optional abilities of the source, by default all.
	 * @return the abilities
	 */
	protected Set<Ability> abilities() {
		return EnumSet.allOf(Ability.class);
	}

	/**
	 * Returns the appender of a source, by default the source itself. It appends to any
	 * shard, also to one that the source does not list yet.
	 * @param created the source
	 * @return its appender
	 */
	protected ShardAppender appender(ShardSource created) {
		return (ShardAppender) created;
	}

	/**
	 * Returns the operations on the topics of a source, by default the source itself.
	 * Called only if the source has the ability {@link Ability#RAISING}.
	 * @param created the source
	 * @return the operations
	 */
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
	void returnsItsTopics() {
		assertThat(this.source.topics()).containsOnly(Map.entry("orders", TopicShards.count(SHARDS)));
	}

	@Test
	void shardThatTopicsDoNotListCanBeRead() {
		ShardId unknown = ShardId.of("orders", SHARDS + 5);
		assertThat(this.source.topics()).hasEntrySatisfying("orders",
				(shards) -> assertThat(shards.contains(unknown.id())).isFalse());
		append(unknown, 1, 2);

		assertThat(payloads(start(unknown, null).await(2))).containsExactly("r1", "r2");
	}

	@Test
	void headerWithReservedNameIsRefused() {
		require(Ability.RESERVED_HEADERS);
		for (String name : List.of("k", "v")) {
			NewRecord refused = new NewRecord(SHARD, "key", new byte[0], Map.of("tenant", "a", name, "b"));
			assertThatIllegalArgumentException().isThrownBy(() -> this.appender.check(refused))
				.withMessageContaining("A header is called '%s'".formatted(name))
				.withMessageContaining("rename it");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> this.appender.append(List.of(new NewRecord(SHARD, "key", new byte[0]), refused)));
		}
		append(SHARD, 1, 1);

		assertThat(payloads(start(SHARD, null).await(1))).as("all or nothing is sent").containsExactly("r1");
	}

	@Test
	void topicIsRaisedWithinItsBounds() {
		require(Ability.RAISING);
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
	void openShardDoesNotEnd() {
		append(SHARD, 1, 2);
		RecordingSink sink = start(SHARD, null);
		sink.await(2);
		append(SHARD, 3, 3);
		sink.await(1);
		awaitWaiting();

		assertThat(sink.ends()).isZero();
	}

	@Test
	void closedWatchIsNotNotified() {
		require(Ability.RAISING);
		AtomicInteger calls = new AtomicInteger();
		ShardSource.Watch closed = this.source.watch(calls::incrementAndGet);
		AtomicInteger notified = new AtomicInteger();
		ShardSource.Watch open = this.source.watch(() -> notified.accumulateAndGet(shards(), Math::max));
		closed.close();
		closed.close();
		// A notification that was under way may have come after that.
		topics(this.source).raise("orders", SHARDS + 1);
		await().until(() -> notified.get() > SHARDS);
		int before = calls.get();
		topics(this.source).raise("orders", SHARDS + 2);
		await().until(() -> notified.get() > SHARDS + 1);
		open.close();

		assertThat(calls).hasValue(before);
	}

	private int shards() {
		return this.source.topics().getOrDefault("orders", TopicShards.NONE).size();
	}

	@Test
	void recordsAreDeliveredUnchangedInOrder() {
		List<Offset> offsets = append(SHARD, 1, 1200);
		RecordingSink sink = start(SHARD, null);

		List<SourceRecord> records = sink.await(1200);
		assertThat(records).extracting(SourceRecord::offset).containsExactlyElementsOf(offsets).doesNotHaveDuplicates();
		assertThat(payloads(records)).containsExactlyElementsOf(payloads(1, 1200));
		assertThat(records.get(0).key()).isEqualTo(has(Ability.KEYS) ? "kéy" : null);
		assertThat(records.get(0).timestamp()).isNotNull();
	}

	@Test
	void payloadBytesAreDeliveredUnchanged() {
		require(Ability.ANY_BYTES);
		byte[] bytes = { 0, -1, '\r', '\n', (byte) 0xc3, 0x28 };
		append(List.of(new NewRecord(SHARD, null, bytes), new NewRecord(SHARD, null, new byte[0])));
		RecordingSink sink = start(SHARD, null);

		List<SourceRecord> records = sink.await(2);
		assertThat(records.get(0).payload()).isEqualTo(bytes);
		assertThat(records.get(1).payload()).isEmpty();
	}

	@Test
	void headersAreDeliveredUnchanged() {
		require(Ability.HEADERS);
		Map<String, String> headers = Map.of("tenant", "ácme", "empty", "", "traceparent", "00-1-2-01");
		append(List.of(new NewRecord(SHARD, null, "r1".getBytes(), headers),
				new NewRecord(SHARD, null, "r2".getBytes())));

		List<SourceRecord> records = start(SHARD, null).await(2);
		assertThat(records).extracting(SourceRecord::headers).containsExactly(headers, Map.of());
	}

	@Test
	void recordHasTheSizeWithWhichItWasSent() {
		NewRecord sent = new NewRecord(SHARD, has(Ability.KEYS) ? "kéy" : null, "r1".getBytes(),
				has(Ability.HEADERS) ? Map.of("tenant", "ácme", "empty", "") : Map.of());
		append(List.of(sent));

		assertThat(start(SHARD, null).await(1).get(0).size()).isEqualTo(sent.size());
	}

	@Test
	void keyIsOptional() {
		append(List.of(new NewRecord(SHARD, null, "r1".getBytes())));

		assertThat(start(SHARD, null).await(1).get(0).key()).isNull();
	}

	@Test
	void emptyKeyIsDelivered() {
		require(Ability.KEYS);
		append(List.of(new NewRecord(SHARD, "", "r1".getBytes())));

		assertThat(start(SHARD, null).await(1).get(0).key()).isEmpty();
	}

	@Test
	void repeatedBatchIsAppendedOnce() {
		IdempotentAppender once = requireOnce();
		Batch batch = batch("one", 1, record(SHARD, "r1", null), record(SHARD, "r2", null));
		List<Offset> offsets = appendOnce(once, batch);
		assertThat(appendOnce(once, batch)).isEqualTo(offsets);
		List<Offset> next = appendOnce(once, batch("one", 2, record(SHARD, "r3", null)));
		appendOnce(once, batch("other", 1, record(SHARD, "r4", null)));

		List<SourceRecord> records = start(SHARD, null).await(4);
		assertThat(payloads(records)).containsExactly("r1", "r2", "r3", "r4");
		assertThat(records.subList(0, 3)).extracting(SourceRecord::offset)
			.containsExactly(offsets.get(0), offsets.get(1), next.get(0));
	}

	@Test
	void batchThatArrivesAfterALaterOneIsIgnored() {
		IdempotentAppender once = requireOnce();
		appendOnce(once, batch("one", 2, record(SHARD, "r1", null)));

		CompletableFuture<Appended> late = once.appendOnce(batch("one", 1, record(SHARD, "late", null)));
		await().until(late::isDone);
		assertThat(late.handle((appended, failure) -> failure).join()).isInstanceOfSatisfying(SendFailedException.class,
				(failure) -> {
					assertThat(failure.isRefusal()).isTrue();
					assertThat(failure.mayHaveBeenAppended()).isTrue();
				});
		// Each shard has numbers of its own.
		appendOnce(once, batch("one", 1, record(OTHER, "o1", null)));
		appendOnce(once, batch("one", 3, record(SHARD, "r2", null)));

		assertThat(payloads(start(SHARD, null).await(2))).containsExactly("r1", "r2");
		assertThat(payloads(start(OTHER, null).await(1))).containsExactly("o1");
	}

	@Test
	void recordWithAnIdIsInItsShardOnce() {
		IdempotentAppender once = requireOnce();
		List<Offset> first = appendOnce(once, batch("one", 1, record(SHARD, "r1", "id-1"), record(SHARD, "r2", null),
				record(SHARD, "again", "id-1"), record(SHARD, "r3", "id-2")));
		List<Offset> again = appendOnce(once, batch("after a restart", 1, record(SHARD, "again", "id-2"),
				record(SHARD, "r4", "íd-3"), record(SHARD, "again", "id-1")));
		appendOnce(once, batch("one", 1, record(OTHER, "o1", "id-1")));

		List<SourceRecord> records = start(SHARD, null).await(4);
		assertThat(payloads(records)).containsExactly("r1", "r2", "r3", "r4");
		assertThat(first).containsExactly(records.get(0).offset(), records.get(1).offset(), records.get(0).offset(),
				records.get(2).offset());
		assertThat(again).containsExactly(records.get(2).offset(), records.get(3).offset(), records.get(0).offset());
		assertThat(payloads(start(OTHER, null).await(1))).as("each shard has ids of its own").containsExactly("o1");
	}

	@Test
	void recordsThatWereThereBeforeAreCounted() {
		IdempotentAppender once = requireOnce();
		Batch first = batch("one", 1, record(SHARD, "r1", "id-1"), record(SHARD, "r2", null));

		assertThat(reply(once, first).before()).isZero();
		assertThat(reply(once, first).before()).as("the batch is repeated").isEqualTo(2);
		assertThat(reply(once, batch("other", 1, record(SHARD, "again", "id-1"), record(SHARD, "r3", "id-3"))).before())
			.as("one id is known")
			.isEqualTo(1);
	}

	@Test
	void recordsOfBatchesAreDeliveredUnchangedInOrder() {
		IdempotentAppender once = requireOnce();
		append(SHARD, 1, 1);
		NewRecord[] records = IntStream.rangeClosed(2, 201)
			.mapToObj((i) -> record(SHARD, "r" + i, (i % 3 == 0) ? "id-" + i : null))
			.toArray(NewRecord[]::new);
		appendOnce(once, batch("one", 1, records));
		Map<String, String> headers = Map.of("tenant", "ácme");
		NewRecord last = new NewRecord(SHARD, "kéy", "r202".getBytes(), headers, "id");
		appendOnce(once, batch("one", 2, last));

		List<SourceRecord> delivered = start(SHARD, null).await(202);
		assertThat(payloads(delivered)).containsExactlyElementsOf(payloads(1, 202));
		assertThat(delivered.get(201).key()).isEqualTo("kéy");
		assertThat(delivered.get(201).headers()).isEqualTo(headers);
	}

	/** Skips the test if the appender is not an {@link IdempotentAppender}. */
	private IdempotentAppender requireOnce() {
		assumeTrue(this.appender instanceof IdempotentAppender, "recognizes no repeated records");
		return (IdempotentAppender) this.appender;
	}

	private static Batch batch(String producer, long number, NewRecord... records) {
		return new Batch(producer, number, List.of(records));
	}

	private static NewRecord record(ShardId shard, String payload, @Nullable String id) {
		return new NewRecord(shard, null, payload.getBytes(), Map.of(), id);
	}

	private static List<Offset> appendOnce(IdempotentAppender once, Batch batch) {
		return reply(once, batch).offsets();
	}

	private static Appended reply(IdempotentAppender once, Batch batch) {
		CompletableFuture<Appended> reply = once.appendOnce(batch);
		await().atMost(Duration.ofSeconds(60)).until(reply::isDone);
		return reply.join();
	}

	@Test
	void readsAfterTheGivenOffset() {
		List<Offset> offsets = append(SHARD, 1, 5);
		RecordingSink sink = start(SHARD, offsets.get(2));

		assertThat(payloads(sink.await(2))).containsExactly("r4", "r5");
		append(SHARD, 6, 6);
		assertThat(payloads(sink.await(1))).containsExactly("r6");
	}

	@Test
	void readsNewRecordsAfterTheLastOffset() {
		List<Offset> offsets = append(SHARD, 1, 5);
		RecordingSink sink = start(SHARD, offsets.get(4));
		append(SHARD, 6, 6);

		assertThat(payloads(sink.await(1))).containsExactly("r6");
	}

	@Test
	void recordHasTheSameIdentityInEveryRead() {
		append(SHARD, 1, 2);
		RecordingSink sink = start(SHARD, null);
		List<SourceRecord> first = new ArrayList<>(sink.await(2));
		append(SHARD, 3, 4);
		first.addAll(sink.await(2));
		append(SHARD, 5, 6);
		first.addAll(sink.await(2));
		List<Offset> identities = first.stream().map(SourceRecord::identity).toList();
		assertThat(identities).doesNotHaveDuplicates();
		for (int done = 1; done < 6; done++) {
			this.reader.stop(SHARD);
			assertThat(start(SHARD, first.get(done - 1).position()).await(6 - done)).as("after record %d", done)
				.extracting(SourceRecord::identity)
				.isEqualTo(identities.subList(done, 6));
		}
	}

	@Test
	void earliestPositionIsBeforeTheFirstRecord() {
		append(SHARD, 1, 3);

		assertThat(payloads(start(SHARD, before(StartPosition.EARLIEST)).await(3))).containsExactly("r1", "r2", "r3");
	}

	@Test
	void latestPositionIsAfterTheLastRecord() {
		append(SHARD, 1, 3);
		Offset before = before(StartPosition.LATEST);
		append(SHARD, 4, 5);

		assertThat(payloads(start(SHARD, before).await(2))).containsExactly("r4", "r5");
	}

	@Test
	void latestPositionOfEmptyShardIsBeforeAllRecords() {
		Offset before = before(StartPosition.LATEST);
		append(SHARD, 1, 2);

		assertThat(payloads(start(SHARD, before).await(2))).containsExactly("r1", "r2");
	}

	@Test
	void positionByTimeIncludesRecordsOfThatTime() throws InterruptedException {
		require(Ability.TIMES);
		append(SHARD, 1, 2);
		RecordingSink all = start(SHARD, null);
		Instant last = all.await(2).get(1).timestamp();
		// Appends until a record has a later time.
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
		RecordingSink sink = start(SHARD, before(StartPosition.at(Instant.EPOCH)));
		assertThat(payloads(sink.await(1))).containsExactly("r1");
	}

	@Test
	void positionFromOffsetIncludesThatRecord() {
		List<Offset> offsets = append(SHARD, 1, 5);

		assertThat(payloads(start(SHARD, before(StartPosition.from(offsets.get(2)))).await(3))).containsExactly("r3",
				"r4", "r5");
		assertThat(payloads(start(SHARD, before(StartPosition.from(offsets.get(0)))).await(5))).startsWith("r1");
	}

	@Test
	void positionAfterOffsetBeginsWithTheNextRecord() {
		List<Offset> offsets = append(SHARD, 1, 5);

		assertThat(payloads(start(SHARD, before(StartPosition.after(offsets.get(2)))).await(2))).containsExactly("r4",
				"r5");
		RecordingSink sink = start(SHARD, before(StartPosition.after(offsets.get(4))));
		append(SHARD, 6, 6);
		assertThat(payloads(sink.await(1))).containsExactly("r6");
	}

	@Test
	void positionsOfSeveralShardsAreReturnedTogether() {
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
	void invalidOffsetIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> before(StartPosition.from(new Offset("earlist"))))
			.withMessageContaining("'earlist'");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.source.before(StartPosition.from(new Offset("earlist")), List.of()));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.source.before(StartPosition.after(new Offset("earlist")), List.of()))
			.withMessageContaining("'earlist'");
	}

	private @Nullable Offset before(StartPosition position) {
		return this.source.before(position, List.of(SHARD)).get(SHARD);
	}

	@Test
	void waitingPollDeliversAppendedRecordsAtOnce() {
		RecordingSink sink = start(SHARD, null);
		for (int number = 1; number <= 5; number++) {
			awaitWaiting();
			append(SHARD, number, number);
			assertThat(payloads(awaitAtOnce(sink, 1))).containsExactly("r" + number);
		}
		assertMostWereDeliveredAtOnce();
	}

	@Test
	void shardStartedDuringWaitingPollIsReadAtOnce() {
		start(SHARD, null);
		for (int number = 1; number <= 8; number++) {
			ShardId shard = ShardId.of("orders", number);
			append(shard, 1, 1);
			awaitWaiting();
			assertThat(payloads(awaitAtOnce(start(shard, null), 1))).containsExactly("r1");
		}
		assertMostWereDeliveredAtOnce();
	}

	@Test
	void shardsStartedTogetherAreReadAtOnce() {
		append(SHARD, 1, 1);
		start(SHARD, null).await(1);
		List<ShardId> together = new ArrayList<>();
		for (int number = 1; number < SHARDS; number++) {
			ShardId shard = ShardId.of("orders", number);
			append(shard, 1, 1);
			together.add(shard);
		}
		for (int round = 1; round <= 5; round++) {
			awaitWaiting();
			List<RecordingSink> sinks = together.stream().map((shard) -> start(shard, null)).toList();

			long begun = System.nanoTime();
			sinks.forEach((sink) -> assertThat(payloads(sink.await(1))).containsExactly("r1"));
			this.delays.add(Duration.ofNanos(System.nanoTime() - begun));
			together.forEach(this.reader::stop);
		}
		assertMostWereDeliveredAtOnce();
	}

	@Test
	void shardStartedOnIdleReaderIsReadAtOnce() {
		append(SHARD, 1, 1);
		for (int round = 1; round <= 5; round++) {
			awaitWaiting();
			assertThat(payloads(awaitAtOnce(start(SHARD, null), 1))).containsExactly("r1");
			this.reader.stop(SHARD);
		}
		assertMostWereDeliveredAtOnce();
	}

	@Test
	void stoppedShardIsNotDelivered() {
		RecordingSink other = start(OTHER, null);
		RecordingSink sink = start(SHARD, null);
		append(SHARD, 1, 1);
		sink.await(1);
		this.reader.stop(SHARD);
		append(SHARD, 2, 3);
		// Two deliveries show that polls have continued since.
		append(OTHER, 1, 1);
		other.await(1);
		append(OTHER, 2, 2);
		other.await(1);

		assertThat(sink.pending()).isEmpty();
	}

	@Test
	void stopDuringDeliveryEndsDelivery() {
		for (int round = 0; round < 50; round++) {
			RecordingSink sink = start(SHARD, null);
			append(SHARD, 1, 3);
			this.reader.stop(SHARD);
			int atStop = sink.delivered();
			append(OTHER, 1, 1);
			RecordingSink other = start(OTHER, null);
			other.await(round + 1);
			this.reader.stop(OTHER);

			assertThat(sink.delivered()).isEqualTo(atStop);
		}
	}

	@Test
	void restartedShardIsDeliveredFromItsNewOffset() {
		RecordingSink first = start(SHARD, null);
		List<Offset> offsets = append(SHARD, 1, 3);
		first.await(3);
		this.reader.stop(SHARD);
		RecordingSink second = start(SHARD, offsets.get(0));
		append(SHARD, 4, 4);

		assertThat(payloads(second.await(3))).containsExactly("r2", "r3", "r4");
		assertThat(first.pending()).isEmpty();
	}

	@Test
	void repeatedRestartsNeitherSkipNorRepeatRecords() {
		List<Offset> offsets = append(SHARD, 1, 50);
		Offset after = null;
		Offset last = null;
		List<String> handled = new ArrayList<>();
		while (handled.size() < 50) {
			RecordingSink sink = start(SHARD, after);
			SourceRecord next = sink.await(1).get(0);
			this.reader.stop(SHARD);
			handled.add(new String(next.payload()));
			after = next.position();
			last = next.offset();
		}

		assertThat(handled).containsExactlyElementsOf(payloads(1, 50));
		assertThat(last).isEqualTo(offsets.get(49));
	}

	@Test
	void fullSinkPausesOnlyItsShard() {
		RecordingSink other = start(OTHER, null);
		for (int number = 2; number <= 6; number++) {
			ShardId shard = ShardId.of("orders", number);
			RecordingSink sink = new RecordingSink(false);
			this.reader.start(shard, null, sink);
			append(shard, 1, 1);
			sink.await(1);
			append(shard, 2, 3);
			append(OTHER, 1, 1);
			other.await(1);
			append(OTHER, 2, 2);
			other.await(1);
			assertThat(sink.pending()).isEmpty();

			sink.makeRoom();
			awaitWaiting();
			this.reader.resume(shard);
			assertThat(payloads(awaitAtOnce(sink, 2))).containsExactly("r2", "r3");
			this.reader.resume(shard);
			append(shard, 4, 4);
			assertThat(payloads(sink.await(1))).containsExactly("r4");
		}
		assertMostWereDeliveredAtOnce();
	}

	@Test
	void stopAndResumeIgnoreUnknownShard() {
		this.reader.stop(SHARD);
		this.reader.resume(SHARD);
		append(SHARD, 1, 1);

		assertThat(payloads(start(SHARD, null).await(1))).containsExactly("r1");
	}

	@Test
	void manyShardsAreReadEachInOrder() {
		Map<ShardId, RecordingSink> sinks = new HashMap<>();
		List<NewRecord> records = new ArrayList<>();
		for (int number = 0; number < SHARDS; number++) {
			ShardId shard = ShardId.of("orders", number);
			sinks.put(shard, start(shard, null));
			for (int i = 1; i <= 100; i++) {
				records.add(new NewRecord(shard, has(Ability.KEYS) ? "k" : null, ("r" + i).getBytes()));
			}
		}
		append(records);

		sinks.forEach((shard, sink) -> assertThat(payloads(sink.await(100))).as(shard.toString())
			.containsExactlyElementsOf(payloads(1, 100)));
	}

	@Test
	void recordsThatSinkRefusesAreOfferedAgainWithoutDelayingOtherShards() {
		append(SHARD, 1, 3);
		append(OTHER, 1, 3);
		AtomicInteger refusals = new AtomicInteger();
		RecordingSink taking = new RecordingSink(true);
		this.reader.start(SHARD, null, (records) -> {
			if (refusals.getAndIncrement() < 2) {
				throw new IllegalStateException("expected by the test");
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
	void pollsDoNotFail() {
		append(SHARD, 1, 1);
		start(SHARD, null).await(1);

		assertThat(this.failures).isEmpty();
	}

	private boolean has(Ability ability) {
		return abilities().contains(ability);
	}

	private void require(Ability ability) {
		assumeTrue(has(ability), () -> "The source does not have the ability " + ability);
	}

	/**
	 * Returns the source of this test.
	 * @return the source
	 */
	protected final ShardSource source() {
		return this.source;
	}

	/**
	 * Returns the reader that is polled.
	 * @return the reader
	 */
	protected final ShardReader reader() {
		return this.reader;
	}

	/**
	 * Returns the appender of the source of this test.
	 * @return the appender
	 */
	protected final ShardAppender appender() {
		return this.appender;
	}

	/**
	 * Starts to read a shard.
	 * @param shard the shard
	 * @param after the offset after which to read, {@code null} for all records
	 * @return the sink of its records, which always has room
	 */
	protected final RecordingSink start(ShardId shard, @Nullable Offset after) {
		RecordingSink sink = new RecordingSink(true);
		this.reader.start(shard, after, sink);
		return sink;
	}

	/**
	 * Appends records with the payloads {@code r<first>} to {@code r<last>}.
	 * @param shard the shard
	 * @param first the number of the first record
	 * @param last the number of the last record
	 * @return the offsets of the records
	 */
	protected final List<Offset> append(ShardId shard, int first, int last) {
		List<NewRecord> records = new ArrayList<>();
		for (int number = first; number <= last; number++) {
			records.add(new NewRecord(shard, has(Ability.KEYS) ? "kéy" : null, ("r" + number).getBytes()));
		}
		return append(records);
	}

	/**
	 * Appends records and waits for the replies.
	 * @param records the records
	 * @return the offsets of the records
	 */
	protected final List<Offset> append(List<NewRecord> records) {
		return this.appender.append(records).stream().map(CompletableFuture::join).toList();
	}

	/**
	 * Waits for records that are to be delivered at once, and notes how long it took.
	 * @param sink the sink that gets them
	 * @param count the number of records
	 * @return the next records in their order
	 */
	protected final List<SourceRecord> awaitAtOnce(RecordingSink sink, int count) {
		long begun = System.nanoTime();
		List<SourceRecord> records = sink.await(count);
		this.delays.add(Duration.ofNanos(System.nanoTime() - begun));
		return records;
	}

	/**
	 * Waits for something that is to happen at once, and notes how long it took.
	 * @param condition whether it has happened
	 */
	protected final void awaitAtOnce(Callable<Boolean> condition) {
		long begun = System.nanoTime();
		await().pollInterval(Duration.ofMillis(1)).until(condition);
		this.delays.add(Duration.ofNanos(System.nanoTime() - begun));
	}

	/**
	 * Requires that most of the deliveries that were awaited with {@link #awaitAtOnce}
	 * took much less than the wait of an idle poll. Some may take longer: a busy machine
	 * stops for a moment.
	 */
	protected final void assertMostWereDeliveredAtOnce() {
		assertThat(this.delays.stream().sorted().limit(this.delays.size() / 2 + 1)).as("delays %s", this.delays)
			.allMatch((delay) -> delay.compareTo(SOON) <= 0);
	}

	/** Waits until the polling thread waits for records, also inside of a socket. */
	protected final void awaitWaiting() {
		await().pollInterval(Duration.ofMillis(1)).until(() -> {
			StackTraceElement[] stack = this.poller.getStackTrace();
			return this.poller.getState() == Thread.State.TIMED_WAITING
					|| stack.length > 0 && stack[0].isNativeMethod();
		});
	}

	/**
	 * Returns the problems that the reader reports.
	 * @return the problems by shard
	 */
	protected final Map<ShardId, String> problems() {
		return this.reader.problems();
	}

	/**
	 * Returns the exceptions that polls have thrown.
	 * @return the exceptions in their order
	 */
	protected final List<RuntimeException> failures() {
		return this.failures;
	}

	/**
	 * Returns payloads as text.
	 * @param records the records
	 * @return their payloads
	 */
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

	/** Optional ability of a source. */
	protected enum Ability {

		/** Records have keys. */
		KEYS,

		/** Records have headers. */
		HEADERS,

		/** Headers with the names of {@link RecordFields} are refused. */
		RESERVED_HEADERS,

		/** Payloads may be empty, and consist of any bytes. */
		ANY_BYTES,

		/**
		 * The timestamp of a record is the time at which it was appended, and a position
		 * by time skips all earlier records.
		 */
		TIMES,

		/** Topics can be raised with {@link ShardTopics}. */
		RAISING

	}

}
