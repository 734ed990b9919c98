package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Groups;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/** Large groups, each with one kind of diversity. */
enum LargeGroup {

	/** All members and shards are alike. */
	PLAIN,

	/** Half of the members consume a second topic as well. */
	TWO_SUBSCRIPTIONS,

	/** Each member consumes four of eight topics. */
	MANY_SUBSCRIPTIONS,

	/** Half of the members run a newer version. */
	MIXED_VERSIONS,

	/** Shards weigh 1 to 10. */
	WEIGHTS,

	/** No two shards weigh the same, or nearly. */
	ODD_WEIGHTS,

	/** Members and shards are in three zones. */
	ZONES,

	/** Members take 1 to 4 shares. */
	CAPACITIES,

	/** Everything at once. */
	ALL;

	private static final Set<String> ONE = Set.of("t0");

	private static final Set<String> TWO = Set.of("t0", "t1");

	private static final int LAST_WEIGHT = 1_000_000;

	List<Assignee> members(int from, int to) {
		List<Assignee> members = new ArrayList<>();
		for (int number = from; number < to; number++) {
			Random random = new Random(number);
			String version = (this == MIXED_VERSIONS && number % 2 == 0) ? "1.1" : "1.0";
			int capacity = (this == CAPACITIES || this == ALL) ? 1 + random.nextInt(4) : 1;
			members.add(new Assignee(MemberId.of("m" + (100_000 + number), "1"), topics(number, random),
					new ApplicationVersion(version), capacity, zone(number)));
		}
		return members;
	}

	private Set<String> topics(int number, Random random) {
		if (this == MANY_SUBSCRIPTIONS) {
			return Set.copyOf(random.ints(0, 8).distinct().limit(4).mapToObj((topic) -> "t" + topic).toList());
		}
		return (number % 2 == 0 || this != TWO_SUBSCRIPTIONS && this != ALL) ? TWO : ONE;
	}

	private @Nullable String zone(int number) {
		return (this == ZONES || this == ALL) ? "zone-" + number % 3 : null;
	}

	Shards shards(int count) {
		int topics = (this == MANY_SUBSCRIPTIONS) ? 8 : 2;
		return Shards.of(IntStream.range(0, count).mapToObj((i) -> ShardId.of("t" + i % topics, i)).toList());
	}

	ShardTraits @Nullable [] traits(int count) {
		if (this != WEIGHTS && this != ODD_WEIGHTS && this != ZONES && this != ALL) {
			return null;
		}
		Random random = new Random(count);
		ShardTraits[] traits = new ShardTraits[count];
		for (int shard = 0; shard < count; shard++) {
			int weight = (this == WEIGHTS || this == ALL) ? 1 + random.nextInt(10) : 1;
			weight = (this == ODD_WEIGHTS) ? 1 + random.nextInt(LAST_WEIGHT) : weight;
			traits[shard] = new ShardTraits(weight, zone(random.nextInt(3)), null);
		}
		return traits;
	}

	/**
	 * Returns the request after a plan: members that have left own nothing.
	 * @param before the plan
	 * @param members the members that remain
	 */
	static AssignmentRequest after(Assignment before, List<Assignee> members) {
		AssignmentRequest.Builder builder = AssignmentRequest.builder(members, before.request().shards());
		int[] places = new int[before.request().members().size()];
		for (int place = 0; place < places.length; place++) {
			places[place] = builder.members().indexOf(before.request().members().get(place));
		}
		int size = before.request().shards().size();
		int[] owners = new int[size];
		ShardTraits[] traits = new ShardTraits[size];
		for (int shard = 0; shard < size; shard++) {
			owners[shard] = (before.owner(shard) != AssignmentRequest.NOBODY) ? places[before.owner(shard)]
					: AssignmentRequest.NOBODY;
			traits[shard] = before.request().traits(shard);
		}
		return builder.owners(owners, new long[size], new long[size])
			.traits(before.request().hasPlainShards() ? null : traits)
			.build();
	}

}
