package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The worst crash: the leader, who would see it, goes with the member. What both had is
 * consumed again within two leases. How many groups are tried is said by
 * {@code -Dshardkeeper.simulation.crashes=…}.
 */
@Tag("proof")
class CrashOfLeaderAndMemberTests {

	private static final int GROUPS = Integer.getInteger("shardkeeper.simulation.crashes", 100);

	private static final Duration BOUND = SimulatedGroup.LEASE.multipliedBy(2);

	@Test
	void shardsOfACrashedLeaderAndMemberAreConsumedWithinTwoLeases() {
		List<Duration> gaps = new ArrayList<>();
		for (int seed = 1; seed <= GROUPS; seed++) {
			gaps.add(gap(seed));
		}
		gaps.sort(null);
		System.out.printf(
				"Crash of leader and member: %d groups, consumed again after %d ms (median), %d ms (longest)%n", GROUPS,
				gaps.get(GROUPS / 2).toMillis(), gaps.get(GROUPS - 1).toMillis());
		assertThat(gaps.get(0)).as("not before the lease of the dead has ended")
			.isGreaterThan(SimulatedGroup.LEASE.dividedBy(2));
	}

	private static Duration gap(long seed) {
		SplittableRandom random = new SplittableRandom(seed);
		SimulatedInstance[] instances = new SimulatedInstance[random.nextInt(3, 6)];
		try (Story story = new Story(8, seed)) {
			for (int i = 0; i < instances.length; i++) {
				instances[i] = story.start();
				story.pass(Duration.ofMillis(random.nextInt(500)));
			}
			story.settle(instances);
			story.feed();
			story.pass(Duration.ofMillis(random.nextInt(1000, 3000)));
			SimulatedInstance leader = story.group().leader();
			SimulatedInstance other = story.group()
				.members()
				.stream()
				.filter((member) -> member != leader)
				.skip(random.nextInt(instances.length - 1))
				.findFirst()
				.orElseThrow();
			Set<ShardId> theirs = new TreeSet<>(story.ownedBy(leader));
			theirs.addAll(story.ownedBy(other));
			Duration died = story.now();
			leader.die();
			other.die();
			return story.until(BOUND, () -> story.handledSince(died, theirs));
		}
	}

}
