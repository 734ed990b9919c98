package io.github.shardkeeper.assignment.sticky;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.Tenure;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link StickyAssignment} with capacities, weights, zones and pins, case by case, with
 * the reasons that it gives.
 */
class StickyTraitsTests {

	private static final MemberId A = MemberId.of("a", "1");

	private static final MemberId B = MemberId.of("b", "1");

	private static final MemberId B_AGAIN = MemberId.of("b", "2");

	private static final MemberId C = MemberId.of("c", "1");

	private final List<Assignee> members = new ArrayList<>();

	private final SortedMap<ShardId, ShardTraits> shards = new TreeMap<>();

	private final Map<ShardId, Tenure> current = new HashMap<>();

	@Test
	void higherCapacityTakesMoreShards() {
		member(A, 1, null, "t");
		member(B, 3, null, "t");
		shards(8, null, ShardTraits.NONE);

		assertThat(loads()).isEqualTo(Map.of(A, 2L, B, 6L));
	}

	@Test
	void heavyShardsAreSpreadAndLightOnesLevelTheRest() {
		member(A, 1, null, "t");
		member(B, 1, null, "t");
		shards(3, null, weight(4));
		shards(6, null, weight(1));

		assertThat(loads()).isEqualTo(Map.of(A, 9L, B, 9L));
	}

	@Test
	void fewHeavyShardsMoveInsteadOfManyLightOnes() {
		member(A, 1, null, "t");
		member(B, 1, null, "t");
		shards(8, A, weight(1));
		ShardId heavy = shards(1, A, weight(8)).get(0);

		Assignment assignment = assign();

		assertThat(assignment.moves()).isEqualTo(1);
		assertThat(why(assignment, heavy))
			.isEqualTo("t/8 moves from a~1 to b~1: its owner had more than its share, this member less");
	}

	@Test
	void shardsGoToTheZoneOfTheirData() {
		member(A, 1, "east", "t");
		member(B, 1, "west", "t");
		List<ShardId> west = shards(2, null, zone("west"));
		List<ShardId> east = shards(2, null, zone("east"));

		Map<ShardId, MemberId> owners = assign().toMap();

		assertThat(west).allMatch((shard) -> owners.get(shard).equals(B));
		assertThat(east).allMatch((shard) -> owners.get(shard).equals(A));
	}

	@Test
	void balanceTakesPrecedenceOverZones() {
		member(A, 1, "east", "t");
		member(B, 1, "west", "t");
		shards(4, A, zone("east"));

		assertThat(loads()).isEqualTo(Map.of(A, 2L, B, 2L));
	}

	@Test
	void shardsInTheWrongZonesAreSwapped() {
		member(A, 1, "east", "t");
		member(B, 1, "west", "t");
		ShardId foreign = shards(1, A, zone("west")).get(0);
		shards(1, A, zone("east"));
		ShardId indifferent = shards(1, B, ShardTraits.NONE).get(0);
		shards(1, B, zone("west"));

		Assignment assignment = assign();

		assertThat(assignment.toMap()).containsEntry(foreign, B).containsEntry(indifferent, A);
		assertThat(why(assignment, foreign))
			.isEqualTo("t/0 moves from a~1 to b~1: its data is in the zone of this member");
		assertThat(why(assignment, indifferent))
			.isEqualTo("t/2 moves from b~1 to a~1: its owner needed room for another shard");
		assertThat(assignment.moves()).isEqualTo(2);
	}

	@Test
	void surplusIsTakenFromShardsOutsideTheirZone() {
		member(A, 1, "east", "t");
		member(B, 1, "west", "t");
		shards(2, A, zone("east"));
		List<ShardId> foreign = shards(2, A, zone("west"));

		Assignment assignment = assign();

		assertThat(foreign).allMatch((shard) -> assignment.toMap().get(shard).equals(B));
		assertThat(reason(assignment, foreign.get(0))).isEqualTo(Reason.SHARE);
	}

	@Test
	void pinnedShardGoesToItsInstanceAndCountsAsItsLoad() {
		member(A, 1, null, "t");
		member(B, 1, null, "t");
		List<ShardId> pinned = shards(3, A, pinnedTo("b"));
		shards(3, B, ShardTraits.NONE);

		Assignment assignment = assign();

		assertThat(pinned).allMatch((shard) -> assignment.toMap().get(shard).equals(B));
		assertThat(loads()).isEqualTo(Map.of(A, 3L, B, 3L));
		assertThat(why(assignment, pinned.get(0)))
			.isEqualTo("t/0 moves from a~1 to b~1: it is pinned to this instance");
	}

	@Test
	void pinsMayOverloadAnInstance() {
		member(A, 1, null, "t");
		member(B, 1, null, "t");
		ShardId pinned = shards(5, B, pinnedTo("b")).get(0);
		shards(2, B, ShardTraits.NONE);

		assertThat(loads()).isEqualTo(Map.of(A, 2L, B, 5L));
		assertThat(why(assign(), pinned)).isEqualTo("t/0 stays with b~1: it is pinned to this instance");
	}

	@Test
	void pinWithoutAnEligibleInstanceIsIgnored() {
		member(A, 1, null, "t");
		member(B, 1, null, "other");
		List<ShardId> pinned = shards(1, A, pinnedTo("b"));
		pinned.addAll(shards(1, null, pinnedTo("gone")));

		Assignment assignment = assign();

		assertThat(pinned).allMatch((shard) -> assignment.toMap().get(shard).equals(A));
		assertThat(reason(assignment, pinned.get(0))).isEqualTo(Reason.KEPT);
		assertThat(reason(assignment, pinned.get(1))).isEqualTo(Reason.PLACED);
	}

	@Test
	void sessionOfTheInstanceThatOwnsThePinnedShardKeepsIt() {
		member(B, 1, null, "t");
		member(B_AGAIN, 1, null, "t");
		member(C, 1, null, "t");
		ShardId had = shards(1, B, pinnedTo("b")).get(0);
		ShardId hadByTheLast = shards(1, B_AGAIN, pinnedTo("b")).get(0);
		ShardId elsewhere = shards(1, C, pinnedTo("b")).get(0);

		assertThat(assign().toMap()).isEqualTo(Map.of(had, B, hadByTheLast, B_AGAIN, elsewhere, B_AGAIN));
	}

	/** The example of the documentation. */
	@Test
	void shardReturnsToItsZoneWithTheInstance() {
		member(A, 1, "east", "t");
		member(B, 1, "west", "t");
		member(C, 2, null, "t");
		ShardId pinned = shards(1, null, pinnedTo("a")).get(0);
		List<ShardId> west = shards(2, null, zone("west"));
		shards(5, null, ShardTraits.NONE);

		assertThat(loads()).isEqualTo(Map.of(A, 2L, B, 2L, C, 4L));
		assertThat(carryOut()).isZero();
		assertThat(west).allMatch((shard) -> this.current.get(shard).owner().equals(B));
		assertThat(this.current.get(pinned).owner()).isEqualTo(A);

		this.members.removeIf((member) -> member.id().equals(B));
		assertThat(loads()).isEqualTo(Map.of(A, 3L, C, 5L));
		assertThat(carryOut()).isZero();

		member(B, 1, "west", "t");
		assertThat(reason(assign(), west.get(0))).isEqualTo(Reason.SHARE);
		assertThat(carryOut()).isEqualTo(2);
		assertThat(west).allMatch((shard) -> this.current.get(shard).owner().equals(B));
		assertThat(loads()).isEqualTo(Map.of(A, 2L, B, 2L, C, 4L));
	}

	@Test
	void middleMemberOfAChainMakesRoom() {
		member(A, 1, null, "ab");
		member(B, 1, null, "ab", "bc");
		member(C, 1, null, "bc");
		ShardId first = shard("ab", A, weight(2));
		ShardId second = shard("ab", A, weight(2));
		ShardId passedOn = shard("bc", B, weight(2));

		Assignment assignment = assign();

		assertThat(assignment.moves()).isEqualTo(2);
		assertThat(reason(assignment, first)).isEqualTo(Reason.KEPT);
		assertThat(why(assignment, second))
			.isEqualTo("ab/1 moves from a~1 to b~1: its owner had more than its share, this member less");
		assertThat(reason(assignment, passedOn)).isEqualTo(Reason.ROOM);
	}

	@Test
	void mixedVersionsRespectCapacitiesAndWeights() {
		member(A, "1.0", 1, null, "t");
		member(B, "1.1", 2, null, "t");
		List<ShardId> heavy = shards(3, A, weight(3));

		Assignment assignment = assign();

		assertThat(loads()).isEqualTo(Map.of(A, 3L, B, 6L));
		assertThat(why(assignment, heavy.get(2)))
			.isEqualTo("t/2 moves from a~1 to b~1: while versions are mixed, shards move to the newest");
	}

	@Test
	void mixedVersionsLeaveAPinnedShardWithAnOlderMember() {
		member(A, "1.0", 1, null, "t");
		member(B, "1.1", 1, null, "t");
		List<ShardId> pinned = shards(4, null, pinnedTo("a"));
		shards(2, A, ShardTraits.NONE);

		assertThat(loads()).isEqualTo(Map.of(A, 4L, B, 2L));
		assertThat(reason(assign(), pinned.get(3))).isEqualTo(Reason.PINNED);
	}

	@Test
	void mixedVersionsPlaceUnownedShardsInTheirZonesAmongNewerMembers() {
		member(A, "1.0", 1, "east", "t");
		member(B, "1.1", 1, "west", "t");
		member(C, "1.1", 1, "east", "t");
		List<ShardId> east = shards(1, null, zone("east"));

		assertThat(assign().toMap()).containsEntry(east.get(0), C);
	}

	private void member(MemberId id, int capacity, @Nullable String zone, String... topics) {
		member(id, "1.0", capacity, zone, topics);
	}

	private void member(MemberId id, String version, int capacity, @Nullable String zone, String... topics) {
		this.members.add(new Assignee(id, Set.of(topics), new ApplicationVersion(version), capacity, zone));
	}

	private List<ShardId> shards(int count, @Nullable MemberId owner, ShardTraits traits) {
		List<ShardId> added = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			added.add(shard("t", owner, traits));
		}
		return added;
	}

	private ShardId shard(String topic, @Nullable MemberId owner, ShardTraits traits) {
		ShardId shard = ShardId.of(topic, this.shards.size());
		this.shards.put(shard, traits);
		if (owner != null) {
			this.current.put(shard, new Tenure(owner, 0));
		}
		return shard;
	}

	private static ShardTraits weight(int weight) {
		return new ShardTraits(weight, null, null);
	}

	private static ShardTraits zone(String zone) {
		return new ShardTraits(1, zone, null);
	}

	private static ShardTraits pinnedTo(String instance) {
		return new ShardTraits(1, null, instance);
	}

	private Assignment assign() {
		AssignmentRequest request = AssignmentRequest.builder(this.members, Shards.of(this.shards.keySet()))
			.owners(this.current)
			.traits(this.shards.values().toArray(ShardTraits[]::new))
			.build();
		return new StickyAssignment().assign(request);
	}

	private int carryOut() {
		Assignment assignment = assign();
		assignment.toMap().forEach((shard, owner) -> this.current.put(shard, new Tenure(owner, 0)));
		return assignment.moves();
	}

	private static Reason reason(Assignment assignment, ShardId shard) {
		return assignment.reason(assignment.request().shards().indexOf(shard));
	}

	private static String why(Assignment assignment, ShardId shard) {
		return assignment.why(assignment.request().shards().indexOf(shard));
	}

	private Map<MemberId, Long> loads() {
		Map<MemberId, Long> loads = new TreeMap<>();
		assign().toMap()
			.forEach((shard, owner) -> loads.merge(owner, (long) this.shards.get(shard).weight(), Long::sum));
		return loads;
	}

}
