package io.github.shardkeeper.assignment.sticky;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link StickyAssignment} with shards of different weights. It does not compute the
 * optimum, so the tests check that no further move improves the result.
 */
class StickyWeightsTests {

	private static final int GROUPS = 1_500;

	private final StickyAssignment strategy = new StickyAssignment();

	@Test
	void noMoveOrChainOfOneWeightCanLowerTheHigherLoad() {
		for (long seed = 0; seed < GROUPS; seed++) {
			assertSettled("weights, seed " + seed, new RandomGroup(seed).size(5, 14).weights(4));
			assertSettled("capacities, seed " + seed,
					new RandomGroup(seed).size(5, 14).weights(4).capacities(3).zones(2).pins());
		}
	}

	@Test
	void noMoveOrSwapOfOneWeightCanBringMoreShardsToTheirZones() {
		int home = 0;
		for (long seed = 0; seed < GROUPS; seed++) {
			for (RandomGroup group : new RandomGroup[] { new RandomGroup(seed).zones(2),
					new RandomGroup(seed).zones(2).weights(3), new RandomGroup(seed).zones(3).weights(3).pins() }) {
				Assignment assignment = this.strategy.assign(group.size(5, 14).request());

				home += assertAtHome("seed " + seed, assignment);
			}
		}
		assertThat(home).as("shards in their zones").isGreaterThan(GROUPS);
	}

	@Test
	void heaviestShardBoundsTheDifferenceOfLoads() {
		double worst = 1;
		for (long seed = 0; seed < GROUPS; seed++) {
			AssignmentRequest request = new RandomGroup(seed).size(4, 7).weights(9).equalSubscriptions().request();

			Assignment assignment = this.strategy.assign(request);

			int heaviest = IntStream.range(0, request.shards().size())
				.map((shard) -> request.traits(shard).weight())
				.max()
				.orElse(0);
			long[] loads = loads(assignment);
			long most = Arrays.stream(loads).max().orElse(0);
			assertThat(most - Arrays.stream(loads).min().orElse(0)).as("seed %d: gap", seed)
				.isLessThanOrEqualTo(heaviest);
			long best = leastMost(request, new long[loads.length], 0);
			assertThat(most).as("seed %d: beside the best, %d", seed, best).isLessThan(best + Math.max(heaviest, 1));
			worst = Math.max(worst, (double) most / Math.max(best, 1));
		}
		System.out.printf("the highest load is at worst %.2f times the lowest there is%n", worst);
		assertThat(worst).isLessThan(2);
	}

	private static long leastMost(AssignmentRequest request, long[] loads, int shard) {
		if (shard == request.shards().size()) {
			return Arrays.stream(loads).max().orElse(0);
		}
		long least = Long.MAX_VALUE;
		for (int member = 0; member < loads.length; member++) {
			loads[member] += request.traits(shard).weight();
			least = Math.min(least, leastMost(request, loads, shard + 1));
			loads[member] -= request.traits(shard).weight();
		}
		return least;
	}

	private void assertSettled(String description, RandomGroup group) {
		Assignment assignment = this.strategy.assign(group.request());
		long[] loads = loads(assignment);
		boolean mixed = IntStream.range(0, assignment.request().shards().size())
			.filter((shard) -> assignment.owner(shard) != AssignmentRequest.NOBODY)
			.filter((shard) -> assignment.reason(shard) != Reason.PINNED)
			.map((shard) -> assignment.request().traits(shard).weight())
			.distinct()
			.count() > 1;
		for (int first = 0; first < loads.length; first++) {
			for (int weight = 1; weight <= 4; weight++) {
				assertNoChain(description, assignment, mixed, loads, first, first, weight,
						new HashSet<>(Set.of(first)));
			}
		}
	}

	/** Every member that a chain comes to could be its end. */
	private static void assertNoChain(String description, Assignment assignment, boolean mixed, long[] loads, int first,
			int giver, int weight, Set<Integer> seen) {
		AssignmentRequest request = assignment.request();
		for (int shard = 0; shard < request.shards().size(); shard++) {
			if (assignment.owner(shard) != giver || assignment.reason(shard) == Reason.PINNED
					|| request.traits(shard).weight() != weight) {
				continue;
			}
			for (int taker = 0; taker < loads.length; taker++) {
				if (consumes(request, taker, shard) && seen.add(taker)) {
					long before = loads[first] * request.members().get(taker).capacity();
					long after = (loads[taker] + weight) * request.members().get(first).capacity();
					assertThat(after).as("%s: from %d to %d, weight %d: %s", description, first, taker, weight, request)
						.isGreaterThanOrEqualTo(before);
					assertThat(mixed && after == before
							&& request.members().get(taker).capacity() > request.members().get(first).capacity())
						.as("%s: from %d to %d, where it weighs less: %s", description, first, taker, request)
						.isFalse();
					assertNoChain(description, assignment, mixed, loads, first, taker, weight, seen);
				}
			}
		}
	}

	private static int assertAtHome(String description, Assignment assignment) {
		AssignmentRequest request = assignment.request();
		long[] loads = loads(assignment);
		int home = 0;
		for (int one = 0; one < request.shards().size(); one++) {
			int owner = assignment.owner(one);
			if (owner == AssignmentRequest.NOBODY || assignment.reason(one) == Reason.PINNED) {
				continue;
			}
			home += Quality.isHome(request, one, owner) ? 1 : 0;
			for (int other = 0; other < loads.length; other++) {
				assertThat(consumes(request, other, one) && gain(request, one, owner, other) > 0
						&& loads[owner] == loads[other] + request.traits(one).weight())
					.as("%s: shard %d could go home: %s", description, one, request)
					.isFalse();
			}
			for (int other = 0; other < one; other++) {
				int taker = assignment.owner(other);
				assertThat(taker != AssignmentRequest.NOBODY && assignment.reason(other) != Reason.PINNED
						&& request.traits(one).weight() == request.traits(other).weight()
						&& consumes(request, owner, other) && consumes(request, taker, one)
						&& gain(request, one, owner, taker) + gain(request, other, taker, owner) > 0)
					.as("%s: shards %d and %d could be swapped: %s", description, one, other, request)
					.isFalse();
			}
		}
		return home;
	}

	private static int gain(AssignmentRequest request, int shard, int from, int to) {
		return (Quality.isHome(request, shard, to) ? 1 : 0) - (Quality.isHome(request, shard, from) ? 1 : 0);
	}

	private static boolean consumes(AssignmentRequest request, int member, int shard) {
		return request.members().get(member).topics().contains(request.shards().get(shard).topic());
	}

	private static long[] loads(Assignment assignment) {
		long[] loads = new long[assignment.request().members().size()];
		for (int shard = 0; shard < assignment.request().shards().size(); shard++) {
			if (assignment.owner(shard) != AssignmentRequest.NOBODY) {
				loads[assignment.owner(shard)] += assignment.request().traits(shard).weight();
			}
		}
		return loads;
	}

}
