package io.github.shardkeeper.operations.housekeeping;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.checkpoint.TopicGroups.Copy;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.anyCollection;
import static org.mockito.ArgumentMatchers.anyMap;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;

class OffsetCopiesTests {

	private static final ShardId ONE = ShardId.of("orders", 1);

	private static final ShardId TWO = ShardId.of("orders", 2);

	private static final ShardId OTHER = ShardId.of("visits", 1);

	private final SettableClock clock = new SettableClock();

	private final Set<ShardId> owned = new TreeSet<>(Set.of(ONE, OTHER));

	private final Map<ShardId, Offset> committed = new HashMap<>();

	private LastCommit commit = new LastCommit(new Token(7), 3);

	private final CheckpointStore database = mock(CheckpointStore.class);

	private final TopicGroups groups = mock(TopicGroups.class);

	private final List<Map<ShardId, Offset>> copied = new ArrayList<>();

	private final OffsetCopies copies = new OffsetCopies("orders"::equals, () -> this.owned, this.database, this.groups,
			new MemberRuntime(this.clock, mock(Loops.class), new Random(1)), 0);

	@BeforeEach
	void reply() {
		given(this.database.commits(anyCollection())).willAnswer((call) -> {
			Map<ShardId, CommitHistory> found = new HashMap<>();
			call.<Set<ShardId>>getArgument(0)
				.forEach((shard) -> found.put(shard, new CommitHistory(this.committed.get(shard), this.commit, null)));
			return found;
		});
		record();
		for (ShardId shard : List.of(ONE, TWO, OTHER)) {
			this.committed.put(shard, new Offset("5"));
		}
	}

	private void record() {
		willAnswer((call) -> {
			Map<ShardId, Offset> offsets = new HashMap<>();
			call.<Map<ShardId, Copy>>getArgument(0).forEach((shard, copy) -> {
				assertThat(copy).isEqualTo(new Copy(copy.offset(), this.commit.token(), this.commit.number()));
				offsets.put(shard, copy.offset());
			});
			return this.copied.add(offsets);
		}).given(this.groups).copyOffsets(anyMap());
	}

	@Test
	void ownedShardsOfTheTopicAreCopiedWhenTheirOffsetsChange() {
		assertThat(step()).isEqualTo(this.clock.now().plus(OffsetCopies.INTERVAL));
		step();
		this.owned.add(TWO);
		step();
		this.committed.put(ONE, new Offset("9"));
		step();

		assertThat(this.copied).containsExactly(Map.of(ONE, new Offset("5")), Map.of(TWO, new Offset("5")),
				Map.of(ONE, new Offset("9")));
	}

	/** Another owner may have copied another offset meanwhile. */
	@Test
	void shardThatComesBackIsCopiedAgain() {
		step();
		this.owned.remove(ONE);
		step();
		this.owned.add(ONE);
		step();

		assertThat(this.copied).containsExactly(Map.of(ONE, new Offset("5")), Map.of(ONE, new Offset("5")));
	}

	/** The acquisition has removed the copy; one that came too early was ignored. */
	@Test
	void shardThatIsAcquiredAgainIsCopiedAgain() {
		step();
		this.commit = new LastCommit(new Token(8), 0);
		step();

		assertThat(this.copied).containsExactly(Map.of(ONE, new Offset("5")), Map.of(ONE, new Offset("5")));
	}

	@Test
	void refusedCopyIsRepeated() {
		willThrow(new StoreUnavailableException("full, caused by the test", null, true)).given(this.groups)
			.copyOffsets(anyMap());
		assertThat(step()).isLessThan(this.clock.now().plus(OffsetCopies.INTERVAL));
		record();
		step();

		assertThat(this.copied).containsExactly(Map.of(ONE, new Offset("5")));
	}

	private MonotonicTime step() {
		return this.copies.step();
	}

}
