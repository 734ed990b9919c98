package io.github.shardkeeper.checkpoint;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.CompletionReply;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of timers that every {@link CheckpointStore} must pass that keeps any.
 */
@Promise("State exactly once")
public abstract class TimersContract extends ServedCheckpoints {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final ShardId OTHER = ShardId.of("orders", 11);

	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 1);

	private static final Instant NOON = Instant.parse("2026-03-01T12:00:00.001Z");

	private static final TimerId ANN = new TimerId("ann", "reminder");

	private static final TimerId BEN = new TimerId("ben", "reminder");

	private long attempts;

	@BeforeEach
	protected final void acquireShard() {
		acquire(OLD);
	}

	@Test
	void shardHasNoTimersAtFirst() {
		assertThat(this.store.keepsTimers("orders")).isTrue();
		assertThat(timers()).isEmpty();
		assertThat(count()).isZero();
		assertThat(this.store.timers(OTHER, null, 10)).isEmpty();
		assertThat(this.store.countTimers(OTHER)).isZero();
	}

	@Test
	void nextOwnerFindsWhatWasSet() {
		assertThat(set(OLD, Map.of(BEN, NOON.plusMillis(1), ANN, NOON))).isEqualTo(CommitReply.COMMITTED);

		acquire(NEW);
		assertThat(timers()).containsExactly(new StoredTimer(ANN, NOON), new StoredTimer(BEN, NOON.plusMillis(1)));
		assertThat(count()).isEqualTo(2);
		assertThat(this.store.timers(OTHER, null, 10)).isEmpty();
	}

	@Test
	void timersOffsetAndStateAreWrittenTogether() {
		Commit commit = Commit.of(next(), new Offset("7"), Map.of("waits", "true")).withTimers(Map.of(ANN, NOON));

		assertThat(commit(OLD, commit)).isEqualTo(CommitReply.COMMITTED);

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("7"), Map.of("waits", "true")));
		assertThat(timers()).containsExactly(new StoredTimer(ANN, NOON));
	}

	@Test
	void oneCommitSetsReplacesAndRemoves() {
		TimerId session = new TimerId("ann", "session");
		set(OLD, Map.of(ANN, NOON, BEN, NOON));

		set(OLD, changes(ANN, NOON.minusSeconds(60), BEN, null, session, NOON, new TimerId("zoe", "unknown"), null));

		assertThat(timers()).containsExactly(new StoredTimer(ANN, NOON.minusSeconds(60)),
				new StoredTimer(session, NOON));
		assertThat(count()).isEqualTo(2);
		set(OLD, Map.of(session, NOON));
		assertThat(count()).as("set to the same time").isEqualTo(2);
		set(OLD, changes(ANN, null, session, null));
		assertThat(timers()).isEmpty();
		assertThat(count()).isZero();
	}

	@Test
	void commitWithoutTimersLeavesThem() {
		set(OLD, Map.of(ANN, NOON));

		set(OLD, Map.of());

		assertThat(timers()).containsExactly(new StoredTimer(ANN, NOON));
	}

	/** Fractions of a millisecond are dropped. */
	@ParameterizedTest
	@ValueSource(strings = { "1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z",
			"2026-03-01T12:00:00.001Z", "2026-03-01T12:00:00.999999999Z", "9999-12-31T23:59:59.999Z" })
	void timesHaveMilliseconds(String due) {
		Instant time = Instant.parse(due);
		set(OLD, Map.of(ANN, time));

		assertThat(timers()).containsExactly(new StoredTimer(ANN, Instant.ofEpochMilli(time.toEpochMilli())));
		assertThat(page(timers().get(0), 10)).isEmpty();
	}

	@Test
	void timersAreReadInTheOrderOfTheirTimes() {
		Map<TimerId, Instant> timers = new HashMap<>();
		for (int i = 0; i < 100; i++) {
			timers.put(new TimerId("key-" + i, "t"), NOON.plusMillis(i * 37 % 100 - 50));
		}
		timers.put(new TimerId("a", "before 1970"), Instant.ofEpochMilli(-5));
		timers.put(new TimerId("b", "before that"), Instant.ofEpochMilli(-60));
		set(OLD, timers);

		List<StoredTimer> read = timers();

		assertThat(read).hasSize(102);
		assertThat(read).extracting(StoredTimer::due).isSorted();
		assertThat(toMap(read)).isEqualTo(timers);
	}

	@Test
	void pagesHaveEachTimerOnceAlsoWithManyAtTheSameTime() {
		Map<TimerId, Instant> timers = new HashMap<>();
		for (int i = 0; i < 500; i++) {
			timers.put(new TimerId("key-" + i, "t"), NOON.plusMillis((i < 50) ? -1 : (i < 450) ? 0 : 1));
		}
		set(OLD, timers);

		for (int size : new int[] { 1, 7, 500 }) {
			assertThat(toMap(pages(size))).as("pages of %d", size).isEqualTo(timers);
		}
		assertThat(pages(7)).isEqualTo(timers());
	}

	@Test
	void pageBeginsAfterATimerThatIsGone() {
		Map<TimerId, Instant> timers = new HashMap<>();
		for (int i = 0; i < 60; i++) {
			timers.put(new TimerId("key-" + i, "t"), (i < 50) ? NOON : NOON.plusMillis(i));
		}
		set(OLD, timers);
		List<StoredTimer> all = timers();
		List<StoredTimer> read = new ArrayList<>();
		List<StoredTimer> page = page(null, 4);
		while (!page.isEmpty()) {
			read.addAll(page);
			Map<TimerId, @Nullable Instant> removed = new HashMap<>();
			page.forEach((timer) -> removed.put(timer.id(), null));
			set(OLD, removed);
			page = page(page.get(page.size() - 1), 4);
		}

		assertThat(read).isEqualTo(all);
		assertThat(count()).isZero();
	}

	@Test
	void pageBeginsAfterAnyTime() {
		set(OLD, Map.of(ANN, NOON, BEN, NOON.plusSeconds(2)));

		assertThat(page(new StoredTimer(new TimerId("zoe", "t"), NOON.minusMillis(1)), 10)).hasSize(2);
		assertThat(page(new StoredTimer(ANN, NOON.plusSeconds(1)), 10))
			.containsExactly(new StoredTimer(BEN, NOON.plusSeconds(2)));
		assertThat(page(new StoredTimer(new TimerId("a", "t"), NOON.plusSeconds(3)), 10)).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "5:a", ":", " ", "\0", "a\0b", "\\", "\\0", "ß世界😀", "\n\t\"{}", "*", "O'Brien; --" })
	void anyTextIsAKeyOrAName(String text) {
		Map<TimerId, Instant> timers = Map.of(new TimerId(text, "name"), NOON, new TimerId("key", text),
				NOON.plusMillis(1), new TimerId(text, text), NOON.plusMillis(2));
		set(OLD, timers);

		assertThat(toMap(timers())).isEqualTo(timers);
		assertThat(toMap(pages(1))).isEqualTo(timers);
		set(OLD, changes(new TimerId(text, "name"), null, new TimerId("key", text), null, new TimerId(text, text),
				null));
		assertThat(timers()).isEmpty();
	}

	@Test
	void keyAndNameAreNotConfused() {
		Map<TimerId, Instant> timers = Map.of(new TimerId("a", "bc"), NOON, new TimerId("ab", "c"), NOON,
				new TimerId("a:b", "c"), NOON, new TimerId("a", "b:c"), NOON, new TimerId("a\0b", "c"), NOON,
				new TimerId("a", "b\0c"), NOON, new TimerId("A", "bc"), NOON, new TimerId("a ", "bc"), NOON);
		set(OLD, timers);

		assertThat(toMap(timers())).isEqualTo(timers);
		assertThat(count()).isEqualTo(timers.size());
	}

	@Test
	void longKeysAreKept() {
		Map<TimerId, Instant> timers = new HashMap<>();
		for (int i = 0; i < 12; i++) {
			timers.put(new TimerId("k".repeat(150_000) + i, "n".repeat(50_000) + i % 3), NOON);
		}
		set(OLD, timers);

		assertThat(toMap(pages(100))).isEqualTo(timers);
	}

	@Test
	void oneCommitMaySetTenThousand() {
		Map<TimerId, Instant> timers = new HashMap<>();
		IntStream.range(0, 10_000).forEach((i) -> timers.put(new TimerId("key-" + i, "t"), NOON.plusMillis(i / 100)));
		assertThat(set(OLD, timers)).isEqualTo(CommitReply.COMMITTED);

		assertThat(count()).isEqualTo(10_000);
		assertThat(toMap(pages(1_000))).isEqualTo(timers);
		Map<TimerId, @Nullable Instant> removed = new HashMap<>();
		timers.keySet().forEach((id) -> removed.put(id, null));
		set(OLD, removed);
		assertThat(count()).isZero();
	}

	@Test
	void fencedCommitChangesNothing() {
		set(OLD, Map.of(ANN, NOON));
		acquire(NEW);

		assertThat(set(OLD, changes(ANN, null, BEN, NOON))).isEqualTo(CommitReply.STALE);

		assertThat(timers()).containsExactly(new StoredTimer(ANN, NOON));
	}

	@Test
	void commitThatArrivesLateChangesNothing() {
		Commit late = Commit.of(next(), new Offset("5"), Map.of()).withTimers(changes(ANN, null, BEN, NOON));
		assertThat(commit(OLD, Commit.of(CommitNumber.ofWhole(++this.attempts), new Offset("6"), Map.of())
			.withTimers(Map.of(ANN, NOON)))).isEqualTo(CommitReply.COMMITTED);

		assertThat(commit(OLD, late)).isEqualTo(CommitReply.STALE);

		assertThat(timers()).containsExactly(new StoredTimer(ANN, NOON));
	}

	@Test
	void commitThatRestsOnALostOneChangesNothing() {
		set(OLD, Map.of(ANN, NOON));
		this.attempts += 5;

		assertThat(set(OLD, changes(ANN, null, BEN, NOON))).isEqualTo(CommitReply.GONE);

		assertThat(timers()).containsExactly(new StoredTimer(ANN, NOON));
	}

	@Test
	void repeatedCommitChangesNothing() {
		Commit first = Commit.of(next(), new Offset("5"), Map.of()).withTimers(Map.of(ANN, NOON));
		assertThat(commit(OLD, first)).isEqualTo(CommitReply.COMMITTED);
		assertThat(commit(OLD, first)).isEqualTo(CommitReply.COMMITTED);
		assertThat(count()).isOne();
		set(OLD, changes(ANN, null));

		assertThat(commit(OLD, first)).isEqualTo(CommitReply.STALE);

		assertThat(timers()).isEmpty();
	}

	/** What the owner does not know stays; what it knows is written again. */
	@Test
	void ownerWritesBackWhatItKnowsAfterLostWrites() {
		set(OLD, Map.of(ANN, NOON));
		Object before = this.server.snapshot();
		set(OLD, Map.of(BEN, NOON));
		this.server.loseWritesSince(before);
		assertThat(set(OLD, Map.of())).isEqualTo(CommitReply.GONE);

		acquire(OLD);
		assertThat(commit(OLD,
				Commit.of(CommitNumber.ofWhole(++this.attempts), new Offset("5"), Map.of())
					.withTimers(changes(BEN, NOON, new TimerId("ann", "never stored"), null))))
			.isEqualTo(CommitReply.COMMITTED);

		assertThat(toMap(timers())).isEqualTo(Map.of(ANN, NOON, BEN, NOON));
		assertThat(count()).isEqualTo(2);
	}

	@Test
	void emptiedStoreAcceptsThemAgain() {
		set(OLD, Map.of(ANN, NOON));
		this.server.empty();
		assertThat(set(OLD, Map.of(BEN, NOON))).isEqualTo(CommitReply.GONE);

		acquire(OLD);
		assertThat(commit(OLD, Commit.of(CommitNumber.ofWhole(++this.attempts), new Offset("5"), Map.of())
			.withTimers(Map.of(BEN, NOON)))).isEqualTo(CommitReply.COMMITTED);

		assertThat(timers()).containsExactly(new StoredTimer(BEN, NOON));
	}

	@Test
	void seekThatClearsTheStateRemovesThem() {
		TimerId set = new TimerId("cleo", "after the seek");
		set(OLD, Map.of(ANN, NOON, BEN, NOON));
		SeekRequest request = Objects.requireNonNull(this.store.seek(SHARD, new Offset("3"), true));
		assertThat(count()).as("until it is carried out").isEqualTo(2);

		assertThat(commit(OLD, carryingOut(request, changes(set, NOON, BEN, null)))).isEqualTo(CommitReply.COMMITTED);

		assertThat(timers()).containsExactly(new StoredTimer(set, NOON));
		assertThat(count()).isOne();
		set(OLD, Map.of(ANN, NOON));
		acquire(NEW);
		assertThat(count()).isEqualTo(2);
	}

	@Test
	void seekThatKeepsTheStateKeepsThem() {
		set(OLD, Map.of(ANN, NOON, BEN, NOON));
		SeekRequest request = Objects.requireNonNull(this.store.seek(SHARD, new Offset("3"), false));

		assertThat(commit(OLD, carryingOut(request, changes(BEN, null)))).isEqualTo(CommitReply.COMMITTED);

		assertThat(timers()).containsExactly(new StoredTimer(ANN, NOON));
	}

	@Test
	void newerSeekIsNotCarriedOutByAnEarlierOne() {
		set(OLD, Map.of(ANN, NOON));
		SeekRequest first = Objects.requireNonNull(this.store.seek(SHARD, new Offset("3"), false));
		SeekRequest second = Objects.requireNonNull(this.store.seek(SHARD, new Offset("4"), true));

		assertThat(commit(OLD, carryingOut(first, Map.of()))).isEqualTo(CommitReply.COMMITTED);
		assertThat(timers()).containsExactly(new StoredTimer(ANN, NOON));

		assertThat(commit(OLD, carryingOut(second, Map.of()))).isEqualTo(CommitReply.COMMITTED);
		assertThat(timers()).isEmpty();
		set(OLD, Map.of(BEN, NOON));
		assertThat(commit(OLD, recording(second).build())).isEqualTo(CommitReply.COMMITTED);
		assertThat(timers()).as("carried out before").containsExactly(new StoredTimer(BEN, NOON));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void seekThatANewerOneHasReplacedRemovesThem(boolean newerClears) {
		set(OLD, Map.of(ANN, NOON));
		SeekRequest first = Objects.requireNonNull(this.store.seek(SHARD, new Offset("3"), true));
		SeekRequest second = Objects.requireNonNull(this.store.seek(SHARD, new Offset("4"), newerClears));

		assertThat(commit(OLD, carryingOut(first, Map.of(BEN, NOON)))).isEqualTo(CommitReply.COMMITTED);

		assertThat(timers()).containsExactly(new StoredTimer(BEN, NOON));
		assertThat(this.store.seeks(List.of(SHARD)).get(SHARD)).isEqualTo(new Seeks(first.number(), second));
	}

	/** Nobody would fire them. */
	@Test
	@Promise("Nothing lost")
	void shardIsNotCompletedWhileTimersWait() {
		set(OLD, Map.of(ANN, NOON));
		assertThat(complete()).isEqualTo(CompletionReply.PENDING);

		set(OLD, changes(ANN, null));
		assertThat(complete()).isEqualTo(CompletionReply.COMPLETED);
	}

	@Test
	void removedTopicHasNoTimers() {
		set(OLD, Map.of(ANN, NOON));
		this.store.remove("orders", NEW);
		assertThat(timers()).isEmpty();
		assertThat(count()).isZero();

		acquire(NEW);
		assertThat(timers()).isEmpty();
	}

	private void acquire(Token token) {
		assertThat(this.store.acquireNow(SHARD, token)).isInstanceOf(Acquisition.Acquired.class);
	}

	private CommitNumber next() {
		long last = this.attempts++;
		return new CommitNumber(last + 1, last, 0);
	}

	private CommitReply set(Token token, Map<TimerId, @Nullable Instant> timers) {
		return commit(token, Commit.of(next(), new Offset("5"), Map.of()).withTimers(timers));
	}

	private CommitReply commit(Token token, Commit commit) {
		return this.store.commit(SHARD, token, commit).orTimeout(1, TimeUnit.MINUTES).join();
	}

	private Commit carryingOut(SeekRequest request, Map<TimerId, @Nullable Instant> timers) {
		Commit.Builder commit = recording(request).timers(timers);
		return (request.clearsState() ? commit.clearState() : commit).build();
	}

	private Commit.Builder recording(SeekRequest request) {
		return new Commit.Builder(next(), request.after(), Set.of()).seek(request.number());
	}

	private CompletionReply complete() {
		return this.store.complete(SHARD, OLD, this.attempts, 0);
	}

	private long count() {
		return Objects.requireNonNull(this.store.countTimers(SHARD));
	}

	private List<StoredTimer> timers() {
		return page(null, 1_000);
	}

	private List<StoredTimer> page(@Nullable StoredTimer after, int limit) {
		List<StoredTimer> page = this.store.timers(SHARD, after, limit);
		assertThat(page).hasSizeLessThanOrEqualTo(limit);
		return page;
	}

	private List<StoredTimer> pages(int size) {
		List<StoredTimer> all = new ArrayList<>();
		List<StoredTimer> page = page(null, size);
		while (!page.isEmpty()) {
			all.addAll(page);
			page = page(page.get(page.size() - 1), size);
		}
		assertThat(Set.copyOf(all)).as("each of them once").hasSameSizeAs(all);
		assertThat(all).extracting(StoredTimer::due).isSorted();
		return all;
	}

	private static Map<TimerId, Instant> toMap(List<StoredTimer> timers) {
		Map<TimerId, Instant> map = new HashMap<>();
		timers.forEach((timer) -> map.put(timer.id(), timer.due()));
		return map;
	}

	/** Allows {@code null} for removed ones. */
	private static Map<TimerId, @Nullable Instant> changes(@Nullable Object... idsAndTimes) {
		Map<TimerId, @Nullable Instant> changes = new HashMap<>();
		List<@Nullable Object> all = Arrays.asList(idsAndTimes);
		for (int i = 0; i < all.size(); i += 2) {
			changes.put((TimerId) Objects.requireNonNull(all.get(i)), (Instant) all.get(i + 1));
		}
		return changes;
	}

}
