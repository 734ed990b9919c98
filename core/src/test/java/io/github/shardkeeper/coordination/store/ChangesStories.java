package io.github.shardkeeper.coordination.store;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Changes of the whole group, read at once and in parts.
 */
interface ChangesStories extends GroupStories {

	@Test
	default void membersAreListedOnlyWhenTheirListChanged() {
		TestMember a = group().join("a").lead();
		long seen = group().all().membership();

		assertThat(group().store().readChanges(0, seen).members()).isNull();
		a.assign(FIRST, a);
		assertThat(group().store().readChanges(0, seen).members()).isNull();

		TestMember b = group().join("b");
		GroupChanges changes = group().store().readChanges(0, seen);
		assertThat(changes.members()).containsExactlyInAnyOrder(a.entry(false), b.entry(false));
		assertThat(changes.membership()).isEqualTo(a.beat().membership()).isNotEqualTo(seen);
		assertThat(group().store().readChanges(0, changes.membership()).members()).isNull();
	}

	@Test
	default void onlyLaterChangesAreReturned() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		a.assign(FIRST, a);
		a.assign(SECOND, b);
		long seen = group().all().generation();
		assertThat(group().store().readChanges(seen, -1).ownerships()).isEmpty();

		a.revoke(FIRST, b);
		a.assign(THIRD, b);
		a.release(FIRST);

		GroupChanges changes = group().store().readChanges(seen, -1);
		assertThat(changes.ownerships()).containsExactly(group().shard(THIRD), group().shard(FIRST));
		assertThat(changes.generation()).isEqualTo(group().shard(FIRST).generation());
		assertThat(changes.leader()).isEqualTo(a.id());
		assertThat(changes.epoch()).isEqualTo(a.epoch());
	}

	@Test
	default void everyShardIsReturnedOnceInTheOrderOfItsLastChange() {
		TestMember a = group().join("a").lead();
		a.assign(FIRST, a);
		a.assign(SECOND, a);
		a.assign(THIRD, a);
		a.revoke(FIRST, null);
		a.revoke(SECOND, null);
		a.release(FIRST);

		assertThat(group().all().ownerships()).extracting(Ownership::shard).containsExactly(THIRD, SECOND, FIRST);
		assertThat(group().all().ownerships()).extracting(Ownership::generation).containsExactly(3L, 5L, 6L);
	}

	@Test
	default void largeGroupIsReadCompletely() {
		TestMember a = group().join("a").lead();
		List<ShardId> shards = IntStream.range(0, 3_000).mapToObj((i) -> ShardId.of("many", i)).toList();
		a.plan(shards.stream().map((id) -> new Transition.Assign(id, 0, a.id())).toArray(Transition[]::new));

		GroupChanges all = group().all();

		assertThat(all.generation()).isEqualTo(3_000);
		assertThat(all.members()).containsExactly(a.entry(false));
		assertThat(all.ownerships()).extracting(Ownership::shard).containsExactlyElementsOf(shards);
		assertThat(group().store().readChanges(2_999, -1).ownerships()).hasSize(1);
		assertThat(group().store().readChanges(3_000, -1).ownerships()).isEmpty();
	}

	@Test
	default void readingFromTheReturnedPositionMissesNothing() {
		TestMember a = group().join("a").lead();
		TestMember b = group().join("b");
		Map<ShardId, Ownership> picture = new HashMap<>();
		long seen = 0;
		for (int i = 0; i < 40; i++) {
			a.assign(ShardId.of("many", i), (i % 2 == 0) ? a : b);
			if (i % 3 == 0) {
				a.revoke(ShardId.of("many", i / 2 + i / 4), a);
			}
			if (i % 7 == 0) {
				seen = readOn(picture, seen);
			}
		}
		b.leave();
		readOn(picture, seen);

		assertThat(picture.values().stream().sorted(Comparator.comparing(Ownership::generation)))
			.containsExactlyElementsOf(group().all().ownerships());
	}

	private long readOn(Map<ShardId, Ownership> picture, long seen) {
		GroupChanges changes = group().store().readChanges(seen, -1);
		changes.ownerships().forEach((shard) -> picture.put(shard.shard(), shard));
		return changes.generation();
	}

}
