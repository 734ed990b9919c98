package io.github.shardkeeper.checkpoint;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitBasis;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.CheckpointStore.ExpiredKeys;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of states that their owners read by entry, which every {@link CheckpointStore}
 * must pass that can do that.
 */
@Promise("State exactly once")
public abstract class OwnedStateContract extends ServedCheckpoints {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 1);

	@Test
	void acquisitionCanLeaveTheStateOut() {
		long acquisition = acquire(OLD).acquisition();
		commit(OLD, 1, 0, acquisition, Map.of("a", "1"));

		Acquisition.Acquired next = acquire(NEW);

		assertThat(this.store.readsStateOnUse("orders")).isTrue();
		assertThat(next.checkpoint()).isEqualTo(new Checkpoint(new Offset("1"), Map.of()));
		assertThat(next.before()).isEqualTo(new CommitHistory.LastCommit(OLD, 1));
		assertThat(this.store.acquireWithoutState(SHARD, OLD).join()).isEqualTo(new Acquisition.Refused(NEW));
		assertThat(read(NEW, 0, next.acquisition(), "a")).isEqualTo(Map.of("a", "1"));
		assertThat(this.store.read(SHARD).state()).isEqualTo(Map.of("a", "1"));
	}

	@Test
	void entriesAreReadByTheirKeys() {
		long acquisition = acquire(OLD).acquisition();
		commit(OLD, 1, 0, acquisition, Map.of("a", "1", "ünï", "[\"世界\"]", "fence", "2"));

		assertThat(read(OLD, 1, acquisition, "ünï", "none", "a", "a")).isEqualTo(Map.of("a", "1", "ünï", "[\"世界\"]"));
		assertThat(read(OLD, 1, acquisition)).isEmpty();
		assertThat(read(OLD, 1, acquisition, "offset", "token")).isEmpty();
	}

	@Test
	void manyEntriesAndTheirKeysAreRead() {
		long acquisition = acquire(OLD).acquisition();
		Map<String, String> entries = new HashMap<>();
		IntStream.range(0, 2_500).forEach((i) -> entries.put("key-" + i, "\"value-" + i + "\""));
		commit(OLD, 1, 0, acquisition, entries);

		assertThat(this.store.ownedEntries(SHARD, new CommitBasis(OLD, 1, acquisition), entries.keySet()))
			.isEqualTo(entries);
		CommitBasis basis = new CommitBasis(OLD, 1, acquisition);
		assertThat(this.store.ownedKeys(SHARD, basis, "", 0)).isEqualTo(entries.keySet());
		assertThat(this.store.ownedKeys(SHARD, basis, "key-249", 0)).containsExactlyInAnyOrder("key-249", "key-2490",
				"key-2491", "key-2492", "key-2493", "key-2494", "key-2495", "key-2496", "key-2497", "key-2498",
				"key-2499");
		assertThat(this.store.ownedKeys(SHARD, basis, "ey-", 0)).isEmpty();
		assertThat(this.store.stateEntries(SHARD, List.of("key-7", "none"))).isEqualTo(Map.of("key-7", "\"value-7\""));
	}

	@Test
	void keysOfExpiredValuesAreLeftOut() {
		long acquisition = acquire(OLD).acquisition();
		commit(OLD, 1, 0, acquisition,
				Map.of("a", "1", "b", "@1764435600000 2", "c", "@1764435600001 {}", "d", "\"@1 \"", "ünï%", "5"));
		CommitBasis basis = new CommitBasis(OLD, 1, acquisition);

		assertThat(this.store.ownedKeys(SHARD, basis, "", 1764435600000L)).containsExactlyInAnyOrder("a", "c", "d",
				"ünï%");
		assertThat(this.store.ownedKeys(SHARD, basis, "b", 1764435600000L)).isEmpty();
		assertThat(this.store.ownedKeys(SHARD, basis, "ünï%", 0)).containsExactly("ünï%");
		assertThat(this.store.ownedKeys(SHARD, basis, "%", 0)).isEmpty();
	}

	@Test
	void expiredValuesAreFoundPartByPart() {
		long acquisition = acquire(OLD).acquisition();
		Map<String, String> entries = new HashMap<>();
		IntStream.range(0, 1_500).forEach((i) -> entries.put("key-" + i, "@" + (1_764_435_600_000L + i) + " 1"));
		commit(OLD, 1, 0, acquisition, entries);

		Set<String> expired = new HashSet<>();
		String after = null;
		do {
			ExpiredKeys part = this.store.expiredKeys(SHARD, new CommitBasis(OLD, 1, acquisition), after,
					1_764_435_600_000L + 999);
			expired.addAll(part.keys());
			after = part.next();
		}
		while (after != null);
		assertThat(expired)
			.isEqualTo(IntStream.range(0, 1_000).mapToObj((i) -> "key-" + i).collect(Collectors.toSet()));
		assertThat(this.store.expiredKeys(SHARD, new CommitBasis(OLD, 2, acquisition), null, 0)).isNull();
	}

	@Test
	void commitWithoutAReplyIsSeen() {
		long acquisition = acquire(OLD).acquisition();
		commit(OLD, 1, 0, acquisition, Map.of("a", "1"));

		assertThat(read(OLD, 0, acquisition, "a")).isEqualTo(Map.of("a", "1"));
	}

	@Test
	void earlierOwnerReadsNothing() {
		long acquisition = acquire(OLD).acquisition();
		commit(OLD, 1, 0, acquisition, Map.of("a", "1"));
		acquire(NEW);

		assertThat(read(OLD, 1, acquisition, "a")).isNull();
		assertThat(this.store.ownedKeys(SHARD, new CommitBasis(OLD, 1, acquisition), "", 0)).isNull();
	}

	@Test
	void ownerWhoseCommitIsLostReadsNothing() {
		long acquisition = acquire(OLD).acquisition();
		commit(OLD, 1, 0, acquisition, Map.of("a", "1"));
		Object before = this.server.snapshot();
		commit(OLD, 2, 1, acquisition, Map.of("a", "2"));
		this.server.loseWritesSince(before);

		assertThat(read(OLD, 2, acquisition, "a")).isNull();
		assertThat(read(OLD, 2, acquisition)).isNull();
		assertThat(this.store.ownedKeys(SHARD, new CommitBasis(OLD, 2, acquisition), "", 0)).isNull();
		assertThat(read(OLD, 1, acquisition, "a")).as("an owner that has not committed since").isNotNull();
	}

	@Test
	void ownerWhoseAcquisitionIsLostReadsNothing() {
		acquire(OLD);
		Object before = this.server.snapshot();
		long acquisition = acquire(NEW).acquisition();
		this.server.loseWritesSince(before);
		assertThat(read(NEW, 0, acquisition, "a")).isNull();

		this.server.advance(Duration.ofMillis(10));
		long late = acquire(NEW).acquisition();

		assertThat(late).isNotEqualTo(acquisition);
		assertThat(read(NEW, 0, acquisition, "a")).as("acquired again by a late repetition").isNull();
		assertThat(read(NEW, 0, late, "a")).isEmpty();
		this.server.empty();
		assertThat(read(NEW, 0, late, "a")).isNull();
	}

	/**
	 * A late commit of an earlier worker under the same token changes entries that this
	 * owner may have read before or after it.
	 */
	@Test
	void ownerCommitsNothingAfterACommitThatItDoesNotKnow() {
		long acquisition = acquire(OLD).acquisition();
		assertThat(commit(OLD, 5, 0, acquisition, Map.of("a", "1"))).isEqualTo(CommitReply.COMMITTED);

		assertThat(commit(OLD, 1001, 0, acquisition, Map.of("a", "2"))).isEqualTo(CommitReply.STALE);
		assertThat(commit(OLD, 1001, 5, acquisition, Map.of("a", "2"))).isEqualTo(CommitReply.COMMITTED);
	}

	@Test
	void commitCanRemoveAllEntriesThatItDoesNotPut() {
		long acquisition = acquire(OLD).acquisition();
		commit(OLD, 1, 0, acquisition, Map.of("a", "1", "b", "1"));
		SeekRequest keeps = this.store.seek(SHARD, new Offset("0"), false);
		commit(OLD, seeking(new CommitNumber(2, 1, acquisition), Map.of("b", "2"), keeps));
		assertThat(this.store.read(SHARD).state()).isEqualTo(Map.of("a", "1", "b", "2"));

		SeekRequest clears = this.store.seek(SHARD, new Offset("0"), true);
		commit(OLD, 3, 2, acquisition, Map.of("c", "3"));
		assertThat(this.store.read(SHARD).state()).as("not carried out").hasSize(3);
		this.store.seek(SHARD, new Offset("0"), false);
		commit(OLD, clearing(new CommitNumber(4, 3, acquisition), Map.of("b", "4"), clears));

		assertThat(this.store.read(SHARD)).isEqualTo(new Checkpoint(new Offset("4"), Map.of("b", "4")));
		assertThat(read(OLD, 4, acquisition, "a", "b")).isEqualTo(Map.of("b", "4"));
		assertThat(this.store.seeks(List.of(SHARD)).get(SHARD).pending()).as("a later one").isNotNull();
		commit(OLD, 5, 4, acquisition, Map.of("c", "5"));
		assertThat(this.store.read(SHARD).state()).isEqualTo(Map.of("b", "4", "c", "5"));
	}

	private static Commit clearing(CommitNumber number, Map<String, String> changes, SeekRequest seek) {
		return new Commit.Builder(number, new Offset(Long.toString(number.attempt())), Set.of()).changes(changes)
			.seek(seek.number())
			.clearState()
			.build();
	}

	private static Commit seeking(CommitNumber number, Map<String, String> changes, SeekRequest seek) {
		return new Commit.Builder(number, new Offset(Long.toString(number.attempt())), Set.of()).changes(changes)
			.seek(seek.number())
			.build();
	}

	private Acquisition.Acquired acquire(Token token) {
		return (Acquisition.Acquired) this.store.acquireWithoutState(SHARD, token).join();
	}

	private CommitReply commit(Token token, long number, long acknowledged, long acquisition,
			Map<String, String> changes) {
		return commit(token, Commit.of(new CommitNumber(number, acknowledged, acquisition),
				new Offset(Long.toString(number)), new HashMap<>(changes)));
	}

	private CommitReply commit(Token token, Commit commit) {
		return this.store.commit(SHARD, token, commit).orTimeout(1, TimeUnit.MINUTES).join();
	}

	private Map<String, String> read(Token token, long acknowledged, long acquisition, String... keys) {
		return this.store.ownedEntries(SHARD, new CommitBasis(token, acknowledged, acquisition), List.of(keys));
	}

}
