package io.github.shardkeeper.operations.stored;

import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.ShardPositions.Progress;
import io.github.shardkeeper.ShardPositions.Seek;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.worker.FaultyCheckpoints;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;

/**
 * Requests for positions, before an owner applies them.
 */
class StoredShardPositionsTests {

	private static final ShardId FIRST = ShardId.of("orders", 0);

	private static final ShardId SECOND = ShardId.of("orders", 1);

	private static final Token TOKEN = new Token(10);

	private final FaultyCheckpoints checkpoints = new FaultyCheckpoints();

	private final MemoryStreamSource source = new MemoryStreamSource(Map.of("orders", 2));

	private final StoredShardPositions positions = new StoredShardPositions(this.checkpoints,
			new MemoryCoordinationStore()::notifyOwners, SourceRegistry.of(this.source));

	@Test
	void everyShardOfATopicIsRequested() {
		Seek seek = this.positions.reset("orders", StartPosition.from(new Offset("8")));

		assertThat(seek.requests()).containsOnlyKeys(FIRST, SECOND);
		assertThat(pending(FIRST)).isEqualTo(new SeekRequest(seek.requests().get(FIRST), new Offset("7"), true));
		assertThat(pending(SECOND)).isEqualTo(new SeekRequest(seek.requests().get(SECOND), new Offset("7"), true));
	}

	@Test
	void singleShardIsRequested() {
		Seek seek = this.positions.seek(SECOND, StartPosition.EARLIEST);

		assertThat(seek.requests()).containsOnlyKeys(SECOND);
		assertThat(pending(SECOND)).isEqualTo(new SeekRequest(seek.requests().get(SECOND), new Offset("0"), false));
		assertThat(pending(FIRST)).isNull();
	}

	@Test
	void completedShardIsReportedAndOthersAreRequested() {
		this.checkpoints.acquireNow(FIRST, TOKEN);
		this.checkpoints.complete(FIRST, TOKEN, 0, 0);

		assertThat(this.positions.seek(FIRST, StartPosition.EARLIEST)).isEqualTo(new Seek(Map.of(), Set.of(FIRST)));
		Seek seek = this.positions.seek("orders", StartPosition.EARLIEST);
		assertThat(seek.requests()).containsOnlyKeys(SECOND);
		assertThat(seek.completedShards()).containsExactly(FIRST);
	}

	@Test
	void progressOfARequestIsReported() {
		this.checkpoints.acquireNow(FIRST, TOKEN);
		Object before = this.checkpoints.snapshot();
		Seek first = this.positions.seek(FIRST, StartPosition.EARLIEST);
		assertThat(this.positions.progress(first)).containsExactly(Map.entry(FIRST, Progress.PENDING));
		Seek second = this.positions.seek("orders", StartPosition.EARLIEST);
		assertThat(this.positions.progress(first)).containsExactly(Map.entry(FIRST, Progress.REPLACED));
		carryOut(second.requests().get(FIRST));

		assertThat(this.positions.progress(second)).containsExactly(Map.entry(FIRST, Progress.APPLIED),
				Map.entry(SECOND, Progress.PENDING));
		assertThat(this.positions.progress(first)).containsExactly(Map.entry(FIRST, Progress.REPLACED));
		this.checkpoints.loseWritesSince(before);
		assertThat(this.positions.progress(second)).containsExactly(Map.entry(FIRST, Progress.LOST),
				Map.entry(SECOND, Progress.LOST));
	}

	private void carryOut(long number) {
		this.checkpoints.commit(FIRST, TOKEN, new Commit(CommitNumber.ofWhole(1), new Offset("0"), Set.of(), Map.of(),
				List.of(), Set.of(), List.of(), number));
	}

	@Test
	void invalidRequestIsRejectedAndNothingIsStored() {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class)
			.isThrownBy(() -> this.positions.seek("order", StartPosition.EARLIEST))
			.withMessageContaining("order");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.positions.reset(ShardId.of("orders", 2), StartPosition.EARLIEST))
			.withMessageContaining("There is no shard orders/2; the topic has orders/0 to orders/1");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.positions.seek("orders", StartPosition.from(new Offset("soon"))))
			.withMessageContaining("soon");
		assertThat(pending(FIRST)).isNull();
	}

	@Test
	void requestIsStoredIfOwnersCannotBeNotified() {
		CoordinationStore away = mock(CoordinationStore.class);
		willThrow(new StoreUnavailableException("caused by the test", new IllegalStateException())).given(away)
			.notifyOwners(Set.of(FIRST));
		StoredShardPositions silent = new StoredShardPositions(this.checkpoints, away::notifyOwners,
				SourceRegistry.of(this.source));

		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> silent.seek(FIRST, StartPosition.EARLIEST));
		assertThat(pending(FIRST)).isNotNull();
	}

	private SeekRequest pending(ShardId shard) {
		return this.checkpoints.seeks(List.of(shard)).get(shard).pending();
	}

}
