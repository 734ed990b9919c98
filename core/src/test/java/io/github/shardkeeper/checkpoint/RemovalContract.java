package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.Removal;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of removal for every {@link CheckpointStore} that can remove a topic's data.
 */
public abstract class RemovalContract extends ServedCheckpoints {

	private static final ShardId FIRST = ShardId.of("old", 0);

	private static final ShardId SECOND = new ShardId("old", "spare");

	/** Topics whose names have a common prefix, or contain each other. */
	private static final List<ShardId> OTHERS = List.of(ShardId.of("old-2", 0), ShardId.of("ol", 0),
			ShardId.of("older", 0), ShardId.of("old.1", 0));

	private static final Token TOKEN = new Token(1_767_225_600_123_456L);

	private static final Token NEWER = new Token(TOKEN.value() + 1);

	private static final Token NEWEST = new Token(TOKEN.value() + 2);

	private DeadLetterStore letters;

	/** The dead letters of the same group. */
	protected abstract DeadLetterStore createLetters(StoreServer created);

	@BeforeEach
	protected final void openLetters() {
		this.letters = createLetters(this.server);
	}

	@AfterEach
	protected final void closeLetters() {
		this.letters.close();
	}

	@Test
	void topicIsRemovedCompletelyAndOthersStay() {
		fill(FIRST);
		fill(SECOND);
		OTHERS.forEach(this::fill);
		this.store.seek(FIRST, new Offset("9"), true);

		assertThat(this.store.remove("old", NEWER)).isEqualTo(removal(Set.of(FIRST, SECOND), Set.of()));

		for (ShardId shard : List.of(FIRST, SECOND)) {
			assertThat(this.store.read(shard)).isEqualTo(new Checkpoint(null, Map.of()));
			assertThat(this.store.seeks(List.of(shard))).containsValue(Seeks.NONE);
			assertThat(this.letters.countDeadLetters(List.of(shard))).containsValue(0L);
			assertThat(this.letters.countRetries(List.of(shard))).containsValue(0L);
		}
		for (ShardId shard : OTHERS) {
			assertThat(this.store.read(shard).state()).isEqualTo(Map.of("clicks", "1"));
			assertThat(this.letters.countDeadLetters(List.of(shard))).containsValue(1L);
		}
		assertThat(this.store.remove("old", NEWER)).as("again").isEqualTo(removal(Set.of(), Set.of()));
	}

	@Test
	@Promise("Nothing lost")
	void shardAcquiredSinceIsKept() {
		fill(FIRST);
		fill(SECOND);
		this.store.acquireNow(SECOND, NEWEST);
		Instant since = this.store.consumedSince("old");
		this.server.advance(Duration.ofSeconds(1));
		Checkpoint before = this.store.read(SECOND);

		assertThat(this.store.remove("old", NEWER)).isEqualTo(removal(Set.of(FIRST), Set.of(SECOND)));

		assertThat(this.store.read(SECOND)).isEqualTo(before);
		assertThat(this.letters.countDeadLetters(List.of(SECOND))).containsValue(1L);
		assertThat(this.store.consumedSince("old")).isEqualTo(since);
	}

	@Test
	void startOfConsumptionIsRemoved() {
		Instant since = this.store.consumedSince("old");
		Instant ofAnother = this.store.consumedSince("older");
		this.server.advance(Duration.ofSeconds(1));

		this.store.remove("old", NEWER);

		assertThat(this.store.consumedSince("old")).isEqualTo(since.plusSeconds(1));
		assertThat(this.store.consumedSince("older")).isEqualTo(ofAnother);
	}

	/** From a former owner that nobody had heard of for long. */
	@Test
	@Promise("No zombie writes")
	void lateCommitWritesNothing() {
		fill(FIRST);

		this.store.remove("old", NEWER);

		assertThat(
				this.store.commit(FIRST, TOKEN, Commit.of(new CommitNumber(2, 1, 0), new Offset("2"), Map.of())).join())
			.isEqualTo(CommitReply.GONE);
		assertThat(((Acquisition.Acquired) this.store.acquireNow(FIRST, NEWEST)).checkpoint())
			.isEqualTo(new Checkpoint(null, Map.of()));
	}

	@Test
	void manyShardsAreRemoved() {
		Set<ShardId> shards = new TreeSet<>();
		IntStream.range(0, 1_300).mapToObj((i) -> ShardId.of("old", i)).forEach(shards::add);
		shards.forEach((shard) -> this.store.acquireNow(shard, TOKEN));

		assertThat(this.store.remove("old", TOKEN)).isEqualTo(removal(shards, Set.of()));

		assertThat(this.store.remove("old", TOKEN).removed()).isEmpty();
	}

	/** Something of every kind. */
	private void fill(ShardId shard) {
		this.store.acquireNow(shard, TOKEN);
		Commit commit = new Commit(CommitNumber.ofWhole(1), new Offset("1"), Set.of(new Offset("5")),
				Map.of("clicks", "1"), List.of(new Commit.Retry(record("3"), Duration.ofHours(1))), Set.of(),
				List.of(record("2")));
		assertThat(this.store.commit(shard, TOKEN, commit).join()).isEqualTo(CommitReply.COMMITTED);
	}

	private static FailedRecord record(String offset) {
		return new FailedRecord(new Offset(offset), "k", new byte[] { 1 }, Map.of(), Instant.EPOCH, 3, 1, "e", "s",
				Instant.EPOCH);
	}

	private static Removal removal(Set<ShardId> removed, Set<ShardId> kept) {
		return new Removal(new TreeSet<>(removed), new TreeSet<>(kept));
	}

}
