package io.github.shardkeeper.assignment.selection;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Groups;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.assignment.rules.CircleAssignment;
import io.github.shardkeeper.assignment.rules.RangeAssignment;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class PerTopicAssignmentTests {

	private final List<AssignmentRequest> asked = new ArrayList<>();

	private final AssignmentStrategy recording = (request) -> {
		this.asked.add(request);
		return new RangeAssignment().assign(request);
	};

	private final List<Assignee> members = List.of(Groups.member("a", "t0", "t1", "t2"),
			Groups.member("b", "t0", "t1", "t2"));

	private final Shards shards = Groups.shards(Map.of("t0", 4, "t1", 4, "t2", 4));

	@Test
	void eachTopicFollowsItsStrategy() {
		AssignmentStrategy strategy = new PerTopicAssignment(Map.of("t1", new CircleAssignment()),
				new RangeAssignment());

		assertThat(Groups.byInstance(strategy.assign(Groups.unowned(this.members, this.shards))))
			.containsEntry("a", List.of("t0/0", "t0/1", "t1/0", "t1/2", "t2/0", "t2/1"))
			.containsEntry("b", List.of("t0/2", "t0/3", "t1/1", "t1/3", "t2/2", "t2/3"));
	}

	@Test
	void singleStrategyReceivesTheRequestItself() {
		AssignmentRequest request = Groups.unowned(this.members, this.shards);

		new PerTopicAssignment(Map.of("t1", this.recording, "absent", new CircleAssignment()), this.recording)
			.assign(request);
		new PerTopicAssignment(Map.of("t0", this.recording, "t1", this.recording, "t2", this.recording),
				new CircleAssignment())
			.assign(request);

		assertThat(this.asked).hasSize(2).allMatch((one) -> one == request);
	}

	@Test
	void topicsOfOneStrategyAreAssignedTogether() {
		AssignmentRequest request = Groups.unowned(this.members, this.shards);

		new PerTopicAssignment(Map.of("t0", this.recording, "t2", this.recording), new CircleAssignment())
			.assign(request);

		assertThat(this.asked).singleElement()
			.satisfies((one) -> assertThat(one.shards().topics()).containsExactly("t0", "t2"));
	}

	@Test
	void strategyReceivesEverythingKnownOfItsTopics() {
		ShardTraits[] traits = new ShardTraits[12];
		Arrays.fill(traits, ShardTraits.NONE);
		traits[9] = new ShardTraits(7, "zone", null);
		int[] owners = { 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, -1, 0 };
		long[] since = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
		long[] sinceMillis = { 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111 };
		double[] loads = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, Double.NaN, 11 };
		AssignmentRequest request = AssignmentRequest.builder(this.members, this.shards)
			.owners(owners, since, sinceMillis)
			.traits(traits)
			.loads(loads)
			.movesUnderWay(3)
			.now(1000)
			.build();

		new PerTopicAssignment(Map.of("t2", this.recording), new CircleAssignment()).assign(request);

		AssignmentRequest part = this.asked.get(0);
		assertThat(part.shards().asList()).hasSize(4).allMatch((shard) -> shard.topic().equals("t2"));
		assertThat(part.members()).isEqualTo(request.members());
		assertThat(part.nowMillis()).isEqualTo(1000);
		assertThat(part.movesUnderWay()).isEqualTo(3);
		assertThat(part.hasPlainShards()).isFalse();
		for (int shard = 0; shard < 4; shard++) {
			assertThat(part.owner(shard)).isEqualTo(owners[8 + shard]);
			assertThat(part.since(shard)).isEqualTo(since[8 + shard]);
			assertThat(part.sinceMillis(shard)).isEqualTo(sinceMillis[8 + shard]);
			assertThat(part.traits(shard)).isEqualTo(traits[8 + shard]);
			assertThat(Double.valueOf(part.load(shard))).isEqualTo(Double.valueOf(loads[8 + shard]));
		}
	}

	@Test
	void topicWithoutTraitsHasPlainShardsForItsStrategy() {
		ShardTraits[] traits = new ShardTraits[12];
		Arrays.fill(traits, ShardTraits.NONE);
		traits[0] = new ShardTraits(7, null, null);
		AssignmentRequest request = AssignmentRequest.builder(this.members, this.shards).traits(traits).build();

		new PerTopicAssignment(Map.of("t2", this.recording), new CircleAssignment()).assign(request);

		assertThat(this.asked.get(0).hasPlainShards()).isTrue();
	}

	@Test
	void reasonsAndTextsAreCopied() {
		AssignmentStrategy own = (request) -> {
			Assignment.Builder assignment = Assignment.builder(request).unfinished();
			request.shards().asList().forEach((shard) -> assignment.give(shard, this.members.get(1).id(), "b is best"));
			return assignment.build();
		};

		Assignment assignment = new PerTopicAssignment(Map.of("t1", own), new CircleAssignment())
			.assign(Groups.unowned(this.members, this.shards));

		int shard = this.shards.indexOf(ShardId.of("t1", 2));
		assertThat(assignment.why(shard)).isEqualTo("t1/2 goes to b~1: b is best");
		assertThat(assignment.reason(shard)).isEqualTo(Reason.CHOSEN);
		assertThat(assignment.reason(0)).isEqualTo(Reason.RULE);
		assertThat(assignment.isUnfinished()).isTrue();
	}

	@Test
	void assignmentForAnotherRequestIsRejected() {
		AssignmentRequest request = Groups.unowned(this.members, this.shards);
		Assignment stale = new RangeAssignment().assign(request);

		assertThatIllegalStateException()
			.isThrownBy(
					() -> new PerTopicAssignment(Map.of("t1", (any) -> stale), new CircleAssignment()).assign(request))
			.withMessageContaining("Assignment.builder(request)");
	}

}
