package io.github.shardkeeper.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.DueRecords;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Commit.Retry;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of the retry queue, and of records done ahead, that every {@link CheckpointStore}
 * must pass.
 */
@Promise("Other keys continue")
public abstract class RetryQueueContract extends ServedCheckpoints {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 1);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Instant FAILED = Instant.parse("2026-01-01T00:00:00.123456Z");

	private long attempts;

	@BeforeEach
	protected final void acquireShard() {
		acquire(OLD);
	}

	@Test
	void recordsDoneAheadAreKeptUntilTheNextCommit() {
		commit(ahead("5", "7", "9"));
		assertThat(this.store.read(SHARD).ahead()).containsExactlyInAnyOrder(offsets("7", "9"));
		assertThat(acquire(OLD).ahead()).containsExactlyInAnyOrder(offsets("7", "9"));

		commit(ahead("7", "9"));
		assertThat(this.store.read(SHARD).ahead()).containsExactly(new Offset("9"));

		commit(ahead("9"));
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("9"), Map.of()));
	}

	@Test
	void recordsCanBeDoneAheadOfTheFirstOne() {
		commit(new Commit(number(), null, Set.of(new Offset("2")), Map.of(), List.of(), Set.of(), List.of()));

		assertThat(acquire(NEW)).isEqualTo(new Checkpoint(null, Set.of(new Offset("2")), Map.of(), null));
	}

	@Test
	void manyOffsetsOfAnyTextCanBeDoneAhead() {
		Set<Offset> ahead = new LinkedHashSet<>();
		IntStream.range(0, 1_000).forEach((i) -> ahead.add(new Offset("1767225600123-" + i)));
		List.of(" ", "a,b", "\"quoted\"", "{\"part\": 3}", "世界|\n").forEach((text) -> ahead.add(new Offset(text)));

		commit(new Commit(number(), null, ahead, Map.of(), List.of(), Set.of(), List.of()));

		assertThat(this.store.read(SHARD).ahead()).isEqualTo(ahead);
	}

	@Test
	void recordIsDueAfterItsDelayByTheStoresClock() {
		FailedRecord record = record("5");
		commit(retry(record, SECOND));
		assertThat(due()).isEqualTo(new DueRecords(List.of(), SECOND));

		this.server.advance(SECOND.minusMillis(1));
		assertThat(due()).isEqualTo(new DueRecords(List.of(), Duration.ofMillis(1)));

		this.server.advance(Duration.ofMillis(1));
		assertThat(due()).isEqualTo(new DueRecords(List.of(record), null));
		assertThat(due()).as("nothing is taken by reading").isEqualTo(new DueRecords(List.of(record), null));
	}

	@Test
	void recordsAreReadInTheOrderOfTheirDueTimes() {
		commit(retry(record("1"), SECOND.multipliedBy(3)), retry(record("2"), SECOND), retry(record("3"), SECOND),
				retry(record("4"), Duration.ofHours(1)), retry(record("5"), Duration.ZERO));
		this.server.advance(SECOND.multipliedBy(5));

		assertThat(offsets(due())).containsExactly("5", "2", "3", "1");
		assertThat(due().nextIn()).isEqualTo(Duration.ofHours(1).minusSeconds(5));
		DueRecords some = due(3, Long.MAX_VALUE);
		assertThat(offsets(some)).containsExactly("5", "2", "3");
		assertThat(some.nextIn()).as("there is more").isZero();
		assertThat(due(0, Long.MAX_VALUE)).isEqualTo(new DueRecords(List.of(), Duration.ZERO));
	}

	@Test
	void readIsLimitedButReturnsAtLeastOneRecord() {
		for (int number = 1; number <= 5; number++) {
			commit(retry(large(Integer.toString(number), 100_000), Duration.ZERO));
			this.server.advance(Duration.ofMillis(1));
		}

		assertThat(offsets(due(100, 250_000))).containsExactly("1", "2");
		assertThat(due(100, 250_000).nextIn()).as("there is more").isZero();
		assertThat(offsets(due(100, 1))).containsExactly("1");
		assertThat(due(100, 1).nextIn()).isZero();
		assertThat(offsets(due(100, 10_000_000))).containsExactly("1", "2", "3", "4", "5");
		assertThat(due(100, 10_000_000).nextIn()).isNull();
	}

	/** A caller with unsettled records gets others, up to its limit of bytes. */
	@Test
	void recordsOfTheCallerAreNotReadAgain() {
		for (int number = 1; number <= 4; number++) {
			commit(retry(large(Integer.toString(number), 100_000), Duration.ZERO));
			this.server.advance(Duration.ofMillis(1));
		}
		commit(retry(record("5"), SECOND));

		assertThat(offsets(due(1, 250_000, "1", "3", "unknown"))).containsExactly("2");
		assertThat(offsets(due(100, 150_000, "1", "3"))).containsExactly("2");
		assertThat(due(100, 150_000, "1", "3").nextIn()).as("there is more").isZero();
		DueRecords all = due(100, 250_000, "1", "3");
		assertThat(offsets(all)).containsExactly("2", "4");
		assertThat(all.nextIn()).isEqualTo(SECOND);
		assertThat(due(100, 250_000, "4", "3", "2", "1")).isEqualTo(new DueRecords(List.of(), SECOND));
	}

	@Test
	void acquisitionReturnsWhenTheFirstRecordIsDue() {
		assertThat(acquire(OLD).retryDueIn()).isNull();
		assertThat(due(10, Long.MAX_VALUE)).isEqualTo(new DueRecords(List.of(), null));
		commit(retry(record("1"), SECOND.multipliedBy(3)), retry(record("2"), SECOND));

		assertThat(acquire(NEW).retryDueIn()).isEqualTo(SECOND);
		assertThat(this.store.read(SHARD).retryDueIn()).isEqualTo(SECOND);
		this.server.advance(SECOND.multipliedBy(2));
		assertThat(acquire(NEW).retryDueIn()).isZero();
	}

	@Test
	void recordThatFailsAgainIsReplaced() {
		commit(retry(record("5"), SECOND));
		FailedRecord again = new FailedRecord(new Offset("5"), "k", new byte[] { 1 }, Map.of(), FAILED, 2, 1, "e", "s",
				FAILED);
		commit(retry(again, SECOND.multipliedBy(2)));
		this.server.advance(SECOND);
		assertThat(due()).isEqualTo(new DueRecords(List.of(), SECOND));

		this.server.advance(SECOND);
		assertThat(due()).isEqualTo(new DueRecords(List.of(again), null));
	}

	@Test
	void settledRecordLeavesTheQueueWithItsCommit() {
		commit(retry(record("5"), Duration.ZERO), retry(record("6"), Duration.ZERO));

		CommitReply reply = commit(new Commit(number(), new Offset("9"), Set.of(), Map.of("handled", "1"), List.of(),
				Set.of(new Offset("5"), new Offset("unknown")), List.of()));

		assertThat(reply).isEqualTo(CommitReply.COMMITTED);
		assertThat(offsets(due())).containsExactly("6");
		assertThat(this.store.read(SHARD))
			.isEqualTo(new Checkpoint(new Offset("9"), Set.of(), Map.of("handled", "1"), Duration.ZERO));
	}

	@Test
	void removedRecordCanReturnInTheSameCommit() {
		commit(retry(record("5"), Duration.ZERO));

		commit(new Commit(number(), null, Set.of(), Map.of(), List.of(retry(record("5"), SECOND)),
				Set.of(new Offset("5")), List.of()));

		assertThat(due()).isEqualTo(new DueRecords(List.of(), SECOND));
	}

	@Test
	void refusedCommitChangesNothing() {
		commit(retry(record("5"), Duration.ZERO));
		acquire(NEW);
		commit(NEW, whole(CommitNumber.ofWhole(7), "kept"));
		List<String> before = offsets(due());

		assertThat(commit(OLD, whole(number(), "fenced"))).isEqualTo(CommitReply.STALE);
		assertThat(commit(NEW, whole(CommitNumber.ofWhole(6), "late"))).isEqualTo(CommitReply.STALE);
		assertThat(commit(NEW, whole(new CommitNumber(9, 8, 0), "lost"))).isEqualTo(CommitReply.GONE);
		assertThat(commit(new Token(NEW.value() + 1), whole(number(), "unknown"))).isEqualTo(CommitReply.GONE);

		assertThat(offsets(due())).isEqualTo(before).containsExactly("kept");
		assertThat(this.store.read(SHARD).ahead()).containsExactly(new Offset("kept"));
	}

	@Test
	void repeatedCommitIsWrittenOnce() {
		Commit commit = whole(number(), "once");
		commit(commit);
		this.server.advance(SECOND);
		assertThat(commit(commit)).isEqualTo(CommitReply.COMMITTED);
		commit(new Commit(new CommitNumber(this.attempts + 1, this.attempts, 0), null, Set.of(), Map.of(), List.of(),
				Set.of(new Offset("once")), List.of()));
		assertThat(commit(commit)).as("and late").isEqualTo(CommitReply.STALE);

		assertThat(due()).isEqualTo(new DueRecords(List.of(), null));
	}

	@Test
	void queueIsLostWithOtherWrites() {
		commit(retry(record("5"), Duration.ZERO));
		Object before = this.server.snapshot();
		commit(whole(number(), "lost"));
		this.server.loseWritesSince(before);
		assertThat(offsets(due())).containsExactly("5");

		this.server.empty();
		assertThat(due()).isEqualTo(new DueRecords(List.of(), null));
		assertThat(commit(retry(record("6"), SECOND))).isEqualTo(CommitReply.GONE);
		acquire(OLD);
		assertThat(commit(retry(record("6"), Duration.ZERO))).isEqualTo(CommitReply.COMMITTED);
		assertThat(offsets(due())).containsExactly("6");
	}

	@Test
	void queueBelongsToOneShard() {
		commit(retry(record("5"), Duration.ZERO));

		assertThat(this.store.due(ShardId.of("orders", 2), 10, Long.MAX_VALUE, Set.of()))
			.isEqualTo(new DueRecords(List.of(), null));
		assertThat(this.store.acquireNow(ShardId.of("orders", 2), OLD)).usingRecursiveComparison()
			.ignoringFields("acquisition")
			.isEqualTo(new Acquisition.Acquired(new Checkpoint(null, Map.of()), Seeks.NONE, 0, LastCommit.NONE, 0));
	}

	@Test
	void everyByteOfAPayloadIsKept() {
		byte[] payload = new byte[4 * 256];
		IntStream.range(0, payload.length).forEach((i) -> payload[i] = (byte) i);

		assertComesBack(new FailedRecord(new Offset("1"), null, payload, Map.of(), FAILED, 0, 0, "", "", FAILED));
		assertComesBack(new FailedRecord(new Offset("2"), "k", new byte[0], Map.of(), FAILED, 1, 1, "e", "s", FAILED));
		assertComesBack(new FailedRecord(new Offset("3"), "k", new byte[] { '\n', '{', '\n' }, Map.of(), FAILED, 1, 1,
				"e", "s", FAILED));
	}

	@Test
	void whatWaitsIsListedWithoutPayloads() {
		commit(retry(record("5").at(7), SECOND), retry(large("6", 3), Duration.ZERO));

		Map<String, WaitingRecord> waiting = waiting();
		assertThat(waiting).containsOnlyKeys("5", "6");
		assertThat(waiting.get("5")).satisfies((record) -> {
			assertThat(record.key()).isEqualTo("key-5");
			assertThat(record.place()).isEqualTo(7);
			assertThat(record.dueIn()).isEqualTo(SECOND);
			assertThat(record.attempts()).isEqualTo(1);
			assertThat(record.exception()).isEqualTo("java.io.IOException: no");
			assertThat(record.since()).isEqualTo(FAILED);
			assertThat(record.size()).isPositive();
		});
		assertThat(waiting.get("6").key()).isNull();
		assertThat(waiting.get("6").place()).isZero();
		assertThat(waiting.get("6").dueIn()).isZero();
		this.store.waiting(ShardId.of("orders", 2), (record) -> {
			throw new AssertionError("Not of this shard: " + record);
		});
	}

	@Test
	void allThatWaitsIsListedAlsoIfItIsMuch() {
		Retry[] many = IntStream.range(0, 1_000)
			.mapToObj((i) -> retry(large("many-" + i, 10).at(i + 1), Duration.ofMillis(i)))
			.toArray(Retry[]::new);
		commit(many);

		assertThat(waiting()).hasSize(1_000);
	}

	@Test
	void recordsAreReadByTheirOffsetsWithinALimit() {
		FailedRecord first = record("5").at(7);
		commit(retry(first, Duration.ofHours(1)), retry(large("6", 100_000), SECOND),
				retry(large("7", 100_000), SECOND), retry(large("8", 100_000), SECOND));

		assertThat(this.store.retries(SHARD, List.of(new Offset("5")), 1)).containsExactly(first);
		assertThat(read(250_000, "8", "unknown", "6", "7")).containsExactly("8", "6");
		assertThat(read(1, "unknown", "7", "6")).containsExactly("7");
		assertThat(read(1_000, "unknown")).isEmpty();
		assertThat(waiting()).as("nothing is taken by reading").hasSize(4);
	}

	@Test
	void whatWaitsIsDueNowSentBackOrDropped() {
		FailedRecord other = record("8").at(4);
		commit(retry(record("5").at(1), SECOND), retry(record("6").at(2), SECOND), retry(record("7").at(3), SECOND),
				retry(other, SECOND));

		assertThat(change(WaitingRecord.Change.RETRY_NOW, "5", "unknown")).isEqualTo(1);
		assertThat(change(WaitingRecord.Change.SEND_BACK, "6")).isEqualTo(1);
		assertThat(change(WaitingRecord.Change.DROP, "7", "unknown")).isEqualTo(1);

		assertThat(due().records()).containsExactlyInAnyOrder(record("5").at(1), record("6").at(2).withoutAttempts());
		assertThat(waiting()).containsOnlyKeys("5", "6", "8");
		assertThat(this.store.retries(SHARD, List.of(new Offset("8")), 1_000)).containsExactly(other);
		this.server.advance(SECOND);
		assertThat(due().records()).hasSize(3);
	}

	private Map<String, WaitingRecord> waiting() {
		Map<String, WaitingRecord> waiting = new HashMap<>();
		this.store.waiting(SHARD, (record) -> waiting.put(record.offset().value(), record));
		return waiting;
	}

	private List<String> read(long bytes, String... offsets) {
		return this.store.retries(SHARD, List.of(offsets(offsets)), bytes)
			.stream()
			.map((record) -> record.offset().value())
			.toList();
	}

	private int change(WaitingRecord.Change change, String... offsets) {
		return this.store.changeWaiting(SHARD, List.of(offsets(offsets)), change);
	}

	@ParameterizedTest
	@ValueSource(strings = { " ", "two\nlines\r\n", "{braces}", "quote\"'\\", "\u0000", "Grüße 世界", "\uD83D\uDE80",
			"%s%d", "]]>", "\u2028" })
	void anyTextIsAKeyAHeaderAndAReason(String text) {
		assertComesBack(new FailedRecord(new Offset(text), text, text.getBytes(StandardCharsets.UTF_8),
				Map.of(text, text, "other", "x"), FAILED, Integer.MAX_VALUE, 7, text, text, FAILED));
	}

	@Test
	void payloadCanBeLarge() {
		byte[] payload = new byte[3_000_000];
		payload[payload.length - 1] = (byte) 0xff;
		assertComesBack(new FailedRecord(new Offset("1"), "k", payload, Map.of(), FAILED, 1, 1, "e", "s", FAILED));
	}

	private void assertComesBack(FailedRecord record) {
		commit(retry(record, Duration.ZERO));
		assertThat(due().records()).containsExactly(record);
		commit(new Commit(number(), null, Set.of(), Map.of(), List.of(), Set.of(record.offset()), List.of()));
		assertThat(due()).isEqualTo(new DueRecords(List.of(), null));
	}

	/** One change of each kind, under the same name. */
	private static Commit whole(CommitNumber number, String name) {
		return new Commit(number, new Offset(name), Set.of(new Offset(name)), Map.of(name, "1"),
				List.of(retry(record(name), Duration.ZERO)), Set.of(new Offset("5")), List.of(record(name)));
	}

	private Commit ahead(String offset, String... ahead) {
		return new Commit(number(), new Offset(offset), Set.of(offsets(ahead)), Map.of(), List.of(), Set.of(),
				List.of());
	}

	private static Offset[] offsets(String... texts) {
		return List.of(texts).stream().map(Offset::new).toArray(Offset[]::new);
	}

	private static List<String> offsets(DueRecords due) {
		return due.records().stream().map((record) -> record.offset().value()).toList();
	}

	private static FailedRecord record(String offset) {
		return new FailedRecord(new Offset(offset), "key-" + offset, new byte[] { 1, -1 }, Map.of("trace", "7f"),
				FAILED, 1, 1, "java.io.IOException: no", "at …", FAILED);
	}

	private static FailedRecord large(String offset, int bytes) {
		return new FailedRecord(new Offset(offset), null, new byte[bytes], Map.of(), FAILED, 1, 1, "e", "s", FAILED);
	}

	private static Retry retry(FailedRecord record, Duration delay) {
		return new Retry(record, delay);
	}

	private CommitNumber number() {
		return CommitNumber.ofWhole(++this.attempts);
	}

	private CommitReply commit(Retry... retries) {
		return commit(new Commit(number(), null, Set.of(), Map.of(), List.of(retries), Set.of(), List.of()));
	}

	private CommitReply commit(Commit commit) {
		return commit(OLD, commit);
	}

	private CommitReply commit(Token token, Commit commit) {
		return this.store.commit(SHARD, token, commit).orTimeout(1, TimeUnit.MINUTES).join();
	}

	private DueRecords due() {
		return due(100, Long.MAX_VALUE);
	}

	private DueRecords due(int limit, long bytes, String... except) {
		return this.store.due(SHARD, limit, bytes, Set.of(offsets(except)));
	}

	private Checkpoint acquire(Token token) {
		return ((Acquisition.Acquired) this.store.acquireNow(SHARD, token)).checkpoint();
	}

}
