package io.github.shardkeeper.assignment;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

/**
 * Groups for tests of assignments.
 */
public final class Groups {

	private static final int MOST_TOPICS = 4;

	private Groups() {
	}

	public static Assignee member(String instance, String... topics) {
		return new Assignee(MemberId.of(instance, "1"), Set.of(topics), ApplicationVersion.UNKNOWN);
	}

	public static Assignee member(String instance, int capacity, String... topics) {
		return new Assignee(MemberId.of(instance, "1"), Set.of(topics), ApplicationVersion.UNKNOWN, capacity, null);
	}

	/** Members m000, m001 and so on that consume the topic t. */
	public static List<Assignee> alike(int count) {
		return IntStream.range(0, count).mapToObj((number) -> member("m%03d".formatted(number), "t")).toList();
	}

	public static Shards shards(String topic, int count) {
		return shards(Map.of(topic, count));
	}

	public static Shards shards(Map<String, Integer> counts) {
		List<ShardId> shards = new ArrayList<>();
		counts.forEach((topic, count) -> {
			for (int number = 0; number < count; number++) {
				shards.add(ShardId.of(topic, number));
			}
		});
		return Shards.of(shards);
	}

	public static AssignmentRequest unowned(Collection<Assignee> members, Shards shards) {
		return AssignmentRequest.builder(members, shards).build();
	}

	/** Returns the same group after an assignment was applied. */
	public static AssignmentRequest after(Assignment assignment) {
		return after(assignment, assignment.request().members());
	}

	/** Then other members are there. */
	public static AssignmentRequest after(Assignment assignment, Collection<Assignee> members) {
		AssignmentRequest request = assignment.request();
		AssignmentRequest.Builder next = AssignmentRequest.builder(members, request.shards());
		Map<MemberId, Integer> places = new HashMap<>();
		next.members().forEach((member) -> places.put(member.id(), places.size()));
		int[] owners = new int[request.shards().size()];
		long[] since = since(request);
		long generation = 1 + Arrays.stream(since).max().orElse(0);
		for (int shard = 0; shard < owners.length; shard++) {
			int owner = assignment.owner(shard);
			owners[shard] = (owner != AssignmentRequest.NOBODY)
					? places.getOrDefault(request.members().get(owner).id(), AssignmentRequest.NOBODY)
					: AssignmentRequest.NOBODY;
			since[shard] = (owner != request.owner(shard)) ? generation : since[shard];
		}
		return next.owners(owners, since, new long[owners.length]).traits(traits(request)).build();
	}

	/** Returns the same group in another order. */
	public static AssignmentRequest shuffled(AssignmentRequest request, Random random) {
		List<Assignee> members = new ArrayList<>(request.members());
		Collections.shuffle(members, random);
		List<ShardId> ids = new ArrayList<>(request.shards().asList());
		Collections.shuffle(ids, random);
		IntStream shards = IntStream.range(0, ids.size());
		return AssignmentRequest.builder(members, Shards.of(ids))
			.owners(shards.map(request::owner).toArray(), since(request), new long[ids.size()])
			.traits(traits(request))
			.build();
	}

	private static long[] since(AssignmentRequest request) {
		return IntStream.range(0, request.shards().size()).mapToLong(request::since).toArray();
	}

	private static ShardTraits[] traits(AssignmentRequest request) {
		return request.hasPlainShards() ? null
				: IntStream.range(0, request.shards().size()).mapToObj(request::traits).toArray(ShardTraits[]::new);
	}

	/**
	 * Returns a random group: members without subscription, shards without consumers,
	 * owners that have left or do not consume their shards, several versions, weights,
	 * pins to present and absent instances.
	 */
	public static AssignmentRequest random(long seed, int mostMembers, int mostShards) {
		Random random = new Random(seed);
		boolean sameTopics = random.nextBoolean();
		boolean sameCapacity = random.nextBoolean();
		int versions = (random.nextInt(4) == 0) ? 2 : 1;
		List<Assignee> members = new ArrayList<>();
		int count = random.nextInt(mostMembers + 1);
		for (int member = 0; member < count; member++) {
			boolean secondSession = member > 0 && random.nextInt(10) == 0;
			members.add(new Assignee(MemberId.of("m" + (secondSession ? member - 1 : member), "s" + member),
					sameTopics ? topics(MOST_TOPICS) : someTopics(random),
					new ApplicationVersion("1." + random.nextInt(versions)), sameCapacity ? 1 : 1 + random.nextInt(4),
					random.nextBoolean() ? "zone" + random.nextInt(2) : null));
		}
		SortedSet<ShardId> shards = new TreeSet<>();
		int shardCount = random.nextInt(mostShards + 1);
		for (int shard = 0; shard < shardCount; shard++) {
			shards.add(ShardId.of("t" + random.nextInt(MOST_TOPICS), random.nextInt(mostShards)));
		}
		Map<ShardId, Tenure> current = new HashMap<>();
		int owners = 1 + random.nextInt(mostMembers + 1);
		for (ShardId shard : shards) {
			if (random.nextInt(4) > 0) {
				int owner = random.nextInt(owners);
				MemberId id = (owner < count) ? members.get(owner).id() : MemberId.of("gone", "1");
				current.put(shard, new Tenure(id, random.nextInt(100)));
			}
		}
		return AssignmentRequest.builder(members, Shards.of(shards))
			.owners(current)
			.traits(random.nextBoolean() ? null
					: shards.stream().map((shard) -> traits(random, mostMembers)).toArray(ShardTraits[]::new))
			.build();
	}

	private static ShardTraits traits(Random random, int mostMembers) {
		return new ShardTraits((random.nextInt(4) == 0) ? 1 + random.nextInt(20) : 1,
				(random.nextInt(4) == 0) ? "zone" + random.nextInt(3) : null,
				(random.nextInt(4) == 0) ? "m" + random.nextInt(mostMembers + 1) : null);
	}

	private static Set<String> someTopics(Random random) {
		Set<String> topics = new TreeSet<>(topics(MOST_TOPICS));
		topics.removeIf((topic) -> random.nextBoolean());
		return topics;
	}

	private static Set<String> topics(int count) {
		Set<String> topics = new TreeSet<>();
		for (int topic = 0; topic < count; topic++) {
			topics.add("t" + topic);
		}
		return topics;
	}

	/** By instance its shards as text, in their order. */
	public static SortedMap<String, List<String>> byInstance(Assignment assignment) {
		SortedMap<String, List<String>> shards = new TreeMap<>();
		assignment.request().members().forEach((member) -> shards.put(member.id().instance(), new ArrayList<>()));
		assignment.toMap().forEach((shard, owner) -> shards.get(owner.instance()).add(shard.toString()));
		return shards;
	}

	/** By member's place how many shards it has. */
	public static int[] loads(Assignment assignment) {
		int[] loads = new int[assignment.request().members().size()];
		for (int shard = 0; shard < assignment.request().shards().size(); shard++) {
			if (assignment.owner(shard) != AssignmentRequest.NOBODY) {
				loads[assignment.owner(shard)]++;
			}
		}
		return loads;
	}

	public static List<Integer> sortedLoads(Assignment assignment) {
		return Arrays.stream(loads(assignment)).sorted().boxed().toList();
	}

}
