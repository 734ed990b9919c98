package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.coordination.CommitNumber;
import io.github.shardkeeper.coordination.FailedRecord;
import io.github.shardkeeper.coordination.memory.MemoryCheckpointStore;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

class RetryQueueTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(1);

	private static final MonotonicTime NOW = new MonotonicTime(0);

	private final MemoryCheckpointStore store = new MemoryCheckpointStore();

	private final RetryQueue queue = new RetryQueue(SHARD, this.store, NOW);

	private final FailedRecord record = FailedRecord.of(new Offset("7"), null, new byte[0], Map.of(), Instant.EPOCH, 1,
			1, new IllegalStateException("as the test wants it"), Instant.EPOCH);

	private int commits;

	@BeforeEach
	void park() {
		this.store.acquire(SHARD, TOKEN);
		commit(List.of(new Commit.Retry(this.record, Duration.ZERO)), Set.of());
	}

	private void commit(List<Commit.Retry> retries, Set<Offset> taken) {
		this.store.commit(SHARD, TOKEN,
				new Commit(CommitNumber.ofWhole(++this.commits), null, Set.of(), Map.of(), retries, taken, List.of()));
	}

	@Test
	void whatIsFetchedIsNotFetchedAgainBeforeItIsSettled() {
		assertThat(this.queue.next(NOW)).isEqualTo(this.record);
		this.queue.lookAt(NOW);
		assertThat(this.queue.next(NOW)).isNull();
		assertThat(this.queue.isEmpty()).isFalse();

		commit(List.of(), Set.of(this.record.offset()));
		this.queue.committed(Set.of(this.record.offset()), NOW);
		assertThat(this.queue.next(NOW)).isNull();
		assertThat(this.queue.isEmpty()).isTrue();
		assertThat(this.queue.nextLook()).isNull();
	}

	@Test
	void whatIsSentBackBeforeTheAnswerToItsCommitIsFound() {
		this.queue.next(NOW);
		commit(List.of(), Set.of(this.record.offset()));
		commit(List.of(new Commit.Retry(this.record, Duration.ZERO)), Set.of());
		this.queue.lookAt(NOW);
		assertThat(this.queue.next(NOW)).as("as far as this instance knows it is open").isNull();

		this.queue.committed(Set.of(this.record.offset()), NOW);
		assertThat(this.queue.next(NOW)).isEqualTo(this.record);
	}

	/** It may have been fetched before that answer, and is open then. */
	@Test
	void theAnswerToTheCommitThatPutsARecordThereSettlesNothing() {
		PendingCommit first = new PendingCommit();
		first.park(this.record, Duration.ZERO, false);
		assertThat(first.settled()).isEmpty();
		PendingCommit again = new PendingCommit();
		again.park(this.record, Duration.ZERO, true);
		assertThat(again.settled()).containsExactly(this.record.offset());
		assertThat(first.after(again).settled()).containsExactly(this.record.offset());
	}

}
