package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

class KindSorterTests {

	private static final ShardTraits EAST = new ShardTraits(1, "east", null);

	private static final ShardTraits NOWHERE = new ShardTraits(1, "nowhere", null);

	private final List<Assignee> members = new ArrayList<>();

	@Test
	void topicsWithTheSameConsumersAreOneKind() {
		member("a", null, "t0", "t1", "t2");
		member("b", null, "t0", "t1");

		List<ShardKind> kinds = sort(topics("t0", "t1", "t2"), ShardTraits.NONE, ShardTraits.NONE, ShardTraits.NONE);

		assertThat(kinds).extracting((kind) -> kind.shards).containsExactly(new int[] { 2 }, new int[] { 0, 1 });
		assertThat(kinds).extracting((kind) -> kind.takers).containsExactly(new int[] { 0 }, new int[] { 0, 1 });
	}

	@Test
	void shardsWithoutConsumersHaveNoKind() {
		member("a", null, "t0");

		assertThat(sort(topics("t0", "t1"), ShardTraits.NONE, ShardTraits.NONE)).hasSize(1);
	}

	@Test
	void zonesMatterOnlyIfSomeButNotAllTakersAreInThem() {
		member("a", "east", "t0", "t1");
		member("b", "west", "t1");

		assertThat(sort(topics("t0", "t0", "t1", "t1"), EAST, NOWHERE, EAST, NOWHERE)).extracting((kind) -> kind.zone)
			.containsExactlyInAnyOrder(ShardKind.NOWHERE, 0, ShardKind.NOWHERE);
	}

	@Test
	void heaviestKindsComeFirst() {
		member("a", null, "t0");

		assertThat(sort(topics("t0", "t0", "t0"), new ShardTraits(2, null, null), new ShardTraits(7, null, null),
				new ShardTraits(2, null, null)))
			.extracting((kind) -> kind.weight)
			.containsExactly(7, 2);
	}

	/** Otherwise they would have to be counted by the million. */
	@Test
	void manyDifferentWeightsAreRoundedInLargeGroups() {
		for (int number = 0; number < 1_000; number++) {
			member("m" + number, null, "t0");
		}
		String[] topics = new String[5_000];
		Arrays.fill(topics, "t0");
		ShardTraits[] traits = IntStream.range(0, topics.length)
			.mapToObj((i) -> new ShardTraits(1 + 197 * i, null, null))
			.toArray(ShardTraits[]::new);

		List<ShardKind> kinds = sort(topics(topics), traits);

		assertThat(kinds).hasSizeLessThan(500);
		for (ShardKind kind : kinds) {
			for (int shard : kind.shards) {
				assertThat((double) kind.weight).isBetween(traits[shard].weight() * 0.95,
						traits[shard].weight() * 1.05);
			}
		}
	}

	private void member(String name, String zone, String... topics) {
		this.members.add(new Assignee(MemberId.of(name, "1"), Set.of(topics), ApplicationVersion.UNKNOWN, 1, zone));
	}

	private static List<ShardId> topics(String... topics) {
		return IntStream.range(0, topics.length).mapToObj((i) -> ShardId.of(topics[i], i)).toList();
	}

	private List<ShardKind> sort(List<ShardId> shards, ShardTraits... traits) {
		AssignmentRequest request = AssignmentRequest.builder(this.members, Shards.of(shards)).traits(traits).build();
		return new KindSorter(request, request.pinnedOwners()).sort();
	}

}
