package io.github.shardkeeper.checkpoint;

import java.util.Map;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of commit histories for every store that several instances share. A subclass
 * supplies stores.
 */
@Promise("State exactly once")
public abstract class CommitHistoryContract {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	/** As large as real tokens, so that a store that rounds them fails. */
	private static final Token OLD = new Token(1_767_225_600_123_456L);

	private static final Token NEW = new Token(OLD.value() + 1);

	private static final Token NEWEST = new Token(OLD.value() + 2);

	private CheckpointStore store;

	/**
	 * Creates a store for a group that never existed before.
	 * @return the store, which the contract closes
	 */
	protected abstract CheckpointStore createStore();

	@BeforeEach
	protected final void openStore() {
		this.store = createStore();
	}

	@AfterEach
	protected final void closeStore() {
		this.store.close();
	}

	@Test
	void acquisitionReturnsTheLastCommitBeforeIt() {
		assertThat(before(OLD)).isEqualTo(LastCommit.NONE);
		commit(OLD, 1, "5-0");
		commit(OLD, 7, "6-0");
		assertThat(before(OLD)).as("under the same token").isEqualTo(LastCommit.NONE);
		assertThat(before(NEW)).isEqualTo(new LastCommit(OLD, 7));
		commit(NEW, 3, "7-0");
		assertThat(before(NEW)).isEqualTo(new LastCommit(OLD, 7));
		assertThat(before(NEWEST)).isEqualTo(new LastCommit(NEW, 3));
	}

	@Test
	void historyHasTheLastTwoOwners() {
		assertThat(this.store.commits(SHARD)).isEqualTo(new CommitHistory(null, LastCommit.NONE, null));
		before(OLD);
		commit(OLD, 2, "5-0");
		assertThat(this.store.commits(SHARD))
			.isEqualTo(new CommitHistory(new Offset("5-0"), new LastCommit(OLD, 2), LastCommit.NONE));
		before(NEW);
		assertThat(this.store.commits(SHARD))
			.isEqualTo(new CommitHistory(new Offset("5-0"), new LastCommit(NEW, 0), new LastCommit(OLD, 2)));
	}

	@Test
	void lostCommitIsNotPartOfTheHistory() {
		CommitHistory history = new CommitHistory(null, new LastCommit(NEWEST, 4), new LastCommit(NEW, 2));
		assertThat(history.lacks(new LastCommit(NEWEST, 4))).isFalse();
		assertThat(history.lacks(new LastCommit(NEWEST, 5))).isTrue();
		assertThat(history.lacks(new LastCommit(new Token(NEWEST.value() + 1), 1))).isTrue();
		assertThat(history.lacks(new LastCommit(NEW, 2))).isFalse();
		assertThat(history.lacks(new LastCommit(NEW, 3))).isTrue();
		assertThat(history.lacks(new LastCommit(OLD, 9))).as("nobody knows").isFalse();
		CommitHistory ofTwo = new CommitHistory(null, new LastCommit(NEWEST, 4), new LastCommit(OLD, 2));
		assertThat(ofTwo.lacks(new LastCommit(NEW, 1))).as("never acquired").isTrue();
		assertThat(new CommitHistory(null, new LastCommit(NEWEST, 4), null).lacks(new LastCommit(NEW, 1)))
			.as("nobody knows")
			.isFalse();
	}

	private LastCommit before(Token token) {
		return ((Acquisition.Acquired) this.store.acquireNow(SHARD, token)).before();
	}

	private void commit(Token token, long number, String offset) {
		assertThat(this.store
			.commit(SHARD, token, Commit.of(CommitNumber.ofWhole(number), new Offset(offset), Map.of("n", "1")))
			.join()).isEqualTo(CommitReply.COMMITTED);
	}

}
