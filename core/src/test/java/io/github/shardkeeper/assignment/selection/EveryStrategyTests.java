package io.github.shardkeeper.assignment.selection;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Groups;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.rules.ConsistentHashAssignment;
import io.github.shardkeeper.assignment.rules.RangeAssignment;
import io.github.shardkeeper.assignment.rules.RoundRobinAssignment;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.Schedules;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties of every strategy, over random groups.
 */
@MoreInProof
@Promise("Least movement")
class EveryStrategyTests {

	private static final int RANDOM_GROUPS = Schedules.count("shardkeeper.assignment.groups", 200, 1_000);

	private static final int MOST_MEMBERS = 7;

	private static final int MOST_SHARDS = 40;

	static Stream<Arguments> strategies() {
		Stream<Arguments> builtIn = Arrays.stream(BuiltInStrategy.values())
			.map((strategy) -> Arguments.of(strategy.settingName(), strategy.strategy()));
		AssignmentStrategy mixed = new PerTopicAssignment(
				Map.of("t0", new StickyAssignment(), "t1", new RoundRobinAssignment(), "t3", new RangeAssignment()),
				new ConsistentHashAssignment());
		return Stream.concat(builtIn, Stream.of(Arguments.of("per topic", mixed)));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("strategies")
	void everyConsumedShardHasOneOwnerThatConsumesIt(String name, AssignmentStrategy strategy) {
		for (long seed = 0; seed < RANDOM_GROUPS; seed++) {
			AssignmentRequest request = Groups.random(seed, MOST_MEMBERS, MOST_SHARDS);

			Assignment assignment = strategy.assign(request);

			assertThat(assignment.request()).isSameAs(request);
			Set<ShardId> wanted = new TreeSet<>(request.shards().asList());
			wanted.removeIf((shard) -> request.consumersOf(shard.topic()).isEmpty());
			Map<ShardId, MemberId> owners = assignment.toMap();
			assertThat(owners.keySet()).as("seed %d", seed).isEqualTo(wanted);
			owners.forEach((shard, owner) -> assertThat(request.consumersOf(shard.topic())).extracting(Assignee::id)
				.contains(owner));
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("strategies")
	void orderOfTheInputDoesNotMatter(String name, AssignmentStrategy strategy) {
		for (long seed = 0; seed < RANDOM_GROUPS; seed++) {
			AssignmentRequest request = Groups.random(seed, MOST_MEMBERS, MOST_SHARDS);

			Assignment assignment = strategy.assign(request);

			assertThat(strategy.assign(request).toMap()).as("seed %d", seed).isEqualTo(assignment.toMap());
			assertThat(strategy.assign(Groups.shuffled(request, new Random(seed))).toMap()).as("seed %d", seed)
				.isEqualTo(assignment.toMap());
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("strategies")
	void repeatedPlansBecomeStable(String name, AssignmentStrategy strategy) {
		for (long seed = 0; seed < RANDOM_GROUPS; seed++) {
			Assignment assignment = strategy.assign(Groups.random(seed, MOST_MEMBERS, MOST_SHARDS));
			int plans = 1;
			while (assignment.isUnfinished()) {
				assertThat(assignment.moves()).as("seed %d: a step without a move", seed).isPositive();
				assertThat(plans).as("seed %d: plans", seed).isLessThan(MOST_SHARDS);
				assignment = strategy.assign(Groups.after(assignment));
				plans++;
			}

			Assignment again = strategy.assign(Groups.after(assignment));

			assertThat(again.toMap()).as("seed %d", seed).isEqualTo(assignment.toMap());
			assertThat(again.moves()).as("seed %d", seed).isZero();
			assertThat(again.isUnfinished()).as("seed %d", seed).isFalse();
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("strategies")
	void pinsHoldWhileTheInstanceConsumesTheTopic(String name, AssignmentStrategy strategy) {
		int held = 0;
		for (long seed = 0; seed < RANDOM_GROUPS; seed++) {
			AssignmentRequest request = Groups.random(seed, MOST_MEMBERS, MOST_SHARDS);
			Assignment assignment = strategy.assign(request);
			for (int shard = 0; shard < request.shards().size(); shard++) {
				String pinnedTo = request.traits(shard).pinnedTo();
				List<Assignee> able = request.consumersOf(request.shards().get(shard).topic())
					.stream()
					.filter((member) -> member.id().instance().equals(pinnedTo))
					.toList();
				if (!able.isEmpty()) {
					held++;
					assertThat(request.members().get(assignment.owner(shard))).as("seed %d: shard %d", seed, shard)
						.isIn(able);
				}
			}
		}
		assertThat(held).as("pins that were to hold").isGreaterThan(RANDOM_GROUPS / 2);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("strategies")
	void movesHaveAReasonForMovingAndOtherShardsAreKept(String name, AssignmentStrategy strategy) {
		for (long seed = 0; seed < RANDOM_GROUPS; seed++) {
			AssignmentRequest request = Groups.random(seed, MOST_MEMBERS, MOST_SHARDS);
			Assignment assignment = strategy.assign(request);
			for (int shard = 0; shard < request.shards().size(); shard++) {
				int owner = assignment.owner(shard);
				if (owner != AssignmentRequest.NOBODY) {
					assertThat(assignment.reason(shard) == Reason.KEPT || assignment.reason(shard) == Reason.PINNED)
						.as("seed %d: %s", seed, assignment.why(shard))
						.isEqualTo(request.owner(shard) == owner || assignment.reason(shard) == Reason.PINNED);
					assertThat(assignment.reason(shard)).as("seed %d: %s", seed, assignment.why(shard))
						.isNotEqualTo(Reason.CHOSEN);
				}
			}
		}
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("strategies")
	void groupsWithoutMembersOrShardsAreAccepted(String name, AssignmentStrategy strategy) {
		Shards shards = Groups.shards("t", 4);
		List<Assignee> members = Groups.alike(2);

		assertThat(strategy.assign(Groups.unowned(List.of(), shards)).toMap()).isEmpty();
		assertThat(strategy.assign(Groups.unowned(members, Shards.NONE)).toMap()).isEmpty();
		assertThat(strategy.assign(Groups.unowned(List.of(), Shards.NONE)).toMap()).isEmpty();
		assertThat(strategy.assign(Groups.unowned(List.of(Groups.member("idle")), shards)).toMap()).isEmpty();
		assertThat(strategy.assign(Groups.unowned(members, Groups.shards("nobodys", 4))).toMap()).isEmpty();
		Assignment one = strategy.assign(Groups.unowned(List.of(Groups.member("idle"), members.get(0)), shards));
		assertThat(one.toMap().values()).hasSize(4).containsOnly(members.get(0).id());
	}

}
