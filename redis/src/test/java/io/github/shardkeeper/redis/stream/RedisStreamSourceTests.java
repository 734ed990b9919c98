package io.github.shardkeeper.redis.stream;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.RecordId;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.ShardSource.Lag;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.test.RecordingSink;
import io.github.shardkeeper.test.ShardSourceContract;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

@OnEveryRedis
@ExtendWith(OutputCaptureExtension.class)
@Promise({ "Nothing lost", "Sent once", "Order", "Other shards continue" })
class RedisStreamSourceTests extends ShardSourceContract {

	private final String prefix = UUID.randomUUID().toString();

	private final StringRedisTemplate redis = new StringRedisTemplate(RedisClients.sharedFactory());

	@Override
	protected ShardSource createSource(Map<String, Integer> topics) {
		return new RedisStreamSource(RedisClients.sharedConnector(), this.prefix, topics, Duration.ofSeconds(60));
	}

	@Test
	void everyShardIsAStreamInABucketOfItsTopic() {
		append(ShardId.of("orders", 3), 1, 1);
		append(ShardId.of("orders", 19), 1, 1);

		assertThat(keys()).containsExactlyInAnyOrder(this.prefix + ":{orders#3}:stream:3",
				this.prefix + ":{orders#3}:stream:19");
	}

	@Test
	void offsetIsTheEntryId() {
		Offset offset = append(SHARD, 1, 1).get(0);

		assertThat(this.redis.opsForStream().range(stream(), org.springframework.data.domain.Range.unbounded()))
			.singleElement()
			.satisfies((entry) -> {
				assertThat(entry.getId().getValue()).isEqualTo(offset.value());
				assertThat(entry.getValue()).isEqualTo(Map.of("k", "kéy", "v", "r1"));
			});
		SourceRecord read = start(SHARD, null).await(1).get(0);
		assertThat(read.timestamp())
			.isEqualTo(Instant.ofEpochMilli(Long.parseLong(offset.value().replaceAll("-.*", ""))));
	}

	@Test
	void headersAreFieldsByTheirOwnNames() {
		append(List.of(new NewRecord(SHARD, "ann", "hello".getBytes(), Map.of("tenant", "acme")),
				new NewRecord(SHARD, null, "hello".getBytes())));

		assertThat(this.redis.opsForStream().range(stream(), org.springframework.data.domain.Range.unbounded()))
			.extracting(MapRecord::getValue)
			.containsExactly(Map.of("k", "ann", "v", "hello", "tenant", "acme"), Map.of("v", "hello"));
	}

	@Test
	void entryAddedByHandIsARecord() {
		this.redis.opsForStream()
			.add(MapRecord.create(stream(), Map.of("k", "ann", "v", "{\"page\":\"/\"}", "tenant", "acme")));

		SourceRecord read = start(SHARD, null).await(1).get(0);
		assertThat(read.key()).isEqualTo("ann");
		assertThat(read.payload()).asString().isEqualTo("{\"page\":\"/\"}");
		assertThat(read.headers()).isEqualTo(Map.of("tenant", "acme"));
	}

	@Test
	void unknownFieldsOfAnEntryAreHeaders() {
		this.redis.opsForStream().add(MapRecord.create(stream(), Map.of("something", "else", "K", "no key")));

		SourceRecord read = start(SHARD, null).await(1).get(0);
		assertThat(read.key()).isNull();
		assertThat(read.payload()).isEmpty();
		assertThat(read.headers()).isEqualTo(Map.of("something", "else", "K", "no key"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "k", "v" })
	void headerNamedLikeKeyOrPayloadIsRefusedBeforeAnyAppend(String name) {
		List<NewRecord> records = List.of(new NewRecord(SHARD, "ann", "hello".getBytes()),
				new NewRecord(SHARD, "ann", "hello".getBytes(), Map.of(name, "x")));

		assertThatIllegalArgumentException().isThrownBy(() -> appender().append(records))
			.withMessageContaining("'" + name + "'")
			.withMessageContaining("rename it");
		assertThat(keys()).isEmpty();
	}

	@Test
	void lagCountsTheRecordsAfterAnOffset() {
		ShardSource source = createSource(Map.of("orders", 1));
		assertThat(source.lag(SHARD, new Offset("5-0"))).as("without a stream").isEqualTo(Lag.NONE);
		List<Offset> offsets = append(SHARD, 1, 1_500);

		assertThat(source.lag(SHARD, offsets.get(1_499))).isEqualTo(Lag.NONE);
		assertThat(source.lag(SHARD, new Offset("0-0")).records()).as("none is handled").isEqualTo(1_500);
		assertThat(source.lag(SHARD, offsets.get(1_399)).records()).as("few after it").isEqualTo(100);
		assertThat(source.lag(SHARD, offsets.get(99)).records()).as("few before it").isEqualTo(1_400);
		assertThat(source.lag(SHARD, offsets.get(99)).age()).isBetween(Duration.ZERO, Duration.ofMinutes(5));
		append(SHARD, 1, 1_000);
		assertThat(source.lag(SHARD, offsets.get(1_200))).as("many on both sides").satisfies((lag) -> {
			assertThat(lag.records()).isNull();
			assertThat(lag.age()).isNotNull();
		});
		this.redis.opsForStream().trim(stream(), 0, false);
		assertThat(source.lag(SHARD, offsets.get(99))).as("all trimmed").isEqualTo(Lag.NONE);
	}

	/** So that a shard with huge payloads does not block Redis. */
	@Test
	void lagReadsOnlyAFewLargeRecords() {
		ShardSource source = createSource(Map.of("orders", 1));
		List<Offset> offsets = new ArrayList<>();
		for (int i = 0; i < 9; i++) {
			offsets.addAll(append(List.of(new NewRecord(SHARD, null, new byte[100_000]))));
		}

		assertThat(source.lag(SHARD, offsets.get(4)).records()).isNull();
		assertThat(source.lag(SHARD, offsets.get(7)).records()).isOne();
		assertThat(source.lag(SHARD, offsets.get(0)).records()).isEqualTo(8);
	}

	@Test
	void lagOfAnotherSourcesOffsetIsRefused() {
		ShardSource source = createSource(Map.of("orders", 1));

		assertThatIllegalArgumentException().isThrownBy(() -> source.lag(SHARD, new Offset("next=2026;by=1h")));
	}

	@Test
	void readingStartsAfterATrimmedOffset() {
		List<Offset> offsets = append(SHARD, 1, 5);
		this.redis.opsForStream().trim(stream(), 2, false);

		assertThat(payloads(start(SHARD, offsets.get(0)).await(2))).containsExactly("r4", "r5");
	}

	@Test
	void readingContinuesAfterAStreamWasDeleted() {
		append(SHARD, 1, 2);
		RecordingSink sink = start(SHARD, null);
		sink.await(2);
		this.redis.delete(stream());
		append(SHARD, 3, 4);

		assertThat(payloads(sink.await(2))).containsExactly("r3", "r4");
		assertThat(problems()).isEmpty();
	}

	@Test
	void streamThatEndsBeforeTheOffsetIsAProblemWhileItDoes() {
		this.redis.opsForStream().add(MapRecord.create(stream(), Map.of("v", "old")).withId(RecordId.of("5-0")));
		RecordingSink sink = start(SHARD, new Offset("7-0"));

		await().atMost(Duration.ofSeconds(20)).until(() -> !problems().isEmpty());
		assertThat(problems().get(SHARD)).contains(stream(), "ends with 5-0", "offset 7-0", "set beyond the end",
				"ShardPositions");
		this.redis.opsForStream().add(MapRecord.create(stream(), Map.of("v", "r1")).withId(RecordId.of("8-0")));
		assertThat(payloads(sink.await(1))).containsExactly("r1");
		await().atMost(Duration.ofSeconds(20)).until(() -> problems().isEmpty());
	}

	/** Nothing in a stream tells when it was created; Redis' own ids are times. */
	@Test
	void streamThatWasReplacedWhileNobodyReadItIsNoticedOnlyIfItEndsBeforeTheOffset() {
		addWithIds("old", 1, 5);
		start(SHARD, null).await(5);
		reader().stop(SHARD);
		this.redis.delete(stream());
		addWithIds("new", 1, 4);
		start(SHARD, new Offset("5-0"));
		await().atMost(Duration.ofSeconds(20)).until(() -> problems().containsKey(SHARD));
		assertThat(problems().get(SHARD)).contains("ends with 4-0", "before the offset 5-0", "ShardPositions");
		reader().stop(SHARD);
		addWithIds("new", 5, 6);
		RecordingSink sink = start(SHARD, new Offset("5-0"));

		assertThat(payloads(sink.await(1))).containsExactly("new 6");
		assertThat(problems()).isEmpty();
		reader().stop(SHARD);
		assertThat(payloads(start(SHARD, null).await(6))).as("after a reset")
			.containsExactly("new 1", "new 2", "new 3", "new 4", "new 5", "new 6");
	}

	private void addWithIds(String payload, int first, int last) {
		for (int number = first; number <= last; number++) {
			this.redis.opsForStream()
				.add(MapRecord.create(stream(), Map.of("v", payload + " " + number))
					.withId(RecordId.of(number + "-0")));
		}
	}

	/** One that never brings anything is noticed while another one does all the time. */
	@Test
	@Tag("proof")
	void deletedStreamIsDetectedWhileOthersAreBusy() {
		ShardId busy = ShardId.of("orders", 1);
		this.redis.opsForStream().add(MapRecord.create(stream(), Map.of("v", "old")).withId(RecordId.of("7-0")));
		RecordingSink records = start(busy, null);
		start(SHARD, new Offset("7-0"));
		append(busy, 1, 1);
		records.await(1);
		this.redis.delete(stream());
		this.redis.opsForStream().add(MapRecord.create(stream(), Map.of("v", "new")).withId(RecordId.of("5-0")));

		await().atMost(Duration.ofSeconds(40)).pollInterval(Duration.ofMillis(50)).until(() -> {
			append(busy, 1, 1);
			return !problems().isEmpty();
		});
		assertThat(problems()).containsOnlyKeys(SHARD);
	}

	@Test
	void trimmingBeyondTheOffsetIsReported(CapturedOutput output) {
		List<Offset> offsets = append(SHARD, 1, 500);
		this.redis.opsForStream().trim(stream(), 200, false);

		start(SHARD, offsets.get(99)).await(200);

		await().untilAsserted(() -> assertThat(output).contains("orders/0: the stream begins with " + offsets.get(300),
				"the entry at offset " + offsets.get(99) + " is gone", "may have been deleted or trimmed"));
	}

	@Test
	void existingEntryAtTheOffsetCausesNoWarning(CapturedOutput output) {
		List<Offset> offsets = append(SHARD, 1, 500);
		this.redis.opsForStream().trim(stream(), 200, false);
		start(SHARD, offsets.get(300)).await(199);
		ShardId other = ShardId.of("orders", 1);
		List<Offset> others = append(other, 1, 3);
		this.redis.opsForStream().trim(this.prefix + ":{orders#1}:stream:1", 1, false);
		start(other, others.get(0)).await(1);

		await().untilAsserted(() -> assertThat(output).contains("the entry at offset " + others.get(0) + " is gone"));
		// By its offset: a source of an earlier test may have had something to say late.
		assertThat(output).doesNotContain("the entry at offset " + offsets.get(300) + " is gone");
	}

	@Test
	void firstAnsweredReadIsSmallAfterFailedReads() {
		start(ShardId.of("orders", 1), null);
		awaitWaiting();
		appendLarge(60);
		this.redis.opsForValue().set(this.prefix + ":{orders#1}:stream:1", "no stream");
		RecordingSink sink = start(SHARD, null);

		assertThat(sink.await(60)).hasSize(60);
		assertThat(sink.largestOffer()).isLessThanOrEqualTo(ReadSize.FIRST_RECORDS);
	}

	/** To wake the polling thread takes longer than to deliver. */
	@Test
	void recordsAreDeliveredByTheThreadThatDecodesThem() {
		AtomicBoolean refused = new AtomicBoolean();
		List<SourceRecord> taken = new CopyOnWriteArrayList<>();
		reader().start(SHARD, null, (records) -> {
			if (Thread.currentThread().getName().startsWith("lettuce-") && refused.compareAndSet(false, true)) {
				throw new IllegalStateException("not now");
			}
			taken.addAll(records);
			return true;
		});
		AtomicInteger appended = new AtomicInteger();
		await().until(() -> {
			int number = appended.incrementAndGet();
			append(SHARD, number, number);
			return refused.get();
		});

		await().until(() -> taken.size() == appended.get());
		assertThat(payloads(taken)).containsExactlyElementsOf(
				IntStream.rangeClosed(1, appended.get()).mapToObj((number) -> "r" + number).toList());
		assertThat(failures()).singleElement()
			.asString()
			.contains("orders/0 did not take its records; they are read again");
	}

	private void appendLarge(int count) {
		byte[] large = new byte[1024 * 1024];
		List<NewRecord> records = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			records.add(new NewRecord(SHARD, "k", large));
		}
		append(records);
	}

	@Test
	void largeRecordsAreReadInSmallBatches() {
		appendLarge(60);
		RecordingSink sink = start(SHARD, null);

		assertThat(sink.await(60)).hasSize(60);
		assertThat(sink.largestOffer()).isLessThanOrEqualTo(ReadSize.FIRST_RECORDS);
	}

	@Test
	@Promise("Automatic recovery")
	void readingContinuesWhenConnectionsAreKilled() {
		RecordingSink sink = start(SHARD, null);
		append(SHARD, 1, 1);
		sink.await(1);
		for (int round = 0; round < 3; round++) {
			awaitWaiting();
			killConnectionsThatRead();
			int number = 2 + round;
			// The first call may find out that its own connection was killed as well.
			await().ignoreExceptions().until(() -> !append(SHARD, number, number).isEmpty());
			assertThat(payloads(sink.await(1))).containsExactly("r" + number);
		}
		assertThat(failures()).isNotEmpty();

		for (int number = 1; number <= 5; number++) {
			awaitWaiting();
			ShardId other = ShardId.of("orders", number);
			append(other, 1, 1);
			assertThat(payloads(awaitAtOnce(start(other, null), 1))).containsExactly("r1");
		}
		assertMostWereDeliveredAtOnce();
	}

	@Test
	void shardStartedWhileTheConnectionIsKilledIsRead() {
		start(SHARD, null);
		append(SHARD, 1, 1);
		for (int number = 1; number <= 5; number++) {
			ShardId shard = ShardId.of("orders", number);
			append(shard, 1, 1);
			awaitWaiting();
			killConnectionsThatRead();
			assertThat(payloads(start(shard, null).await(1))).containsExactly("r1");
		}
	}

	/** Connections whose last command was a blocking XREAD; no others exist here. */
	private void killConnectionsThatRead() {
		try (RedisConnection connection = RedisClients.sharedFactory().getConnection()) {
			connection.serverCommands()
				.getClientList()
				.stream()
				.filter((client) -> "xread".equals(client.getLastCommand()))
				.map((client) -> client.getAddressPort().split(":"))
				.forEach((address) -> connection.serverCommands().killClient(address[0], Integer.parseInt(address[1])));
		}
	}

	private String stream() {
		return this.prefix + ":{orders#0}:stream:0";
	}

	private Set<String> keys() {
		return this.redis.keys(this.prefix + ":*:stream:*");
	}

}
