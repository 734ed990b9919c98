package io.github.shardkeeper.assignment.rules;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Groups;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

class ConsistentHashAssignmentTests {

	private static final int RANDOM_GROUPS = 2_000;

	private final AssignmentStrategy strategy = new ConsistentHashAssignment();

	/**
	 * Prints the numbers. At most 2/n of the shards move, and not much more than 1/n on
	 * average over the members that could leave.
	 */
	@ParameterizedTest
	@CsvSource({ "2, 100", "3, 30", "5, 50", "5, 1000", "10, 100", "10, 1000", "10, 10000", "30, 300", "50, 5000",
			"100, 1000", "100, 10000" })
	void leavingMemberMovesAboutItsShare(int members, int shards) {
		List<Assignee> all = Groups.alike(members);
		Assignment before = this.strategy.assign(Groups.unowned(all, Groups.shards("t", shards)));
		List<Assignee> some = all.subList(0, Math.min(members, 20));
		double leave = 0;
		double join = 0;
		double most = 0;
		for (Assignee one : some) {
			List<Assignee> others = all.stream().filter((other) -> other != one).toList();
			Assignment without = this.strategy.assign(Groups.after(before, others));
			int freed = Groups.loads(before)[all.indexOf(one)];
			double left = (double) (freed + without.moves()) / shards * members;
			double joined = (double) this.strategy.assign(Groups.after(without, all)).moves() / shards * members;
			leave += left / some.size();
			join += joined / some.size();
			most = Math.max(most, Math.max(left, joined));
		}
		System.out.printf(
				"consistent-hash: %d members x %d shards: one leaves: %.2f/n, joins: %.2f/n, at most %.2f/n%n", members,
				shards, leave, join, most);

		assertThat(leave).isLessThan(1.5);
		assertThat(join).isLessThan(1.5);
		assertThat(most).isLessThanOrEqualTo(2);
	}

	@Test
	void noMemberExceedsTheBound() {
		for (long seed = 0; seed < RANDOM_GROUPS; seed++) {
			AssignmentRequest request = Groups.random(seed, 9, 60);

			Assignment assignment = this.strategy.assign(request);

			int[] loads = unpinnedLoads(assignment);
			double[] fair = fairShares(request);
			for (int member = 0; member < loads.length; member++) {
				assertThat(loads[member]).as("seed %d: %s", seed, request.members().get(member))
					.isLessThanOrEqualTo((int) Math.ceil(1.25 * fair[member] - 1e-6));
			}
		}
	}

	@ParameterizedTest
	@CsvSource({ "4, 100, 32", "10, 1000, 125", "7, 50, 9", "8, 8, 2" })
	void boundIsAQuarterAboveTheFairShare(int members, int shards, int bound) {
		Assignment assignment = this.strategy.assign(Groups.unowned(Groups.alike(members), Groups.shards("t", shards)));

		assertThat(Arrays.stream(Groups.loads(assignment)).max().orElseThrow()).isLessThanOrEqualTo(bound);
	}

	@Test
	void shardsAreSharedByCapacity() {
		List<Assignee> members = List.of(Groups.member("large", 6, "t"), Groups.member("middle", 3, "t"),
				Groups.member("small", 1, "t"));

		int[] loads = Groups.loads(this.strategy.assign(Groups.unowned(members, Groups.shards("t", 10_000))));

		assertThat(loads[0]).isBetween(5_000, 7_000);
		assertThat(loads[1]).isBetween(2_400, 3_600);
		assertThat(loads[2]).isBetween(700, 1_250);
	}

	@Test
	void returningInstanceGetsItsShardsBack() {
		List<Assignee> members = new ArrayList<>(Groups.alike(5));
		Assignment before = this.strategy.assign(Groups.unowned(members, Groups.shards("t", 100)));
		Assignee again = new Assignee(MemberId.of("m002", "later"), Set.of("t"), ApplicationVersion.UNKNOWN);
		members.set(2, again);

		Assignment after = this.strategy.assign(Groups.unowned(members, Groups.shards("t", 100)));

		assertThat(Groups.byInstance(after)).isEqualTo(Groups.byInstance(before));
	}

	@Test
	void fullConsumerMakesRoomForAShard() {
		// Only m000 takes the last topic, but by its hash it is full of the first one's
		// shards for some of these names.
		int madeRoom = 0;
		for (int name = 0; name < 200; name++) {
			String first = "first" + name;
			List<Assignee> members = List.of(Groups.member("m000", first, "last"), Groups.member("m001", first));
			Shards shards = Groups.shards(Map.of(first, 4, "last", 1));

			Assignment assignment = this.strategy.assign(Groups.unowned(members, shards));

			assertThat(assignment.owner(4)).isZero();
			assertThat(Groups.loads(assignment)[0]).isLessThanOrEqualTo(4);
			madeRoom += (Groups.loads(assignment)[1] == 1) ? 1 : 0;
		}
		assertThat(madeRoom).isPositive();
	}

	@Test
	void hashesAreFixed() {
		// With other values, an update would reassign every group.
		assertThat(HashRing.hash("")).isEqualTo(0xefd01f60ba992926L);
		assertThat(HashRing.hash("orders/0")).isEqualTo(0x9e568674a71b4665L);
		Set<Long> upperHalves = new HashSet<>();
		for (int number = 0; number < 10_000; number++) {
			upperHalves.add(HashRing.hash("orders/" + number) >>> 32);
		}
		assertThat(upperHalves).hasSizeGreaterThan(9_990);
	}

	private static int[] unpinnedLoads(Assignment assignment) {
		int[] loads = new int[assignment.request().members().size()];
		for (int shard = 0; shard < assignment.request().shards().size(); shard++) {
			if (assignment.owner(shard) != AssignmentRequest.NOBODY && assignment.reason(shard) != Reason.PINNED) {
				loads[assignment.owner(shard)]++;
			}
		}
		return loads;
	}

	/** Returns the unpinned shards, by capacity of their consumers. */
	private static double[] fairShares(AssignmentRequest request) {
		double[] shares = new double[request.members().size()];
		int[] pinned = request.pinnedOwners();
		for (int shard = 0; shard < request.shards().size(); shard++) {
			String topic = request.shards().get(shard).topic();
			double capacity = request.consumersOf(topic).stream().mapToInt(Assignee::capacity).sum();
			for (int member = 0; member < shares.length && pinned[shard] == AssignmentRequest.NOBODY; member++) {
				if (request.members().get(member).topics().contains(topic)) {
					shares[member] += request.members().get(member).capacity() / capacity;
				}
			}
		}
		return shares;
	}

}
