package io.github.shardkeeper.worker.retry;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Commit.Retry;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.record.BufferBudget;

import static org.assertj.core.api.Assertions.assertThat;

/** An owner's view of the queue while letters are sent back into it. */
class RetryQueueTests {

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(7);

	private static final MonotonicTime NOW = new MonotonicTime(0);

	private static final MonotonicTime LATER = NOW.plus(Duration.ofSeconds(1));

	private final MemoryCheckpointStore store = new MemoryCheckpointStore();

	private final DeadLetterStore letters = new MemoryDeadLetterStore(this.store);

	private final BufferBudget budget = new BufferBudget(64_000_000);

	private final RetryQueue queue = new DueQueue(SHARD, this.store, this.budget, NOW);

	private int commits;

	@BeforeEach
	void acquire() {
		this.store.acquireNow(SHARD, TOKEN);
	}

	@Test
	void recordSentBackIsFoundAfterANotification() {
		assertThat(this.queue.next(NOW)).isNull();
		assertThat(this.queue.isEmpty()).isTrue();
		bury("1");
		sendBack();
		assertThat(this.queue.next(LATER)).as("not notified").isNull();

		this.queue.attend(LATER);

		assertThat(offset(this.queue.next(LATER))).isEqualTo("1");
		assertThat(this.queue.next(LATER)).isNull();
		this.queue.committed(Set.of(new Offset("1")), List.of(), LATER);
		assertThat(this.queue.nextLook()).as("idle").isNull();
	}

	/** Its commit is written but not answered, and the letter is sent back. */
	@Test
	void recordSentBackBeforeTheAnswerToItsCommitIsFoundAfterIt() {
		retry("1");
		assertThat(offset(this.queue.next(NOW))).isEqualTo("1");
		bury("1");
		sendBack();
		this.queue.attend(NOW);
		assertThat(this.queue.next(NOW)).as("not known to be dead yet").isNull();

		this.queue.committed(Set.of(new Offset("1")), List.of(), LATER);

		assertThat(offset(this.queue.next(LATER))).isEqualTo("1");
		this.queue.committed(Set.of(new Offset("1")), List.of(), LATER);
		assertThat(this.queue.next(LATER)).as("open when it was looked for").isNull();
	}

	@Test
	void storeIsAskedUntilNoRecordIsOpen() {
		retry("1", "2");
		assertThat(List.of(offset(this.queue.next(NOW)), offset(this.queue.next(NOW)))).containsExactly("1", "2");
		bury("2");
		sendBack();
		this.queue.attend(NOW);

		retry("1");
		this.queue.committed(Set.of(new Offset("1")), List.of(), NOW);
		assertThat(offset(this.queue.next(NOW))).isEqualTo("1");
		this.queue.committed(Set.of(new Offset("2")), List.of(), NOW);

		assertThat(offset(this.queue.next(NOW))).isEqualTo("2");
	}

	/** With many shards, each may have little at a time; it is fetched all the same. */
	@Test
	void dueRecordsAreFetchedInPortionsWhileOthersAreOpen() {
		RetryQueue careful = new DueQueue(SHARD, this.store, new BufferBudget(1), NOW);
		retry("1", "2", "3");

		assertThat(offset(careful.next(NOW))).isEqualTo("1");
		assertThat(careful.nextLook()).as("there is more").isEqualTo(NOW);
		assertThat(offset(careful.next(NOW))).isEqualTo("2");
		bury("1");
		careful.committed(Set.of(new Offset("1")), List.of(), NOW);
		assertThat(offset(careful.next(NOW))).isEqualTo("3");
		assertThat(careful.next(NOW)).isNull();
		assertThat(careful.nextLook()).isNull();
	}

	private void retry(String... offsets) {
		commit(List.of(offsets).stream().map((offset) -> new Retry(record(offset), Duration.ZERO)).toList(), Set.of(),
				List.of());
	}

	private void bury(String offset) {
		commit(List.of(), Set.of(new Offset(offset)), List.of(record(offset)));
	}

	private void commit(List<Retry> retries, Set<Offset> taken, List<FailedRecord> dead) {
		this.store.commit(SHARD, TOKEN,
				new Commit(CommitNumber.ofWhole(++this.commits), null, Set.of(), Map.of(), retries, taken, dead));
	}

	private void sendBack() {
		assertThat(this.letters.sendBack(SHARD, this.letters.list(SHARD, null, 10))).isPositive();
	}

	private static FailedRecord record(String offset) {
		return new FailedRecord(new Offset(offset), null, new byte[0], Map.of(), Instant.EPOCH, 1, 0, "e", "s",
				Instant.EPOCH);
	}

	private static String offset(FailedRecord record) {
		return (record != null) ? record.offset().value() : null;
	}

}
