package io.github.shardkeeper.benchmarks.memory;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Only commits that were made have a time, and the others are not forgotten.
 */
class TimedStoreTests {

	private final TimedStore timed = new TimedStore();

	@Test
	void commitsThatWereMadeHaveATime() {
		commit(CompletableFuture.completedFuture(CommitReply.COMMITTED));
		this.timed.count(true);
		commit(CompletableFuture.completedFuture(CommitReply.COMMITTED));
		commit(CompletableFuture.completedFuture(CommitReply.COMMITTED));
		this.timed.count(false);
		commit(CompletableFuture.completedFuture(CommitReply.STALE));

		assertThat(this.timed.millis().values()).hasSize(2);
		assertThatCode(this.timed::verify).doesNotThrowAnyException();
	}

	@Test
	void commitsWithoutAnAnswerAndRefusedOnesFailTheRun() {
		this.timed.count(true);
		commit(CompletableFuture.completedFuture(CommitReply.COMMITTED));
		commit(CompletableFuture.completedFuture(CommitReply.GONE));
		commit(CompletableFuture.failedFuture(new StoreUnavailableException("no answer", null)));

		assertThat(this.timed.millis().values()).hasSize(1);
		assertThatIllegalStateException().isThrownBy(this.timed::verify)
			.withMessage("2 of 3 commits failed, the first with GONE");
	}

	private void commit(CompletableFuture<CommitReply> reply) {
		CheckpointStore store = (CheckpointStore) Proxy.newProxyInstance(CheckpointStore.class.getClassLoader(),
				new Class<?>[] { CheckpointStore.class }, (proxy, method, arguments) -> reply);
		this.timed.around(store)
			.commit(ShardId.of("busy", 0), new Token(1),
					Commit.of(new CommitNumber(1, 0, 0), new Offset("1-0"), Map.of("records", "1")));
	}

}
