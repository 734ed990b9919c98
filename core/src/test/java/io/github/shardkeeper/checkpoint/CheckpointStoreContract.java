package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.CompletionReply;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Concurrently;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that every {@link CheckpointStore} must pass. A subclass supplies stores.
 */
public abstract class CheckpointStoreContract {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final ShardId OTHER = ShardId.of("orders", 2);

	private static final Checkpoint EMPTY = new Checkpoint(null, Map.of());

	/** As large as real tokens, so that a store that rounds them fails. */
	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 1);

	private CheckpointStore store;

	private long attempts;

	/**
	 * Creates a store for a group that never existed before.
	 * @return the store, which the contract closes
	 */
	protected abstract CheckpointStore createStore();

	/** Returns the state to which the store falls back when later writes are lost. */
	protected abstract Object snapshot(CheckpointStore created);

	protected abstract void loseWritesSince(CheckpointStore created, Object snapshot);

	protected abstract void empty(CheckpointStore created);

	@BeforeEach
	protected final void openStore() {
		this.store = createStore();
	}

	@AfterEach
	protected final void closeStore() {
		this.store.close();
	}

	@Test
	void stateEntriesAreCounted() {
		ShardId shard = ShardId.of("orders", 7);
		this.store.acquireNow(shard, OLD);
		assertThat(this.store.countStateEntries(shard)).isZero();
		this.store
			.commit(shard, OLD,
					Commit.of(Commit.CommitNumber.ofWhole(1), new Offset("1-0"), Map.of("ann", "1", "bob", "2")))
			.join();

		assertThat(this.store.countStateEntries(shard)).isEqualTo(2);
		assertThat(this.store.countStateEntries(ShardId.of("orders", 8))).isZero();
	}

	@Test
	void someStateEntriesAreRead() {
		ShardId shard = ShardId.of("orders", 7);
		assertThat(this.store.stateEntries(shard, List.of("ann"))).isEmpty();
		this.store.acquireNow(shard, OLD);
		this.store.commit(shard, OLD, Commit.of(Commit.CommitNumber.ofWhole(1), new Offset("1-0"),
				Map.of("ann", "1", "bob", "2", "ünï", "@1764435600000 [3]")))
			.join();

		assertThat(this.store.stateEntries(shard, List.of("ünï", "none", "bob", "bob")))
			.isEqualTo(Map.of("bob", "2", "ünï", "@1764435600000 [3]"));
		assertThat(this.store.stateEntries(shard, List.of())).isEmpty();
	}

	@Test
	void topicIsConsumedSinceTheFirstCall() {
		Instant before = Instant.now().minusSeconds(5);
		Instant since = this.store.consumedSince("orders");

		assertThat(since).isBetween(before, Instant.now().plusSeconds(5))
			.isEqualTo(since.truncatedTo(ChronoUnit.MILLIS));
		Awaitility.await()
			.pollInterval(Duration.ofMillis(1))
			.until(() -> this.store.consumedSince("another" + Instant.now()).isAfter(since));
		assertThat(this.store.consumedSince("orders")).isEqualTo(since);
	}

	@Test
	void startOfConsumptionCanBeLost() {
		Object snapshot = snapshot(this.store);
		Instant lost = this.store.consumedSince("orders");
		loseWritesSince(this.store, snapshot);
		Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> {
			Instant since = this.store.consumedSince("orders");
			loseWritesSince(this.store, snapshot);
			return since.isAfter(lost);
		});
		Instant since = this.store.consumedSince("orders");
		loseWritesSince(this.store, snapshot(this.store));
		assertThat(this.store.consumedSince("orders")).isEqualTo(since);
	}

	@Test
	void lostStartOfConsumptionIsTakenOverFromTheCaller() {
		Object snapshot = snapshot(this.store);
		Instant first = this.store.consumedSince("orders");
		loseWritesSince(this.store, snapshot);
		assertThat(this.store.consumedSince("orders", first)).as("forgotten").isEqualTo(first);
		loseWritesSince(this.store, snapshot);
		Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> {
			loseWritesSince(this.store, snapshot);
			return this.store.consumedSince("orders").isAfter(first);
		});

		assertThat(this.store.consumedSince("orders", first)).as("said otherwise meanwhile").isEqualTo(first);
		assertThat(this.store.consumedSince("orders", first.plusMillis(1))).isEqualTo(first);
		assertThat(this.store.consumedSince("orders")).isEqualTo(first);
	}

	@Test
	@Promise("No zombie writes")
	void commitAfterItsSuccessorWritesNothing() {
		this.store.acquireNow(SHARD, OLD);
		commit(SHARD, OLD, Commit.of(CommitNumber.ofWhole(2), new Offset("20"), Map.of("x", "2", "y", "2")));
		commit(SHARD, OLD, Commit.of(CommitNumber.ofWhole(3), new Offset("30"), Map.of("x", "3")));

		assertThat(commit(SHARD, OLD, Commit.of(CommitNumber.ofWhole(1), new Offset("10"), Map.of("x", "1", "y", "1"))))
			.isEqualTo(CommitReply.STALE);
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("30"), Map.of("x", "3", "y", "2")));
	}

	@Test
	void repeatedCommitIsWrittenOnce() {
		this.store.acquireNow(SHARD, OLD);
		assertThat(commit(SHARD, OLD, Commit.of(CommitNumber.ofWhole(1), new Offset("10"), Map.of("x", "1"))))
			.isEqualTo(CommitReply.COMMITTED);
		assertThat(commit(SHARD, OLD, Commit.of(CommitNumber.ofWhole(1), new Offset("9"), Map.of("x", "0"))))
			.isEqualTo(CommitReply.COMMITTED);

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("10"), Map.of("x", "1")));
	}

	@Test
	void commitNumbersStartAgainUnderEveryToken() {
		this.store.acquireNow(SHARD, OLD);
		commit(SHARD, OLD, Commit.of(CommitNumber.ofWhole(7), new Offset("70"), Map.of()));
		this.store.acquireNow(SHARD, NEW);

		assertThat(commit(SHARD, NEW, Commit.of(CommitNumber.ofWhole(1), new Offset("71"), Map.of())))
			.isEqualTo(CommitReply.COMMITTED);
		this.store.acquireNow(SHARD, NEW);
		assertThat(commit(SHARD, NEW, Commit.of(CommitNumber.ofWhole(1), new Offset("72"), Map.of())))
			.as("acquiring again under the same token resets nothing")
			.isEqualTo(CommitReply.COMMITTED);
		assertThat(this.store.read(SHARD).offset()).isEqualTo(new Offset("71"));
	}

	@Test
	void newShardIsEmpty() {
		assertThat(this.store.read(SHARD)).isEqualTo(EMPTY);
		assertThat(acquire(OLD)).isEqualTo(EMPTY);
		assertThat(this.store.read(SHARD)).isEqualTo(EMPTY);
		assertThat(this.store.offsets(List.of(SHARD))).isEmpty();
	}

	@Test
	void committedDataIsRead() {
		acquire(OLD);

		assertThat(commit(OLD, "5-0", Map.of("a", "1", "b", "[2]"))).isEqualTo(CommitReply.COMMITTED);

		Checkpoint expected = new Checkpoint(new Offset("5-0"), Map.of("a", "1", "b", "[2]"));
		assertThat(this.store.read(SHARD)).isEqualTo(expected);
		assertThat(acquire(NEW)).isEqualTo(expected);
	}

	@Test
	void acquisitionCanBeRepeated() {
		acquire(OLD);
		commit(OLD, "5-0", Map.of());

		assertThat(acquire(OLD).offset()).isEqualTo(new Offset("5-0"));

		assertThat(commit(OLD, "6-0", Map.of())).isEqualTo(CommitReply.COMMITTED);
	}

	@Test
	void commitCanBeRepeated() {
		acquire(OLD);
		commit(OLD, "5-0", Map.of("a", "1"));

		assertThat(commit(OLD, "5-0", Map.of("a", "1"))).isEqualTo(CommitReply.COMMITTED);

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("5-0"), Map.of("a", "1")));
	}

	@Test
	@Promise("No zombie writes")
	void oldOwnerWritesNothingAfterANewAcquisition() {
		acquire(OLD);
		commit(OLD, "5-0", change("a", "1", "b", "2"));
		acquire(NEW);

		assertThat(commit(OLD, "6-0", change("a", "3", "b", null, "c", "4"))).isEqualTo(CommitReply.STALE);

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("5-0"), Map.of("a", "1", "b", "2")));
		assertThat(commit(NEW, "6-0", Map.of())).isEqualTo(CommitReply.COMMITTED);
	}

	@Test
	void olderTokenIsRefusedWithTheFence() {
		acquire(NEW);

		assertThat(this.store.acquireNow(SHARD, OLD)).isEqualTo(new Acquisition.Refused(NEW));

		assertThat(commit(OLD, "5-0", Map.of())).isEqualTo(CommitReply.STALE);
		assertThat(commit(NEW, "6-0", Map.of())).isEqualTo(CommitReply.COMMITTED);
	}

	@Test
	void commitWithoutAcquisitionIsRefused() {
		assertThat(commit(OLD, "5-0", Map.of("a", "1"))).isEqualTo(CommitReply.GONE);
		assertThat(this.store.read(SHARD)).isEqualTo(EMPTY);

		acquire(OLD);
		assertThat(commit(NEW, "5-0", Map.of("a", "1"))).as("a newer token").isEqualTo(CommitReply.GONE);
		assertThat(this.store.read(SHARD)).isEqualTo(EMPTY);
	}

	@Test
	void holderWritesItsShardAgainAfterTheStoreWasEmptied() {
		acquire(OLD);
		commit(OLD, "5-0", Map.of("a", "1"));
		empty(this.store);

		assertThat(commit(OLD, "6-0", Map.of("b", "2"))).isEqualTo(CommitReply.GONE);
		assertThat(this.store.read(SHARD)).isEqualTo(EMPTY);

		assertThat(acquire(OLD)).isEqualTo(EMPTY);
		assertThat(commit(OLD, "6-0", Map.of("a", "1", "b", "2"))).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("6-0"), Map.of("a", "1", "b", "2")));
	}

	@Test
	@Promise("State exactly once")
	void repeatedAcquisitionIsTheSame() {
		long acquisition = acquisition(OLD);
		assertThat(acquisition).isPositive();
		commit(OLD, "5-0", Map.of("a", "1"));

		assertThat(acquisition(OLD)).isEqualTo(acquisition);
	}

	@Test
	@Promise("State exactly once")
	void firstCommitRestsOnTheAcquisition() {
		acquire(OLD);
		commit(OLD, "5-0", Map.of("a", "1"));
		long acquisition = acquisition(NEW);
		loseAndAcquireLate(NEW, acquisition);

		assertThat(
				commit(SHARD, NEW, Commit.of(new CommitNumber(1, 0, acquisition), new Offset("6-0"), Map.of("b", "2"))))
			.isEqualTo(CommitReply.GONE);
		assertThat(this.store.complete(SHARD, NEW, 0, acquisition)).isEqualTo(CompletionReply.GONE);
		assertThat(this.store.read(SHARD)).isEqualTo(EMPTY);

		long now = acquisition(NEW);
		commit(SHARD, NEW, Commit.of(CommitNumber.ofWhole(2), new Offset("6-0"), Map.of("a", "1", "b", "2")));
		assertThat(commit(SHARD, NEW, Commit.of(new CommitNumber(3, 2, now), new Offset("7-0"), Map.of("b", "3"))))
			.isEqualTo(CommitReply.COMMITTED);
		assertThat(this.store.complete(SHARD, NEW, 3, now)).isEqualTo(CompletionReply.COMPLETED);
	}

	/**
	 * The last commit of the owner before, which committed nothing, says nothing of those
	 * before it: with that alone the loss would not show.
	 */
	@Test
	@Promise("State exactly once")
	void firstCommitRestsOnCommitsBeforeAnOwnerWithoutCommits() {
		acquire(OLD);
		commit(OLD, "5-0", Map.of("a", "1"));
		acquire(NEW);
		Token newest = new Token(NEW.value() + 1);
		Acquisition.Acquired acquired = (Acquisition.Acquired) this.store.acquireNow(SHARD, newest);
		Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> {
			empty(this.store);
			acquire(NEW);
			Acquisition.Acquired late = (Acquisition.Acquired) this.store.acquireNow(SHARD, newest);
			assertThat(late.before()).isEqualTo(acquired.before());
			return late.acquisition() != acquired.acquisition();
		});

		assertThat(commit(SHARD, newest,
				Commit.of(new CommitNumber(1, 0, acquired.acquisition()), new Offset("6-0"), Map.of("b", "2"))))
			.isEqualTo(CommitReply.GONE);
		assertThat(this.store.complete(SHARD, newest, 0, acquired.acquisition())).isEqualTo(CompletionReply.GONE);
		assertThat(this.store.read(SHARD)).isEqualTo(EMPTY);
	}

	/** A repetition comes so late that the store has been emptied meanwhile. */
	private void loseAndAcquireLate(Token token, long before) {
		do {
			empty(this.store);
		}
		while (acquisition(token) == before);
	}

	private long acquisition(Token token) {
		return ((Acquisition.Acquired) this.store.acquireNow(SHARD, token)).acquisition();
	}

	@Test
	void checkpointReturnsToItsStateBeforeLostCommits() {
		acquire(OLD);
		commit(OLD, "5-0", Map.of("a", "1"));
		Object before = snapshot(this.store);
		commit(OLD, "6-0", Map.of("a", "2"));
		acquire(NEW);
		loseWritesSince(this.store, before);

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("5-0"), Map.of("a", "1")));
		assertThat(commit(NEW, "7-0", Map.of("a", "3"))).as("its fence is lost").isEqualTo(CommitReply.GONE);
	}

	@Test
	@Promise("State exactly once")
	void commitThatRestsOnALostOneWritesNothing() {
		acquire(OLD);
		commit(SHARD, OLD, Commit.of(CommitNumber.ofWhole(1), new Offset("5-0"), Map.of("a", "1")));
		Object before = snapshot(this.store);
		commit(SHARD, OLD, Commit.of(new CommitNumber(2, 1, 0), new Offset("6-0"), Map.of("b", "2")));
		loseWritesSince(this.store, before);

		assertThat(commit(SHARD, OLD, Commit.of(new CommitNumber(3, 2, 0), new Offset("7-0"), Map.of("c", "3"))))
			.isEqualTo(CommitReply.GONE);
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("5-0"), Map.of("a", "1")));

		acquire(OLD);
		assertThat(commit(SHARD, OLD,
				Commit.of(CommitNumber.ofWhole(4), new Offset("7-0"), Map.of("a", "1", "b", "2", "c", "3"))))
			.isEqualTo(CommitReply.COMMITTED);
	}

	@Test
	void commitCanRestOnOneWhoseAnswerWasLost() {
		acquire(OLD);
		commit(SHARD, OLD, Commit.of(CommitNumber.ofWhole(1), new Offset("5-0"), Map.of("a", "1")));
		commit(SHARD, OLD, Commit.of(new CommitNumber(2, 1, 0), new Offset("6-0"), Map.of("b", "2")));

		assertThat(commit(SHARD, OLD, Commit.of(new CommitNumber(3, 1, 0), new Offset("7-0"), Map.of("b", "3"))))
			.isEqualTo(CommitReply.COMMITTED);
	}

	@Test
	void commitWithoutAnOffsetKeepsTheOffset() {
		acquire(OLD);
		assertThat(commit(OLD, null, Map.of("a", "1"))).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(null, Map.of("a", "1")));
		commit(OLD, "5-0", Map.of());

		commit(OLD, null, Map.of("a", "2"));

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("5-0"), Map.of("a", "2")));
	}

	@Test
	void onlyTheNamedEntriesChange() {
		acquire(OLD);
		commit(OLD, "1-0", Map.of("kept", "1", "changed", "1", "removed", "1"));

		commit(OLD, "2-0", change("changed", "2", "removed", null, "added", "2", "unknown", null));

		assertThat(this.store.read(SHARD).state())
			.containsExactlyInAnyOrderEntriesOf(Map.of("kept", "1", "changed", "2", "added", "2"));
	}

	@Test
	void lastEntryCanBeRemovedAndReturn() {
		acquire(OLD);
		commit(OLD, "1-0", Map.of("a", "1"));
		commit(OLD, "2-0", change("a", null));
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("2-0"), Map.of()));

		commit(OLD, "3-0", Map.of("a", "2"));

		assertThat(this.store.read(SHARD).state()).isEqualTo(Map.of("a", "2"));
	}

	@Test
	void committedOffsetCanGoBack() {
		acquire(OLD);
		commit(OLD, "9-0", Map.of());

		commit(OLD, "10-0", Map.of());
		commit(OLD, "2-0", Map.of());

		assertThat(this.store.read(SHARD).offset()).isEqualTo(new Offset("2-0"));
	}

	@Test
	void shardsAreIndependent() {
		acquire(OLD);
		this.store.acquireNow(OTHER, NEW);
		commit(OTHER, NEW, Commit.of(CommitNumber.ofWhole(++this.attempts), new Offset("7-0"), Map.of("b", "2")));

		assertThat(commit(OLD, "5-0", Map.of("a", "1"))).isEqualTo(CommitReply.COMMITTED);

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("5-0"), Map.of("a", "1")));
		assertThat(this.store.read(OTHER)).isEqualTo(new Checkpoint(new Offset("7-0"), Map.of("b", "2")));
		assertThat(this.store.read(new ShardId("payments", "1"))).isEqualTo(EMPTY);
	}

	@Test
	void shardsWithSimilarNamesAreDifferent() {
		List<ShardId> shards = List.of(new ShardId("a-b", "c"), new ShardId("a", "b-c"), new ShardId("a.b", "c"),
				new ShardId("a", "b.c"), new ShardId("A", "b.c"), new ShardId("a", "1"), new ShardId("a", "01"));
		Map<ShardId, Offset> offsets = new HashMap<>();
		for (ShardId shard : shards) {
			Offset offset = new Offset("of-" + shard);
			this.store.acquireNow(shard, OLD);
			commit(shard, OLD, Commit.of(CommitNumber.ofWhole(++this.attempts), offset, Map.of()));
			offsets.put(shard, offset);
		}

		assertThat(this.store.offsets(shards)).isEqualTo(offsets);
	}

	@Test
	void offsetsAreReadForManyShards() {
		List<ShardId> shards = IntStream.range(0, 700).mapToObj((i) -> ShardId.of("many", i)).toList();
		Map<ShardId, Offset> offsets = new HashMap<>();
		for (int i = 0; i < shards.size(); i += 2) {
			this.store.acquireNow(shards.get(i), OLD);
			if (i % 3 != 0) {
				commit(shards.get(i), OLD,
						Commit.of(CommitNumber.ofWhole(++this.attempts), new Offset(i + "-0"), Map.of()));
				offsets.put(shards.get(i), new Offset(i + "-0"));
			}
		}

		assertThat(this.store.offsets(shards)).isEqualTo(offsets);
		assertThat(this.store.offsets(List.of())).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "with space", "two\nlines\r\n", "{braces}", "pipe|and:colon", "quote\"'\\",
			"\u0000", "Grüße 世界", "\uD83D\uDE80", "%s", "fence", "offset", "committed" })
	void anyTextIsAKeyAndAValue(String text) {
		acquire(OLD);

		assertThat(commit(OLD, "1-0", Map.of(text, text))).isEqualTo(CommitReply.COMMITTED);
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("1-0"), Map.of(text, text)));
		assertThat(acquire(OLD).state()).isEqualTo(Map.of(text, text));

		commit(OLD, null, change(text, null));
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("1-0"), Map.of()));
	}

	@Test
	void offsetCanBeAnyText() {
		acquire(OLD);

		for (String offset : List.of("0", " ", "1.5e9", "{\"part\": 3}", "世界|\n")) {
			commit(OLD, offset, Map.of());
			assertThat(this.store.read(SHARD).offset()).isEqualTo(new Offset(offset));
			assertThat(this.store.offsets(List.of(SHARD))).isEqualTo(Map.of(SHARD, new Offset(offset)));
		}
	}

	@Test
	void valueCanBeLarge() {
		acquire(OLD);
		String large = "0123456789abcdeü".repeat(200_000);

		commit(OLD, "1-0", Map.of("large", large));

		assertThat(this.store.read(SHARD).state().get("large").equals(large)).isTrue();
	}

	@Test
	void manyChangesAreOneCommit() {
		acquire(OLD);
		Map<String, String> puts = new HashMap<>();
		IntStream.range(0, 5_000).forEach((i) -> puts.put("key-" + i, "value-" + i));
		assertThat(commit(OLD, "1-0", puts)).isEqualTo(CommitReply.COMMITTED);
		assertThat(acquire(OLD).state()).isEqualTo(puts);

		Map<String, String> mixed = new HashMap<>();
		IntStream.range(0, 4_999).forEach((i) -> mixed.put("key-" + i, (i % 2 == 0) ? null : "changed-" + i));
		mixed.put("key-new", "new");
		assertThat(commit(OLD, "2-0", mixed)).isEqualTo(CommitReply.COMMITTED);

		puts.putAll(mixed);
		puts.values().removeIf((value) -> value == null);
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("2-0"), puts));

		acquire(NEW);
		assertThat(commit(OLD, "3-0", mixed)).isEqualTo(CommitReply.STALE);
		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("2-0"), puts));
	}

	@Test
	void checkpointIsASnapshot() {
		acquire(OLD);
		commit(OLD, "1-0", Map.of("a", "1"));
		Checkpoint before = this.store.read(SHARD);
		Checkpoint acquired = acquire(OLD);

		commit(OLD, "2-0", change("a", null, "b", "2"));

		assertThat(before).isEqualTo(new Checkpoint(new Offset("1-0"), Map.of("a", "1"))).isEqualTo(acquired);
	}

	@Test
	void onlyTheNewestOfManyOwnersWrites() {
		List<Token> tokens = new ArrayList<>();
		IntStream.range(0, 64).forEach((i) -> tokens.add(new Token(OLD.value() + i)));

		Concurrently.map(tokens, (token) -> {
			if (this.store.acquireNow(SHARD, token) instanceof Acquisition.Acquired) {
				commit(token, token + "-0", Map.of("owner", token.toString()));
			}
			return token;
		});

		Token newest = tokens.get(tokens.size() - 1);
		assertThat(this.store.read(SHARD))
			.isEqualTo(new Checkpoint(new Offset(newest + "-0"), Map.of("owner", newest.toString())));
	}

	@Test
	@Promise("State exactly once")
	void newOwnerSeesAllWritesOfTheOldOne() {
		for (int i = 0; i < 200; i++) {
			ShardId shard = ShardId.of("raced", i);
			this.store.acquireNow(shard, OLD);
			CompletableFuture<Void> begun = new CompletableFuture<>();
			CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> {
				for (int n = 0; commitBoth(shard, OLD, n) == CommitReply.COMMITTED; n++) {
					begun.complete(null);
				}
			});
			begun.join();

			Checkpoint seen = ((Acquisition.Acquired) this.store.acquireNow(shard, NEW)).checkpoint();

			ended.join();
			assertThat(this.store.read(shard)).isEqualTo(seen);
			assertThat(seen.offset()).isEqualTo(new Offset(seen.state().get("n")));
		}
	}

	private CommitReply commitBoth(ShardId shard, Token token, int n) {
		String text = Integer.toString(n);
		return commit(shard, token,
				Commit.of(CommitNumber.ofWhole(++this.attempts), new Offset(text), Map.of("n", text)));
	}

	private Checkpoint acquire(Token token) {
		Acquisition acquisition = this.store.acquireNow(SHARD, token);
		assertThat(acquisition).isInstanceOf(Acquisition.Acquired.class);
		return ((Acquisition.Acquired) acquisition).checkpoint();
	}

	private CommitReply commit(Token token, String offset, Map<String, String> changes) {
		return commit(SHARD, token, Commit.of(CommitNumber.ofWhole(++this.attempts),
				(offset != null) ? new Offset(offset) : null, changes));
	}

	private CommitReply commit(ShardId shard, Token token, Commit commit) {
		return this.store.commit(shard, token, commit).orTimeout(1, TimeUnit.MINUTES).join();
	}

	/** A map that takes {@code null} values, which {@link Map#of} does not. */
	private static Map<String, String> change(String... keysAndValues) {
		Map<String, String> changes = new HashMap<>();
		for (int i = 0; i < keysAndValues.length; i += 2) {
			changes.put(keysAndValues[i], keysAndValues[i + 1]);
		}
		return changes;
	}

}
