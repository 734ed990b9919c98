package io.github.shardkeeper.assignment.sticky;

import java.util.Arrays;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@link StickyAssignment} with shards of equal weight, compared with an exhaustive
 * search.
 */
@Promise("Least movement")
class StickyOptimumTests {

	private static final int GROUPS = 1_500;

	private final StickyAssignment strategy = new StickyAssignment();

	@Test
	void differentSubscriptionsAreBalancedWithTheFewestMoves() {
		for (long seed = 0; seed < GROUPS; seed++) {
			assertBest("subscriptions, seed " + seed, new RandomGroup(seed));
		}
	}

	@Test
	void capacitiesAreRespectedWithTheFewestMoves() {
		for (long seed = 0; seed < GROUPS; seed++) {
			assertBest("capacities, seed " + seed, new RandomGroup(seed).capacities(3));
		}
	}

	@Test
	void asManyShardsAsBalanceAllowsAreInTheirZones() {
		for (long seed = 0; seed < GROUPS; seed++) {
			assertBest("zones, seed " + seed, new RandomGroup(seed).zones(2));
			assertBest("zones, equal subscriptions, seed " + seed, new RandomGroup(seed).zones(3).equalSubscriptions());
		}
	}

	@Test
	void pinnedShardsAreFixedAndTheRestIsOptimal() {
		for (long seed = 0; seed < GROUPS; seed++) {
			assertBest("pins, seed " + seed, new RandomGroup(seed).pins());
			assertBest("all of it, seed " + seed, new RandomGroup(seed).pins().zones(2).capacities(3));
		}
	}

	/** {@link EvenShares} assigns plain shards. */
	@Test
	void fastPathAgreesWithTheGeneralAlgorithm() {
		for (long seed = 0; seed < GROUPS; seed++) {
			AssignmentRequest general = new RandomGroup(seed).size(9, 60).capacities(3).equalSubscriptions().request();
			AssignmentRequest plain = AssignmentRequest.builder(general.members(), general.shards())
				.owners(general.current())
				.build();
			assertThat(EvenShares.fit(general)).isFalse();
			assertThat(EvenShares.fit(plain)).isTrue();

			assertThat(Quality.of(this.strategy.assign(plain))).as("seed %d", seed)
				.isEqualTo(Quality.of(this.strategy.assign(general)));
		}
	}

	private void assertBest(String description, RandomGroup group) {
		AssignmentRequest request = group.request();

		Assignment assignment = this.strategy.assign(request);

		assertThat(Quality.of(assignment)).as("%s: %s", description, request).isEqualTo(Quality.best(request));
		int[] pinned = request.pinnedOwners();
		assertThat(pinned.length).isEqualTo(request.shards().size());
		for (int shard = 0; shard < pinned.length; shard++) {
			if (pinned[shard] != AssignmentRequest.NOBODY) {
				assertThat(assignment.owner(shard)).as("%s: shard %d", description, shard).isEqualTo(pinned[shard]);
			}
		}
		assertThat(Arrays.stream(Quality.owners(assignment)).filter((owner) -> owner < 0).count())
			.as("%s: unowned", description)
			.isEqualTo(request.shards()
				.asList()
				.stream()
				.filter((shard) -> request.consumersOf(shard.topic()).isEmpty())
				.count());
	}

}
