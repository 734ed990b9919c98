package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.Tenure;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/** Random group; equal seeds give equal groups. */
final class RandomGroup {

	private static final int TOPICS = 3;

	private final Random random;

	private int mostMembers = 4;

	private int mostShards = 6;

	private int mostCapacity = 1;

	private int mostWeight = 1;

	private int zones;

	private int versions = 1;

	private boolean pins;

	private boolean equalSubscriptions;

	RandomGroup(long seed) {
		this.random = new Random(seed);
	}

	RandomGroup size(int members, int shards) {
		this.mostMembers = members;
		this.mostShards = shards;
		return this;
	}

	RandomGroup capacities(int most) {
		this.mostCapacity = most;
		return this;
	}

	RandomGroup weights(int most) {
		this.mostWeight = most;
		return this;
	}

	RandomGroup zones(int count) {
		this.zones = count;
		return this;
	}

	RandomGroup versions(int count) {
		this.versions = count;
		return this;
	}

	RandomGroup pins() {
		this.pins = true;
		return this;
	}

	RandomGroup equalSubscriptions() {
		this.equalSubscriptions = true;
		return this;
	}

	AssignmentRequest request() {
		List<Assignee> members = new ArrayList<>();
		for (int i = 1 + this.random.nextInt(this.mostMembers); i > 0; i--) {
			members.add(member(i));
		}
		TreeSet<ShardId> ids = new TreeSet<>();
		for (int i = this.random.nextInt(this.mostShards + 1); i > 0; i--) {
			ids.add(ShardId.of("t" + this.random.nextInt(TOPICS), i));
		}
		Shards shards = Shards.of(ids);
		Map<ShardId, Tenure> current = new HashMap<>();
		ShardTraits[] traits = new ShardTraits[shards.size()];
		int owners = 1 + this.random.nextInt(this.mostMembers + 1);
		for (int shard = 0; shard < traits.length; shard++) {
			if (this.random.nextInt(4) > 0) {
				MemberId owner = id(1 + this.random.nextInt(owners));
				current.put(shards.get(shard), new Tenure(owner, this.random.nextInt(3)));
			}
			String instance = (this.pins && this.random.nextInt(4) == 0)
					? id(1 + this.random.nextInt(this.mostMembers + 1)).instance() : null;
			traits[shard] = new ShardTraits(1 + this.random.nextInt(this.mostWeight), zone(), instance);
		}
		return AssignmentRequest.builder(members, shards).owners(current).traits(traits).build();
	}

	private Assignee member(int number) {
		Set<String> topics = new TreeSet<>();
		for (int topic = 0; topic < TOPICS; topic++) {
			if (this.equalSubscriptions || this.random.nextBoolean()) {
				topics.add("t" + topic);
			}
		}
		return new Assignee(id(number), topics, new ApplicationVersion("1." + this.random.nextInt(this.versions)),
				1 + this.random.nextInt(this.mostCapacity), zone());
	}

	/** Every third one is another session of the instance before it. */
	private static MemberId id(int number) {
		return MemberId.of("m" + (number - (number % 3 == 0 ? 1 : 0)), (number % 3 == 0) ? "2" : "1");
	}

	private @Nullable String zone() {
		return (this.zones > 0 && this.random.nextInt(4) > 0) ? "zone-" + this.random.nextInt(this.zones) : null;
	}

	/** Returns the same group after an assignment was applied. */
	static AssignmentRequest after(Assignment assignment) {
		AssignmentRequest request = assignment.request();
		int[] owners = new int[request.shards().size()];
		long[] since = new long[owners.length];
		ShardTraits[] traits = new ShardTraits[owners.length];
		for (int shard = 0; shard < owners.length; shard++) {
			owners[shard] = assignment.owner(shard);
			since[shard] = (owners[shard] == request.owner(shard)) ? request.since(shard) : 3;
			traits[shard] = request.traits(shard);
		}
		return AssignmentRequest.builder(request.members(), request.shards())
			.owners(owners, since, new long[owners.length])
			.traits(request.hasPlainShards() ? null : traits)
			.build();
	}

}
