package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.Tenure;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

class StickyAssignmentTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final MemberId C = MemberId.of("c", "1");

	private static final int RANDOM_GROUPS = 2_000;

	private final AssignmentStrategy strategy = new StickyAssignment();

	@Test
	void fourShardsAreSharedByThePresentMembers() {
		Map<ShardId, MemberId> one = assign(Map.of(), 4, A);
		assertThat(one.values()).containsExactly(A, A, A, A);

		Map<ShardId, MemberId> two = assign(one, 4, A, B);
		assertThat(loads(two)).containsOnly(Map.entry(A, 2), Map.entry(B, 2));
		assertThat(moves(one, two)).isEqualTo(2);

		Map<ShardId, MemberId> three = assign(two, 4, A, B, C);
		assertThat(loads(three).values()).containsExactlyInAnyOrder(1, 1, 2);
		assertThat(moves(two, three)).isEqualTo(1);
	}

	@Test
	void shardsOfALeavingMemberGoToTheRemainingMembers() {
		Map<ShardId, MemberId> three = assign(Map.of(), 4, A, B, C);

		Map<ShardId, MemberId> two = assign(three, 4, A, B);
		assertThat(loads(two)).containsOnly(Map.entry(A, 2), Map.entry(B, 2));
		assertThat(two.entrySet())
			.containsAll(three.entrySet().stream().filter((entry) -> !entry.getValue().equals(C)).toList());

		assertThat(assign(two, 4, B).values()).containsOnly(B);
	}

	@Test
	void groupWithoutMembersAssignsNothing() {
		assertThat(assign(Map.of(), 4)).isEmpty();
		assertThat(assign(Map.of(ShardId.of("t", 0), A), 4)).isEmpty();
	}

	@Test
	void groupWithoutShardsAssignsNothing() {
		assertThat(assign(Map.of(), 0, A, B)).isEmpty();
	}

	@Test
	void shardWithoutConsumerHasNoOwner() {
		ShardId wanted = ShardId.of("wanted", 0);
		ShardId unwanted = ShardId.of("unwanted", 0);

		assertThat(assign(List.of(consumes(A, "wanted")), List.of(wanted, unwanted), Map.of(unwanted, A)))
			.containsExactly(Map.entry(wanted, A));
	}

	@Test
	void chainOfMovesBalancesWhatNoSingleMoveCan() {
		// Only a can give to b, and only b to c.
		List<Assignee> members = List.of(consumes(A, "ab"), consumes(B, "ab", "bc"), consumes(C, "bc"));
		List<ShardId> shards = List.of(ShardId.of("ab", 0), ShardId.of("ab", 1), ShardId.of("bc", 0));
		Map<ShardId, MemberId> current = Map.of(shards.get(0), A, shards.get(1), A, shards.get(2), B);

		assertThat(loads(assign(members, shards, current)).values()).containsExactly(1, 1, 1);
	}

	@Test
	void latestShardMovesFirst() {
		List<Assignee> members = List.of(consumes(A, "t"), consumes(B, "t"));
		SortedSet<ShardId> shards = new TreeSet<>();
		Map<ShardId, Tenure> current = new HashMap<>();
		for (int number = 0; number < 6; number++) {
			shards.add(ShardId.of("t", number));
			current.put(ShardId.of("t", number), new Tenure(A, (number % 2 == 0) ? 100 + number : number));
		}

		Map<ShardId, MemberId> owners = this.strategy.assign(request(members, shards, current)).toMap();

		assertThat(shards).filteredOn((shard) -> owners.get(shard).equals(B))
			.containsExactly(ShardId.of("t", 0), ShardId.of("t", 2), ShardId.of("t", 4));
	}

	@Test
	void randomGroupsAssignEveryShardOnceAndStayStable() {
		for (long seed = 0; seed < RANDOM_GROUPS; seed++) {
			AssignmentRequest request = randomRequest(new Random(seed), 6, 12, 3);

			Map<ShardId, MemberId> owners = this.strategy.assign(request).toMap();

			assertThat(owners.keySet()).as("seed %d: shards", seed).isEqualTo(takeable(request));
			owners.forEach((shard, owner) -> assertThat(request.consumersOf(shard.topic())).extracting(Assignee::id)
				.contains(owner));
			assertThat(this.strategy.assign(request).toMap()).as("seed %d: same again", seed).isEqualTo(owners);
			Assignment again = this.strategy
				.assign(request(request.members(), request.shards().asList(), tenures(owners)));
			assertThat(again.toMap()).as("seed %d: stable", seed).isEqualTo(owners);
			assertThat(again.moves()).as("seed %d: moves", seed).isZero();
		}
	}

	@Test
	@Promise("Least movement")
	void noMoveOrChainOfMovesCanImproveTheBalance() {
		for (long seed = 0; seed < RANDOM_GROUPS / 4; seed++) {
			AssignmentRequest request = randomRequest(new Random(seed), 4, 6, 1);

			int unevenness = unevenness(loads(this.strategy.assign(request).toMap()).values());

			assertThat(unevenness).as("seed %d: the best there is", seed)
				.isEqualTo(leastUnevenness(request, new ArrayList<>(takeable(request)), new HashMap<>()));
		}
	}

	@Test
	@Promise("Least movement")
	void equalSubscriptionsDifferByAtMostOneShardWithTheFewestMoves() {
		for (long seed = 0; seed < RANDOM_GROUPS; seed++) {
			Random random = new Random(seed);
			List<Assignee> members = new ArrayList<>();
			for (int i = 0; i < 1 + random.nextInt(7); i++) {
				members.add(consumes(MemberId.of("m" + i, "1"), "t0", "t1"));
			}
			SortedSet<ShardId> shards = randomShards(random, 2, 20);
			Map<ShardId, MemberId> current = randomOwners(random, shards, 9);

			Map<ShardId, MemberId> owners = this.strategy.assign(request(members, shards, tenures(current))).toMap();

			Map<MemberId, Integer> loads = new TreeMap<>();
			members.forEach((member) -> loads.put(member.id(), 0));
			loads.putAll(loads(owners));
			int least = shards.size() / members.size();
			assertThat(loads.values()).as("seed %d: loads", seed)
				.allMatch((load) -> load == least || load == least + 1);
			assertThat(moves(current, owners)).as("seed %d: moves", seed)
				.isEqualTo(fewestMoves(loads.keySet(), shards, current));
		}
	}

	/** Members with most shards keep one more than the others; the rest moves. */
	private static int fewestMoves(Set<MemberId> members, Set<ShardId> shards, Map<ShardId, MemberId> current) {
		int each = shards.size() / members.size();
		int larger = shards.size() % members.size();
		int kept = 0;
		List<Integer> held = members.stream()
			.map((member) -> (int) shards.stream().filter((shard) -> member.equals(current.get(shard))).count())
			.sorted((one, other) -> other - one)
			.toList();
		for (int i = 0; i < held.size(); i++) {
			kept += Math.min(held.get(i), (i < larger) ? each + 1 : each);
		}
		int owned = (int) shards.stream().filter(current::containsKey).count();
		return owned - kept;
	}

	private static int leastUnevenness(AssignmentRequest request, List<ShardId> open, Map<MemberId, Integer> loads) {
		if (open.isEmpty()) {
			return unevenness(loads.values());
		}
		int least = Integer.MAX_VALUE;
		ShardId shard = open.remove(open.size() - 1);
		for (Assignee member : request.consumersOf(shard.topic())) {
			loads.merge(member.id(), 1, Integer::sum);
			least = Math.min(least, leastUnevenness(request, open, loads));
			loads.merge(member.id(), -1, Integer::sum);
		}
		open.add(shard);
		return least;
	}

	/** For a fixed sum it is the lower, the closer the loads are to each other. */
	private static int unevenness(Collection<Integer> loads) {
		return loads.stream().mapToInt((load) -> load * load).sum();
	}

	private static AssignmentRequest randomRequest(Random random, int mostMembers, int mostShards, int versions) {
		List<Assignee> members = new ArrayList<>();
		int count = random.nextInt(mostMembers + 1);
		for (int i = 0; i < count; i++) {
			Set<String> topics = new TreeSet<>();
			for (int topic = 0; topic < 3; topic++) {
				if (random.nextBoolean()) {
					topics.add("t" + topic);
				}
			}
			members.add(new Assignee(MemberId.of("m" + i, "1"), topics,
					new ApplicationVersion("1." + random.nextInt(versions))));
		}
		SortedSet<ShardId> shards = randomShards(random, 3, mostShards);
		return request(members, shards, tenures(randomOwners(random, shards, mostMembers + 1)));
	}

	private static SortedSet<ShardId> randomShards(Random random, int topics, int most) {
		SortedSet<ShardId> shards = new TreeSet<>();
		int count = random.nextInt(most + 1);
		for (int i = 0; i < count; i++) {
			shards.add(ShardId.of("t" + random.nextInt(topics), random.nextInt(most)));
		}
		return shards;
	}

	/** Some shards are owned, some by members that are gone. */
	private static Map<ShardId, MemberId> randomOwners(Random random, Set<ShardId> shards, int members) {
		Map<ShardId, MemberId> owners = new HashMap<>();
		int skew = 1 + random.nextInt(members);
		for (ShardId shard : shards) {
			if (random.nextInt(4) > 0) {
				owners.put(shard, MemberId.of("m" + random.nextInt(skew), "1"));
			}
		}
		return owners;
	}

	private static Set<ShardId> takeable(AssignmentRequest request) {
		Set<ShardId> takeable = new TreeSet<>(request.shards().asList());
		takeable.removeIf((shard) -> request.consumersOf(shard.topic()).isEmpty());
		return takeable;
	}

	private Map<ShardId, MemberId> assign(Map<ShardId, MemberId> current, int shardCount, MemberId... ids) {
		List<Assignee> members = Arrays.stream(ids).map((id) -> consumes(id, "t")).toList();
		List<ShardId> shards = new ArrayList<>();
		for (int number = 0; number < shardCount; number++) {
			shards.add(ShardId.of("t", number));
		}
		return assign(members, shards, current);
	}

	private static Assignee consumes(MemberId id, String... topics) {
		return new Assignee(id, Set.of(topics), ApplicationVersion.UNKNOWN);
	}

	private Map<ShardId, MemberId> assign(List<Assignee> members, List<ShardId> shards,
			Map<ShardId, MemberId> current) {
		return this.strategy.assign(request(members, shards, tenures(current))).toMap();
	}

	private static AssignmentRequest request(List<Assignee> members, Collection<ShardId> shards,
			Map<ShardId, Tenure> current) {
		return AssignmentRequest.builder(members, Shards.of(shards)).owners(current).build();
	}

	private static Map<ShardId, Tenure> tenures(Map<ShardId, MemberId> owners) {
		Map<ShardId, Tenure> tenures = new HashMap<>();
		owners.forEach((shard, owner) -> tenures.put(shard, new Tenure(owner, 0)));
		return tenures;
	}

	private static Map<MemberId, Integer> loads(Map<ShardId, MemberId> owners) {
		Map<MemberId, Integer> loads = new TreeMap<>();
		owners.values().forEach((owner) -> loads.merge(owner, 1, Integer::sum));
		return loads;
	}

	private static int moves(Map<ShardId, MemberId> before, Map<ShardId, MemberId> after) {
		return (int) before.entrySet()
			.stream()
			.filter((entry) -> after.containsKey(entry.getKey()))
			.filter((entry) -> !entry.getValue().equals(after.get(entry.getKey())))
			.count();
	}

}
