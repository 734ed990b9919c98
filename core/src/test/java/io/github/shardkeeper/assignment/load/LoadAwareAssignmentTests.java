package io.github.shardkeeper.assignment.load;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Conditions of moves by load. Loads are in milliseconds of handler time per second, with
 * the default settings: a difference of 100 and a fifth, and a gain of 20.
 */
@RunAlone
class LoadAwareAssignmentTests {

	private static final LoadAwareAssignment STRATEGY = new LoadAwareAssignment(LoadAwareSettings.DEFAULT);

	/** A relative threshold alone would move shards forever. */
	@ParameterizedTest
	@ValueSource(doubles = { 0.001, 1, 4, 15 })
	void noiseOfIdleInstancesMovesNothing(double most) {
		Random random = new Random(17);
		LoadedGroup group = new LoadedGroup(300).join("a", "b", "c")
			.own("a", 0, 100)
			.own("b", 100, 200)
			.own("c", 200, 300);
		int moves = 0;
		for (int plan = 0; plan < 3_000; plan++) {
			moves += group.loads((shard) -> random.nextDouble() * most).plan(STRATEGY).moves();
			group.nowMillis += 600_000;
		}
		assertThat(moves).isZero();
	}

	@Test
	void noiseOfTenPercentOnBusyInstancesMovesNothing() {
		Random random = new Random(18);
		LoadedGroup group = new LoadedGroup(40).join("a", "b").own("a", 0, 20).own("b", 20, 40);
		int moves = 0;
		for (int plan = 0; plan < 3_000; plan++) {
			moves += group.loads((shard) -> 30 * (0.9 + 0.2 * random.nextDouble())).plan(STRATEGY).moves();
			group.nowMillis += 600_000;
		}
		assertThat(moves).isZero();
	}

	@Test
	void memberLoadsAtTheThresholdDoNotMoveShardsBackAndForth() {
		Random random = new Random(19);
		// Few light shards beside a hot one, many idle ones; the hot one on the edge.
		LoadedGroup group = new LoadedGroup(24).join("a", "b").own("a", 0, 12).own("b", 12, 24);
		int moves = 0;
		for (int plan = 0; plan < 2_000; plan++) {
			double hot = 40 + 20 * random.nextDouble();
			moves += group.loads((shard) -> (shard == 0) ? hot : (shard < 3) ? 22 : 0).plan(STRATEGY).moves();
			group.nowMillis += 600_000;
		}
		assertThat(moves).isLessThanOrEqualTo(4);
	}

	@Test
	void shardLoadsAtTheThresholdDoNotMoveShardsBackAndForth() {
		Random random = new Random(20);
		LoadedGroup group = new LoadedGroup(20).join("a", "b").own("a", 0, 10).own("b", 10, 20);
		int moves = 0;
		for (int plan = 0; plan < 2_000; plan++) {
			moves += group.loads((shard) -> (shard < 10) ? 20 * (0.7 + 0.6 * random.nextDouble()) : 0)
				.plan(STRATEGY)
				.moves();
			group.nowMillis += 600_000;
		}
		assertThat(moves).isLessThanOrEqualTo(6);
	}

	@Test
	void unmeasuredGroupIsBalancedByNumber() {
		LoadedGroup group = new LoadedGroup(30).join("a", "b");
		group.plan(STRATEGY);
		group.join("c");

		assertThat(group.plan(STRATEGY).moves()).isEqualTo(10);
		assertThat(List.of(group.count("a"), group.count("b"), group.count("c"))).containsOnly(10L);
		assertThat(group.request().current())
			.isEqualTo(new StickyAssignment().assign(group.request()).request().current());
	}

	@Test
	void newIdleGroupIsBalancedByNumber() {
		LoadedGroup group = new LoadedGroup(30).join("a", "b").own("a", 0, 15).own("b", 15, 30).loads((shard) -> 0.5);
		group.join("c");

		assertThat(group.plan(STRATEGY).moves()).isEqualTo(10);
		assertThat(group.plan(STRATEGY).moves()).isZero();
	}

	/** Busy by day, idle by night. */
	@Test
	void shardsDoNotMoveWhenAllLoadsFallToZeroAndRiseAgain() {
		LoadedGroup group = new LoadedGroup(40).join("a", "b", "c", "d");
		group.plan(STRATEGY);
		int moves = 0;
		for (int phase = 0; phase < 12; phase++) {
			boolean day = phase % 2 == 0;
			group.loads((shard) -> day ? ((shard % 10 == 0) ? 600 : 15) : 0.2);
			for (int plan = 0; plan < 20; plan++) {
				int moved = group.plan(STRATEGY).moves();
				moves += (phase > 0) ? moved : 0;
				group.nowMillis += 600_000;
			}
		}
		assertThat(moves).as("after the first day").isZero();
	}

	@Test
	void unknownLoadNeverCausesAMove() {
		LoadedGroup group = new LoadedGroup(20).join("a", "b").own("a", 0, 10).own("b", 10, 20);
		// The loads of b are unknown.
		group.loads((shard) -> (shard == 0) ? 900 : (shard < 10) ? 40 : Double.NaN);
		assertThat(group.plan(STRATEGY).moves()).isZero();

		group.loads((shard) -> (shard == 0) ? 900 : (shard < 10) ? 40 : 0);
		assertThat(group.plan(STRATEGY).moves()).isPositive();
	}

	@Test
	void instanceWithHotShardGivesItsOtherShardsAway() {
		LoadedGroup group = new LoadedGroup(20).join("a", "b").own("a", 0, 10).own("b", 10, 20);
		group.loads((shard) -> (shard == 0) ? 500 : 30);

		Assignment plan = group.plan(STRATEGY);

		assertThat(group.owner(0)).isEqualTo("a");
		assertThat(group.busy("a") - group.busy("b")).isBetween(0.0, 170.0);
		assertThat(plan.moves()).isBetween(6, 8);
		assertThat(plan.why(plannedMove(plan))).contains("moves from a~1 to b~1: its owner had 770")
			.contains("ms/s of handler time and this member 300; moving 30 lowers the higher of the two by 30");
		assertThat(group.plan(STRATEGY).moves()).isZero();
	}

	private static int plannedMove(Assignment plan) {
		return IntStream.range(0, plan.request().shards().size())
			.filter((shard) -> plan.reason(shard) == Reason.LOAD)
			.findFirst()
			.orElseThrow();
	}

	@Test
	void moveWithTheLargestGainIsMade() {
		LoadedGroup group = new LoadedGroup(8).join("a", "b").own("a", 0, 4).own("b", 4, 8);
		double[] loads = { 400, 210, 100, 90, 5, 5, 5, 5 };
		group.loads((shard) -> loads[shard]);

		group.plan(STRATEGY);

		assertThat(group.owner(0)).isEqualTo("b");
		assertThat(group.count("a")).isEqualTo(3);
	}

	@Test
	void differenceMustReachAbsoluteAndRelativeThresholds() {
		LoadedGroup small = new LoadedGroup(4).join("a", "b").own("a", 0, 2).own("b", 2, 4);
		// 99 more.
		small.loads((shard) -> (shard < 2) ? 60 : (shard == 2) ? 21 : 0);
		assertThat(small.plan(STRATEGY).moves()).isZero();
		small.loads[2] = 20;
		assertThat(small.plan(STRATEGY).moves()).isOne();
		LoadedGroup group = new LoadedGroup(40).join("a", "b").own("a", 0, 20).own("b", 20, 40);
		// 300 more, but not a fifth.
		group.loads((shard) -> (shard < 20) ? 115 : 100);
		assertThat(group.plan(STRATEGY).moves()).isZero();
		// Both.
		group.loads((shard) -> (shard < 20) ? 126 : 100);
		assertThat(group.plan(STRATEGY).moves()).isPositive();
	}

	@Test
	void moveMustReachTheMinimumGain() {
		LoadedGroup group = new LoadedGroup(40).join("a", "b").own("a", 0, 20).own("b", 20, 40);
		group.loads((shard) -> (shard < 20) ? 19 : 1);
		assertThat(group.plan(STRATEGY).moves()).isZero();

		group.loads((shard) -> (shard < 20) ? 21 : 1);
		assertThat(group.plan(STRATEGY).moves()).isBetween(5, 10);
	}

	@Test
	void movedShardStaysDuringItsCoolDown() {
		LoadedGroup group = new LoadedGroup(4).join("a", "b").own("a", 0, 2).own("b", 2, 4);
		group.loads((shard) -> (shard < 2) ? 300 : 0);
		assertThat(group.plan(STRATEGY).moves()).isOne();
		int moved = group.owner(0).equals("b") ? 0 : 1;

		// Now the new owner is the busy one, by the same shard and another.
		group.loads((shard) -> (shard == moved) ? 300 : (shard >= 2) ? 300 : 0);
		group.nowMillis += Duration.ofMinutes(5).toMillis() - 1;
		group.plan(STRATEGY);
		assertThat(group.owner(moved)).isEqualTo("b");

		// A clock that was set back does not extend the cool-down forever.
		group.nowMillis -= Duration.ofDays(1).toMillis();
		group.loads((shard) -> group.owner(shard).equals("b") ? 300 : 0);
		assertThat(group.plan(STRATEGY).moves()).isPositive();
	}

	@Test
	void planMovesAtMostTheConfiguredNumber() {
		LoadedGroup group = new LoadedGroup(200).join("a", "b").own("a", 0, 100).own("b", 100, 200);
		group.loads((shard) -> (shard < 100) ? 50 : 0);

		assertThat(group.plan(STRATEGY).moves()).isEqualTo(10);
		assertThat(group.planToTheEnd(STRATEGY)).isBetween(20, 40);
		assertThat(group.busy("a") - group.busy("b")).isLessThan(0.2 * group.busy("a") + 50);
	}

	@Test
	void loadIsComparedByCapacity() {
		LoadedGroup group = new LoadedGroup(40).join("a", 1, null, Set.of("orders"))
			.join("b", 3, null, Set.of("orders"))
			.own("a", 0, 10)
			.own("b", 10, 40)
			.loads((shard) -> 50);
		assertThat(group.plan(STRATEGY).moves()).isZero();

		group.loads((shard) -> (shard < 10) ? 100 : 50);
		assertThat(group.plan(STRATEGY).moves()).isPositive();
		group.planToTheEnd(STRATEGY);
		assertThat(group.busy("b")).isGreaterThan(2 * group.busy("a"));
	}

	@Test
	void capacitiesAreRelativeAndDoNotScaleThresholds() {
		List<Integer> moves = new ArrayList<>();
		for (int capacity : List.of(1, 1_000)) {
			LoadedGroup group = new LoadedGroup(20).join("a", capacity, null, Set.of("orders"))
				.join("b", capacity, null, Set.of("orders"))
				.own("a", 0, 10)
				.own("b", 10, 20)
				.loads((shard) -> (shard == 0) ? 500 : 30);
			moves.add(group.plan(STRATEGY).moves());
		}
		assertThat(moves.get(0)).isEqualTo(moves.get(1)).isPositive();
	}

	@Test
	void unownedShardsGoToTheLeastBusyMember() {
		LoadedGroup group = new LoadedGroup(30).join("a", "b").own("a", 0, 10).own("b", 10, 20);
		group.loads((shard) -> (shard < 10) ? 90 : (shard < 20) ? 10 : (shard == 20) ? 400 : 0);

		group.plan(STRATEGY);

		assertThat(group.owner(20)).isEqualTo("b");
		// Shards without load are distributed by number, not all to one member.
		LoadedGroup idle = new LoadedGroup(60).join("a", "b", "c").own("a", 0, 15).own("b", 15, 30);
		idle.loads((shard) -> (shard == 0 || shard == 15) ? 300 : 0).own("c", 30, 31).loads[30] = 300;
		idle.plan(STRATEGY);
		assertThat(List.of(idle.count("a"), idle.count("b"), idle.count("c"))).containsOnly(20L);
	}

	@Test
	void memberThatJoinsABusyGroupGetsItsShare() {
		LoadedGroup group = new LoadedGroup(90).join("a", "b").own("a", 0, 45).own("b", 45, 90).loads((shard) -> 40);
		group.join("c");

		Assignment plan = group.plan(STRATEGY);

		assertThat(group.count("c")).isEqualTo(30);
		assertThat(plan.moves()).isEqualTo(30);
		assertThat(group.planToTheEnd(STRATEGY)).isZero();
	}

	@Test
	void memberThatJoinsAGroupWithOneHotShardGetsItsShareOfTheOthers() {
		LoadedGroup group = new LoadedGroup(90).join("a", "b")
			.own("a", 0, 45)
			.own("b", 45, 90)
			.loads((shard) -> (shard == 0) ? 900 : 0);
		group.join("c");

		group.plan(STRATEGY);

		assertThat(group.count("c")).isEqualTo(30);
		assertThat(group.owner(0)).isEqualTo("a");
		assertThat(group.planToTheEnd(STRATEGY)).isZero();
	}

	@Test
	void hotInstanceThatGaveShardsAwayIsNotFilledUpAgain() {
		LoadedGroup group = new LoadedGroup(40).join("a", "b").own("a", 0, 1).own("b", 1, 40);
		group.loads((shard) -> (shard == 0) ? 900 : 20);

		assertThat(group.plan(STRATEGY).moves()).isZero();
	}

	@Test
	void mixedVersionsTakePrecedenceOverLoads() {
		LoadedGroup group = new LoadedGroup(20);
		group.joinVersion("a", "1.0");
		group.joinVersion("b", "1.1");
		group.own("a", 0, 10).own("b", 10, 20).loads((shard) -> (shard >= 10) ? 500 : 1);

		Assignment plan = group.plan(STRATEGY);

		assertThat(plan.toMap()).isEqualTo(new StickyAssignment().assign(plan.request()).toMap());
	}

	@Test
	void pinsAndZonesHold() {
		LoadedGroup group = new LoadedGroup(6).join("a", 1, "one", Set.of("orders"))
			.join("b", 1, "two", Set.of("orders"))
			.own("a", 0, 5)
			.own("b", 5, 6);
		ShardTraits pinned = new ShardTraits(1, null, "a");
		ShardTraits inZone = new ShardTraits(1, "one", null);
		group.traits = new ShardTraits[] { pinned, pinned, inZone, inZone, ShardTraits.NONE,
				new ShardTraits(1, null, "a") };
		group.loads((shard) -> 300);

		Assignment plan = group.plan(STRATEGY);

		assertThat(IntStream.range(0, 6).mapToObj(group::owner)).containsExactly("a", "a", "a", "a", "b", "a");
		assertThat(plan.reason(5)).isEqualTo(Reason.PINNED);
		assertThat(plan.reason(4)).isIn(Reason.LOAD, Reason.SHARE);
		// If its instance is absent, a pinned shard goes to any member.
		group.leave("a");
		group.plan(STRATEGY);
		assertThat(group.count("b")).isEqualTo(6);
	}

	@Test
	void shardGoesOnlyToConsumersOfItsTopic() {
		List<ShardId> ids = new ArrayList<>();
		IntStream.range(0, 10).forEach((i) -> ids.addAll(List.of(ShardId.of("orders", i), ShardId.of("visits", i))));
		LoadedGroup group = new LoadedGroup(ids).join("a", 1, null, Set.of("orders", "visits"))
			.join("b", 1, null, Set.of("orders"))
			.join("c", 1, null, Set.of("visits"))
			.own("a", 0, 20)
			.loads((shard) -> 100);

		group.planToTheEnd(STRATEGY);

		assertThat(List.of(group.busy("a"), group.busy("b"), group.busy("c"))).allMatch((busy) -> busy >= 500);
	}

	@Test
	void extremeLoadsAreClamped() {
		LoadedGroup group = new LoadedGroup(6).join("a", "b").own("a", 0, 3).own("b", 3, 6);
		double[] absurd = { Double.POSITIVE_INFINITY, 1e300, -5, Double.NEGATIVE_INFINITY, Double.NaN, -0.0 };
		group.loads((shard) -> absurd[shard]);

		group.plan(STRATEGY);

		assertThat(group.owner(0)).isNotEqualTo(group.owner(1));
		assertThat(group.planToTheEnd(STRATEGY)).isZero();
	}

	@Test
	void emptyGroupsAndGroupsWithoutShardsAreAccepted() {
		assertThat(new LoadedGroup(3).loads((shard) -> 500).plan(STRATEGY).toMap()).isEmpty();
		assertThat(new LoadedGroup(0).join("a", "b").plan(STRATEGY).toMap()).isEmpty();
		LoadedGroup alone = new LoadedGroup(3).join("a").loads((shard) -> 500);
		alone.plan(STRATEGY);
		assertThat(alone.count("a")).isEqualTo(3);
	}

	/** Random groups become stable, and no move with enough gain remains. */
	@Test
	void repeatedPlansReachAStableAssignment() {
		for (long seed = 0; seed < 400; seed++) {
			LoadedGroup group = randomGroup(new Random(seed));
			try {
				group.planToTheEnd(STRATEGY);
				// Also with noise around the previous loads.
				Random noise = new Random(seed);
				double[] before = group.loads.clone();
				int moves = 0;
				for (int plan = 0; plan < 20; plan++) {
					moves += group.loads((shard) -> before[shard] * (0.98 + 0.04 * noise.nextDouble()))
						.plan(STRATEGY)
						.moves();
				}
				assertThat(moves).as("moves for noise").isLessThanOrEqualTo(20);
			}
			catch (AssertionError ex) {
				throw new AssertionError("Seed " + seed, ex);
			}
		}
	}

	private static LoadedGroup randomGroup(Random random) {
		List<ShardId> ids = new ArrayList<>();
		List<String> topics = List.of("orders", "visits", "clicks").subList(0, 1 + random.nextInt(3));
		topics.forEach((topic) -> IntStream.range(0, 1 + random.nextInt(60))
			.forEach((number) -> ids.add(ShardId.of(topic, number))));
		LoadedGroup group = new LoadedGroup(ids);
		int members = 1 + random.nextInt(8);
		boolean unlike = random.nextBoolean();
		for (int member = 0; member < members; member++) {
			Set<String> consumed = unlike ? Set.copyOf(topics.subList(0, 1 + random.nextInt(topics.size())))
					: Set.copyOf(topics);
			group.join("m" + member, unlike ? 1 + random.nextInt(5) : 1, unlike ? "z" + random.nextInt(2) : null,
					consumed);
		}
		double most = Math.pow(10, random.nextInt(4));
		double unknown = random.nextInt(3) / 4.0;
		group.loads((shard) -> (random.nextDouble() < unknown) ? Double.NaN
				: (random.nextInt(10) == 0) ? 10 * most * random.nextDouble() : most * random.nextDouble());
		int owned = random.nextInt(ids.size() + 1);
		int split = random.nextInt(owned + 1);
		group.own("m0", 0, split).own("m" + (members - 1), split, owned);
		if (unlike) {
			group.traits = new ShardTraits[ids.size()];
			Arrays.setAll(group.traits, (shard) -> new ShardTraits(1 + random.nextInt(3),
					random.nextInt(4) == 0 ? "z1" : null, random.nextInt(9) == 0 ? "m" + random.nextInt(9) : null));
		}
		return group;
	}

	@Test
	void largeGroupsArePlannedInTime() {
		int members = 1_000;
		int shards = 100_000;
		LoadedGroup group = new LoadedGroup(shards);
		Random random = new Random(4);
		for (int member = 0; member < members; member++) {
			group.join("m" + member);
			group.own("m" + member, member * 100, member * 100 + 100);
		}
		group.loads((shard) -> (shard < 5_000) ? 50 : 10 * random.nextDouble());
		AssignmentRequest request = group.request();
		Assignment plan = STRATEGY.assign(request);
		long best = Long.MAX_VALUE;
		for (int i = 0; i < 20; i++) {
			long begun = System.nanoTime();
			plan = STRATEGY.assign(request);
			best = Math.min(best, System.nanoTime() - begun);
		}
		System.out.printf("load-aware, 1,000 members and 100,000 shards: %.1f ms, %d moves%n", best / 1e6,
				plan.moves());
		assertThat(plan.moves()).isEqualTo(10);
		assertThat(best).isLessThan(Duration.ofSeconds(1).toNanos());
	}

	@Test
	void invalidSettingsAreRejected() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LoadAwareSettings(LoadMeasure.RECORDS, 100, 0.2, 51, Duration.ZERO, 1))
			.withMessageContaining("gain is 51.0: it must be above zero, and at most half the difference");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LoadAwareSettings(LoadMeasure.RECORDS, Double.NaN, 0.2, 5, Duration.ZERO, 1));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LoadAwareSettings(LoadMeasure.RECORDS, 100, 1, 5, Duration.ZERO, 1));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LoadAwareSettings(LoadMeasure.RECORDS, 100, 0, 5, Duration.ofSeconds(-1), 1));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LoadAwareSettings(LoadMeasure.RECORDS, 100, 0, 5, Duration.ZERO, 0));
	}

	@Test
	void strategyDeclaresThatItUsesLoads() {
		assertThat(STRATEGY.usesLoad()).isTrue();
		assertThat(new StickyAssignment().usesLoad()).isFalse();
	}

}
