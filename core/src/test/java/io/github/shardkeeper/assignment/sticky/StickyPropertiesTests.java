package io.github.shardkeeper.assignment.sticky;

import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.testsupport.Schedules;
import io.github.shardkeeper.testsupport.MoreInProof;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties of every plan of {@link StickyAssignment}, over random groups. Messages
 * contain the seed of the group.
 */
@MoreInProof
class StickyPropertiesTests {

	private static final int GROUPS = Schedules.count("shardkeeper.assignment.groups", 500, 2_000);

	private final StickyAssignment strategy = new StickyAssignment();

	static Stream<String> groups() {
		return Stream.of("subscriptions", "capacities", "weights", "zones", "pins", "versions", "all", "large");
	}

	private static RandomGroup group(String kind, long seed) {
		RandomGroup group = new RandomGroup(seed).size(7, 25);
		return switch (kind) {
			case "capacities" -> group.capacities(4);
			case "weights" -> group.weights(9);
			case "zones" -> group.zones(3);
			case "pins" -> group.pins();
			case "versions" -> group.versions(3);
			case "all" -> group.capacities(5).weights(4).zones(2).pins().versions(2);
			case "large" -> group.size(40, 300).capacities(5).weights(4).zones(2).pins();
			default -> group;
		};
	}

	@ParameterizedTest
	@MethodSource("groups")
	void everyConsumedShardHasAnOwnerThatConsumesIt(String kind) {
		for (long seed = 0; seed < GROUPS; seed++) {
			AssignmentRequest request = group(kind, seed).request();

			Assignment assignment = this.strategy.assign(request);

			for (int shard = 0; shard < request.shards().size(); shard++) {
				int owner = assignment.owner(shard);
				String topic = request.shards().get(shard).topic();
				if (owner == AssignmentRequest.NOBODY) {
					assertThat(request.consumersOf(topic)).as("seed %d: consumers of %s", seed, topic).isEmpty();
				}
				else {
					assertThat(request.members().get(owner).topics()).as("seed %d: topics of %d", seed, owner)
						.contains(topic);
				}
			}
		}
	}

	@ParameterizedTest
	@MethodSource("groups")
	void equalRequestsGiveEqualPlans(String kind) {
		for (long seed = 0; seed < GROUPS / 4; seed++) {
			Assignment one = this.strategy.assign(group(kind, seed).request());
			Assignment other = new StickyAssignment().assign(group(kind, seed).request());

			assertThat(Quality.owners(one)).as("seed %d", seed).isEqualTo(Quality.owners(other));
		}
	}

	@ParameterizedTest
	@MethodSource("groups")
	void planningAgainChangesNothing(String kind) {
		int moves = 0;
		for (long seed = 0; seed < GROUPS; seed++) {
			Assignment assignment = this.strategy.assign(group(kind, seed).request());
			moves += assignment.moves();

			Assignment again = this.strategy.assign(RandomGroup.after(assignment));

			assertThat(Quality.owners(again)).as("seed %d: %s", seed, assignment.request())
				.isEqualTo(Quality.owners(assignment));
		}
		assertThat(moves).as("moves of the first plans").isGreaterThan(GROUPS);
	}

	@ParameterizedTest
	@MethodSource("groups")
	void everyMoveAndEveryStayHasAReason(String kind) {
		for (long seed = 0; seed < GROUPS; seed++) {
			AssignmentRequest request = group(kind, seed).request();

			Assignment assignment = this.strategy.assign(request);

			for (int shard = 0; shard < request.shards().size(); shard++) {
				if (assignment.owner(shard) != AssignmentRequest.NOBODY) {
					assertReason("seed " + seed + ": " + assignment.why(shard), assignment, shard);
				}
			}
		}
	}

	private static void assertReason(String description, Assignment assignment, int shard) {
		AssignmentRequest request = assignment.request();
		Assignee to = request.members().get(assignment.owner(shard));
		int before = request.owner(shard);
		Reason reason = assignment.reason(shard);
		if (to.id().instance().equals(request.traits(shard).pinnedTo())) {
			assertThat(reason).as(description).isEqualTo(Reason.PINNED);
		}
		else if (before == assignment.owner(shard)) {
			assertThat(reason).as(description).isEqualTo(Reason.KEPT);
		}
		else if (before == AssignmentRequest.NOBODY
				|| !request.members().get(before).topics().contains(request.shards().get(shard).topic())) {
			assertThat(reason).as(description).isEqualTo(Reason.PLACED);
		}
		else if (request.members().get(before).version().compareTo(to.version()) < 0) {
			assertThat(reason).as(description).isEqualTo(Reason.NEWER_VERSION);
		}
		else {
			assertThat(reason).as(description).isIn(Reason.SHARE, Reason.ZONE, Reason.ROOM);
			assertThat(reason == Reason.ZONE && !Quality.isHome(request, shard, assignment.owner(shard)))
				.as(description)
				.isFalse();
		}
	}

}
