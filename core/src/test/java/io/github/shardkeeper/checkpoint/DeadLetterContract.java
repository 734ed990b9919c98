package io.github.shardkeeper.checkpoint;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.CompletionReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.DueRecords;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Commit.Retry;
import io.github.shardkeeper.checkpoint.DeadLetterStore.Retention;
import io.github.shardkeeper.checkpoint.DeadLetterStore.StoredDeadLetter;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that every {@link DeadLetterStore} must pass, together with its
 * {@link CheckpointStore}.
 */
public abstract class DeadLetterContract {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final ShardId OTHER = ShardId.of("orders", 2);

	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 1);

	private static final Instant FAILED = Instant.parse("2026-01-01T00:00:00.123456Z");

	private StoreServer server;

	private CheckpointStore checkpoints;

	private DeadLetterStore letters;

	private long attempts;

	/** Server of the stores of this test, with a stopped clock. */
	protected abstract StoreServer createServer();

	protected abstract CheckpointStore createCheckpoints(StoreServer created);

	protected abstract DeadLetterStore createLetters(StoreServer created);

	@BeforeEach
	protected final void openStores() {
		this.server = createServer();
		this.checkpoints = createCheckpoints(this.server);
		this.letters = createLetters(this.server);
		this.checkpoints.acquireNow(SHARD, OLD);
	}

	@AfterEach
	protected final void closeStores() {
		this.letters.close();
		this.checkpoints.close();
	}

	@Test
	void newShardHasNoDeadLetters() {
		assertThat(list()).isEmpty();
		assertThat(this.letters.find(SHARD, "1-0")).isNull();
		assertThat(this.letters.countDeadLetters(List.of(OTHER, SHARD))).containsExactly(Map.entry(OTHER, 0L),
				Map.entry(SHARD, 0L));
		assertThat(this.letters.countRetries(List.of(OTHER, SHARD))).containsExactly(Map.entry(OTHER, 0L),
				Map.entry(SHARD, 0L));
		assertThat(this.letters.sendBack(OTHER, List.of())).isZero();
		assertThat(this.letters.drop(OTHER, List.of())).isZero();
	}

	@Test
	void deadLetterContainsTheFailedRecord() {
		byte[] payload = new byte[256];
		IntStream.range(0, payload.length).forEach((i) -> payload[i] = (byte) i);
		FailedRecord binary = new FailedRecord(new Offset("a b\n{\"世\"}"), "k\n\"'", payload, Map.of("Grüße", "\u0000"),
				FAILED, 7, 2, "e\n", "s\r\n\t…", FAILED);
		FailedRecord bare = new FailedRecord(new Offset("2"), null, new byte[0], Map.of(), FAILED, 0, 0, "", "",
				FAILED);
		give(binary, bare);

		List<StoredDeadLetter> found = list();
		assertThat(found).extracting(StoredDeadLetter::record).containsExactly(binary, bare);
		assertThat(found).extracting(StoredDeadLetter::id)
			.allMatch((id) -> id.matches("\\d+-\\d+"))
			.doesNotHaveDuplicates();
		assertThat(this.letters.find(SHARD, found.get(0).id())).isEqualTo(found.get(0));
		assertThat(this.letters.find(OTHER, found.get(0).id())).isNull();
		assertThat(this.letters.find(SHARD, found.get(0).id() + "9")).isNull();
	}

	@Test
	void deadLettersAreReadInPagesOldestFirst() {
		for (int i = 0; i < 10; i += 2) {
			give(record(Integer.toString(i)), record(Integer.toString(i + 1)));
			this.server.advance(Duration.ofMillis(i % 4));
		}

		List<StoredDeadLetter> all = list();
		assertThat(offsets(all)).containsExactly("0", "1", "2", "3", "4", "5", "6", "7", "8", "9");
		List<StoredDeadLetter> first = this.letters.list(SHARD, null, 4);
		assertThat(first).isEqualTo(all.subList(0, 4));
		assertThat(this.letters.list(SHARD, first.get(3).id(), 4)).isEqualTo(all.subList(4, 8));
		assertThat(this.letters.list(SHARD, all.get(7).id(), 4)).isEqualTo(all.subList(8, 10));
		assertThat(this.letters.list(SHARD, all.get(9).id(), 4)).isEmpty();
		this.letters.drop(SHARD, all.subList(3, 4));
		assertThat(this.letters.list(SHARD, all.get(3).id(), 4)).as("after one that is gone")
			.isEqualTo(all.subList(4, 8));
	}

	@Test
	void deadLettersBelongToOneShard() {
		this.checkpoints.acquireNow(OTHER, OLD);
		give(record("1"));
		this.checkpoints.commit(OTHER, OLD, dead(CommitNumber.ofWhole(1), record("2"), record("3"))).join();

		assertThat(offsets(this.letters.list(OTHER, null, 10))).containsExactly("2", "3");
		assertThat(this.letters.countDeadLetters(List.of(SHARD, OTHER))).containsExactly(Map.entry(SHARD, 1L),
				Map.entry(OTHER, 2L));
		assertThat(this.letters.drop(OTHER, this.letters.list(OTHER, null, 10))).isEqualTo(2);
		assertThat(this.letters.countDeadLetters(List.of(SHARD, OTHER))).containsExactly(Map.entry(SHARD, 1L),
				Map.entry(OTHER, 0L));
	}

	@Test
	void repeatedCommitStoresItsDeadLettersOnce() {
		Commit commit = dead(number(), record("1"), record("2"));
		commit(OLD, commit);
		assertThat(commit(OLD, commit)).isEqualTo(CommitReply.COMMITTED);
		give(record("3"));
		assertThat(commit(OLD, commit)).as("and late").isEqualTo(CommitReply.STALE);

		assertThat(offsets(list())).containsExactly("1", "2", "3");
	}

	@Test
	void recordCanHaveSeveralDeadLetters() {
		give(record("1"));
		give(record("1"));

		assertThat(offsets(list())).containsExactly("1", "1");
		assertThat(this.letters.sendBack(SHARD, list())).isEqualTo(2);
		assertThat(due()).containsExactly(record("1").withoutAttempts());
	}

	@Test
	@Promise("Nothing lost")
	void refusedCommitStoresNoDeadLetters() {
		assertThat(commit(OLD, dead(new CommitNumber(5, 4, 0), record("lost")))).isEqualTo(CommitReply.GONE);
		assertThat(commit(NEW, dead(CommitNumber.ofWhole(1), record("unknown")))).isEqualTo(CommitReply.GONE);
		this.checkpoints.acquireNow(SHARD, NEW);
		commit(NEW, dead(CommitNumber.ofWhole(7)));
		assertThat(commit(OLD, dead(CommitNumber.ofWhole(9), record("fenced")))).isEqualTo(CommitReply.STALE);
		assertThat(commit(NEW, dead(CommitNumber.ofWhole(6), record("late")))).isEqualTo(CommitReply.STALE);

		assertThat(list()).isEmpty();
	}

	@Test
	void recordIsNeverBothRetriedAndDead() {
		commit(OLD, new Commit(number(), null, Set.of(), Map.of(), List.of(new Retry(record("1"), Duration.ZERO)),
				Set.of(), List.of()));
		commit(OLD, new Commit(number(), null, Set.of(), Map.of(), List.of(), Set.of(new Offset("1")),
				List.of(record("1"))));

		assertThat(due()).isEmpty();
		assertThat(offsets(list())).containsExactly("1");
	}

	@Test
	void deadLetterSentBackIsDueNowWithoutAttempts() {
		give(record("1"), record("2"), record("3"));
		StoredDeadLetter second = list().get(1);

		assertThat(this.letters.sendBack(SHARD, List.of(second))).isOne();

		assertThat(offsets(list())).containsExactly("1", "3");
		assertThat(this.letters.find(SHARD, second.id())).isNull();
		FailedRecord expected = record("2").withoutAttempts();
		assertThat(expected.attempts()).isZero();
		assertThat(due()).containsExactly(expected);
		assertThat(this.letters.countRetries(List.of(SHARD))).containsExactly(Map.entry(SHARD, 1L));
		assertThat(this.checkpoints.read(SHARD).retryDueIn()).isZero();
		assertThat(this.letters.sendBack(SHARD, List.of(second))).as("again").isZero();
	}

	@Test
	void everyByteOfADeadLetterIsKept() {
		byte[] payload = new byte[3 * 256];
		IntStream.range(0, payload.length).forEach((i) -> payload[i] = (byte) i);
		FailedRecord binary = new FailedRecord(new Offset("\n{1}"), "{\"attempts\":3", payload,
				Map.of("\n{\"attempts\":3", "x"), FAILED, 123_456, 3, "{\"attempts\":3,", "s", FAILED);
		FailedRecord lines = new FailedRecord(new Offset("2"), null,
				"\n\n{\"attempts\":3".getBytes(StandardCharsets.UTF_8), Map.of(), FAILED, 1, 1, "", "", FAILED);
		give(binary, lines);

		this.letters.sendBack(SHARD, list());

		assertThat(due()).containsExactlyInAnyOrder(binary.withoutAttempts(), lines.withoutAttempts());
	}

	@Test
	void recordSentBackIsInTheRetryQueueOnce() {
		give(record("1"));
		commit(OLD, new Commit(number(), null, Set.of(), Map.of(), List.of(new Retry(record("1"), Duration.ofHours(1))),
				Set.of(), List.of()));

		this.letters.sendBack(SHARD, list());

		assertThat(this.checkpoints.due(SHARD, 10, Long.MAX_VALUE, Set.of()))
			.isEqualTo(new DueRecords(List.of(record("1").withoutAttempts()), null));
	}

	@Test
	void recordSentBackIsDueAfterEarlierOnes() {
		commit(OLD,
				new Commit(number(), null, Set.of(), Map.of(),
						List.of(new Retry(record("5"), Duration.ZERO), new Retry(record("6"), Duration.ofSeconds(3))),
						Set.of(), List.of(record("1"))));
		this.server.advance(Duration.ofSeconds(1));

		this.letters.sendBack(SHARD, list());

		DueRecords found = this.checkpoints.due(SHARD, 10, Long.MAX_VALUE, Set.of());
		assertThat(found.records()).extracting((record) -> record.offset().value()).containsExactly("5", "1");
		assertThat(found.nextIn()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void shardWithoutAnOwnerKeepsRecordsSentBack() {
		give(record("1"));
		this.letters.sendBack(SHARD, list());
		this.server.advance(Duration.ofDays(30));

		CheckpointStore.Acquisition next = this.checkpoints.acquireNow(SHARD, NEW);

		assertThat(((CheckpointStore.Acquisition.Acquired) next).checkpoint().retryDueIn()).isZero();
		assertThat(due()).containsExactly(record("1").withoutAttempts());
	}

	@Test
	void completedShardAcceptsNoRecordsSentBack() {
		give(record("1"), record("2"));
		assertThat(this.checkpoints.complete(SHARD, OLD, 0, 0)).isEqualTo(CompletionReply.COMPLETED);
		assertThat(this.checkpoints.complete(SHARD, OLD, 0, 0)).as("again").isEqualTo(CompletionReply.COMPLETED);

		assertThat(this.letters.sendBack(SHARD, list())).isEqualTo(DeadLetterStore.SHARD_COMPLETED);
		assertThat(offsets(list())).containsExactly("1", "2");
		assertThat(this.letters.countRetries(List.of(SHARD))).containsExactly(Map.entry(SHARD, 0L));
		assertThat(this.letters.drop(SHARD, list().subList(0, 1))).isOne();

		this.checkpoints.acquireNow(SHARD, OLD);
		assertThat(this.letters.sendBack(SHARD, list())).as("acquired again under the same token")
			.isEqualTo(DeadLetterStore.SHARD_COMPLETED);
		this.checkpoints.acquireNow(SHARD, NEW);
		assertThat(this.letters.sendBack(SHARD, list())).as("consumed again").isOne();
	}

	@Test
	void ownerCompletesAShardWithAnEmptyRetryQueue() {
		assertThat(this.checkpoints.complete(SHARD, NEW, 0, 0)).isEqualTo(CompletionReply.GONE);
		assertThat(this.checkpoints.complete(OTHER, OLD, 0, 0)).isEqualTo(CompletionReply.GONE);
		give(record("1"));
		this.letters.sendBack(SHARD, list());
		assertThat(this.checkpoints.complete(SHARD, OLD, 0, 0)).isEqualTo(CompletionReply.PENDING);
		give(record("2"));
		assertThat(this.letters.sendBack(SHARD, list())).as("not completed").isOne();

		commit(OLD, new Commit(number(), null, Set.of(), Map.of(), List.of(), Set.of(new Offset("1"), new Offset("2")),
				List.of()));
		this.checkpoints.acquireNow(SHARD, NEW);
		assertThat(this.checkpoints.complete(SHARD, OLD, 0, 0)).isEqualTo(CompletionReply.STALE);
		assertThat(this.checkpoints.complete(SHARD, NEW, 0, 0)).isEqualTo(CompletionReply.COMPLETED);
	}

	@Test
	void shardWithALostCommitIsNotCompleted() {
		CommitNumber last = number();
		commit(OLD, new Commit(last, new Offset("1"), Set.of(), Map.of(), List.of(), Set.of(), List.of()));

		assertThat(this.checkpoints.complete(SHARD, OLD, last.attempt() + 1, 0)).isEqualTo(CompletionReply.GONE);
		give(record("1"));
		assertThat(this.letters.sendBack(SHARD, list())).as("not completed").isOne();
		commit(OLD, new Commit(number(), null, Set.of(), Map.of(), List.of(), Set.of(new Offset("1")), List.of()));
		assertThat(this.checkpoints.complete(SHARD, OLD, last.attempt(), 0)).isEqualTo(CompletionReply.COMPLETED);
	}

	@Test
	void droppedDeadLettersAreRemoved() {
		give(record("1"), record("2"), record("3"));
		List<StoredDeadLetter> all = list();

		assertThat(this.letters.drop(SHARD, all.subList(0, 2))).isEqualTo(2);
		assertThat(this.letters.drop(SHARD, all)).as("what is still there").isOne();
		assertThat(this.letters.sendBack(SHARD, all)).isZero();

		assertThat(list()).isEmpty();
		give(record("4"));
		assertThat(list().get(0).id()).as("ids are not used again")
			.isNotIn(all.stream().map(StoredDeadLetter::id).toList());
	}

	@Test
	void manyAndLargeDeadLettersAreSentBack() {
		byte[] large = new byte[700_000];
		for (int i = 0; i < 6; i++) {
			give(new FailedRecord(new Offset("large" + i), null, large, Map.of(), FAILED, 1, 1, "e", "s", FAILED));
		}
		give(IntStream.range(0, 450).mapToObj((i) -> record("small" + i)).toArray(FailedRecord[]::new));

		assertThat(this.letters.sendBack(SHARD, list())).isEqualTo(456);

		assertThat(list()).isEmpty();
		assertThat(this.letters.countRetries(List.of(SHARD))).containsExactly(Map.entry(SHARD, 456L));
	}

	@Test
	void deadLettersAreLostWithOtherWrites() {
		give(record("1"));
		Object before = this.server.snapshot();
		this.letters.sendBack(SHARD, list());
		this.server.loseWritesSince(before);
		assertThat(offsets(list())).containsExactly("1");
		assertThat(due()).isEmpty();

		this.server.empty();
		assertThat(list()).isEmpty();
	}

	private static Commit dead(CommitNumber number, FailedRecord... letters) {
		return new Commit(number, null, Set.of(), Map.of(), List.of(), Set.of(), List.of(letters));
	}

	@Test
	void withoutALimitNoDeadLetterExpires() {
		give(record("1"));
		this.server.advance(Duration.ofDays(10_000));

		assertThat(this.letters.expire(SHARD, new Retention(null, null))).isZero();
		assertThat(offsets(list())).containsExactly("1");
	}

	@Test
	void oldDeadLettersExpire() {
		give(record("1"), record("2"));
		this.server.advance(Duration.ofHours(1));
		give(record("3"));
		this.server.advance(Duration.ofMinutes(30));
		Retention anHour = new Retention(Duration.ofHours(1), null);

		assertThat(this.letters.expire(SHARD, new Retention(Duration.ofHours(2), null))).isZero();
		assertThat(this.letters.expire(OTHER, anHour)).isZero();
		assertThat(this.letters.expire(SHARD, anHour)).isEqualTo(2);
		assertThat(this.letters.expire(SHARD, anHour)).isZero();
		assertThat(offsets(list())).containsExactly("3");
		this.server.advance(Duration.ofHours(1));
		assertThat(this.letters.expire(SHARD, anHour)).isEqualTo(1);
		assertThat(list()).isEmpty();
	}

	@Test
	void oldestDeadLettersBeyondTheNumberExpire() {
		give(record("1"), record("2"), record("3"));

		assertThat(this.letters.expire(SHARD, new Retention(null, 3L))).isZero();
		assertThat(this.letters.expire(SHARD, new Retention(null, 1L))).isEqualTo(2);
		assertThat(offsets(list())).containsExactly("3");
	}

	@Test
	void manyDeadLettersExpireInSteps() {
		for (int i = 0; i < 12; i++) {
			give(IntStream.range(250 * i, 250 * (i + 1))
				.mapToObj(Integer::toString)
				.map(DeadLetterContract::record)
				.toArray(FailedRecord[]::new));
		}
		this.server.advance(Duration.ofHours(2));
		give(record("last"));
		Retention anHour = new Retention(Duration.ofHours(1), 2_500L);

		int gone = 0;
		for (int removed = this.letters.expire(SHARD, anHour); removed > 0; removed = this.letters.expire(SHARD,
				anHour)) {
			gone += removed;
		}

		assertThat(gone).isEqualTo(3_000);
		assertThat(offsets(list())).containsExactly("last");
	}

	private static FailedRecord record(String offset) {
		return new FailedRecord(new Offset(offset), "key-" + offset, new byte[] { 1, -1 }, Map.of("trace", "7f"),
				FAILED, 5, 1, "java.io.IOException: no", "at …", FAILED);
	}

	private static List<String> offsets(List<StoredDeadLetter> found) {
		return found.stream().map((letter) -> letter.record().offset().value()).toList();
	}

	private CommitNumber number() {
		return CommitNumber.ofWhole(++this.attempts);
	}

	private void give(FailedRecord... records) {
		assertThat(commit(OLD, dead(number(), records))).isEqualTo(CommitReply.COMMITTED);
	}

	private CommitReply commit(Token token, Commit commit) {
		return this.checkpoints.commit(SHARD, token, commit).orTimeout(1, TimeUnit.MINUTES).join();
	}

	/** However many are wanted: one reply with all of them would hold up the store. */
	@Test
	void largeDeadLettersAreReadCompletelyInSeveralReads() {
		for (int number = 1; number <= 5; number++) {
			FailedRecord letter = new FailedRecord(new Offset(Integer.toString(number)), null, new byte[600_000],
					Map.of(), FAILED, 1, 1, "e", "s", FAILED);
			commit(OLD, new Commit(number(), null, Set.of(), Map.of(), List.of(), Set.of(), List.of(letter)));
		}

		assertThat(this.letters.list(SHARD, null, 100)).hasSizeLessThanOrEqualTo(mostLargeLettersAtOnce());
		assertThat(offsets(list())).containsExactly("1", "2", "3", "4", "5");
	}

	/** Maximum number of letters of 600,000 bytes in one read. */
	protected int mostLargeLettersAtOnce() {
		return Integer.MAX_VALUE;
	}

	private List<StoredDeadLetter> list() {
		List<StoredDeadLetter> all = new ArrayList<>();
		List<StoredDeadLetter> read = this.letters.list(SHARD, null, 100);
		while (!read.isEmpty()) {
			all.addAll(read);
			read = this.letters.list(SHARD, read.get(read.size() - 1).id(), 100);
		}
		return all;
	}

	private List<FailedRecord> due() {
		return this.checkpoints.due(SHARD, 100, Long.MAX_VALUE, Set.of()).records();
	}

}
