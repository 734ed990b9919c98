package io.github.shardkeeper.assignment.selection;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.Groups;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.rules.CircleAssignment;
import io.github.shardkeeper.assignment.rules.RangeAssignment;
import io.github.shardkeeper.assignment.rules.RoundRobinAssignment;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.shard.ShardId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Outcomes that Kafka and RocketMQ document and test. Topics are written {@code t0:3},
 * with their number of shards; members {@code C0=t0+t1}, with what they consume; outcomes
 * {@code C0=t0/0 t0/1}.
 */
class PublishedOutcomesTests {

	/** The examples of RangeAssignor's documentation and its tests' cases. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			t0:3 t1:3 | C0=t0+t1, C1=t0+t1           | C0=t0/0 t0/1 t1/0 t1/1, C1=t0/2 t1/2
			t1:3      | C1=t1                        | C1=t1/0 t1/1 t1/2
			t1:3 t2:3 | C1=t1                        | C1=t1/0 t1/1 t1/2
			t1:1 t2:2 | C1=t1+t2                     | C1=t1/0 t2/0 t2/1
			t1:1      | C1=t1, C2=t1                 | C1=t1/0, C2=
			t1:2      | C1=t1, C2=t1                 | C1=t1/0, C2=t1/1
			t1:3 t2:2 | C1=t1, C2=t1+t2, C3=t1       | C1=t1/0, C2=t1/1 t2/0 t2/1, C3=t1/2
			t1:3 t2:3 | C1=t1+t2, C2=t1+t2           | C1=t1/0 t1/1 t2/0 t2/1, C2=t1/2 t2/2
			""")
	void range(String topics, String members, String outcome) {
		assertOutcome(new RangeAssignment(), topics, members, outcome);
	}

	/** The examples of RoundRobinAssignor's documentation and its tests' cases. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			t0:3 t1:3      | C0=t0+t1, C1=t0+t1           | C0=t0/0 t0/2 t1/1, C1=t0/1 t1/0 t1/2
			t0:1 t1:2 t2:3 | C0=t0, C1=t0+t1, C2=t0+t1+t2 | C0=t0/0, C1=t1/0, C2=t1/1 t2/0 t2/1 t2/2
			t0:1 t1:2 t2:3 | C1=t0+t1, C2=t0+t1+t2        | C1=t0/0 t1/1, C2=t1/0 t2/0 t2/1 t2/2
			t1:3           | C1=t1                        | C1=t1/0 t1/1 t1/2
			t1:3 t2:3      | C1=t1                        | C1=t1/0 t1/1 t1/2
			t1:1 t2:2      | C1=t1+t2                     | C1=t1/0 t2/0 t2/1
			t1:1           | C1=t1, C2=t1                 | C1=t1/0, C2=
			t1:2           | C1=t1, C2=t1                 | C1=t1/0, C2=t1/1
			t1:3 t2:2      | C1=t1, C2=t1+t2, C3=t1       | C1=t1/0, C2=t1/1 t2/0 t2/1, C3=t1/2
			t1:3 t2:3      | C1=t1+t2, C2=t1+t2           | C1=t1/0 t1/2 t2/1, C2=t1/1 t2/0 t2/2
			""")
	void roundRobin(String topics, String members, String outcome) {
		assertOutcome(new RoundRobinAssignment(), topics, members, outcome);
	}

	/** AllocateMessageQueueAveragely: by its test, and by hand for fewer and as many. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			t:10 | C0=t, C1=t, C2=t, C3=t | C0=t/0 t/1 t/2, C1=t/3 t/4 t/5, C2=t/6 t/7, C3=t/8 t/9
			t:8  | C0=t, C1=t             | C0=t/0 t/1 t/2 t/3, C1=t/4 t/5 t/6 t/7
			t:3  | C0=t, C1=t, C2=t       | C0=t/0, C1=t/1, C2=t/2
			t:2  | C0=t, C1=t, C2=t       | C0=t/0, C1=t/1, C2=
			""")
	void average(String topics, String members, String outcome) {
		assertOutcome(BuiltInStrategy.AVERAGE.strategy(), topics, members, outcome);
	}

	/** AllocateMessageQueueAveragelyByCircle: likewise. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			t:10      | C0=t, C1=t, C2=t, C3=t | C0=t/0 t/4 t/8, C1=t/1 t/5 t/9, C2=t/2 t/6, C3=t/3 t/7
			t:2       | C0=t, C1=t, C2=t       | C0=t/0, C1=t/1, C2=
			t0:3 t1:3 | C0=t0+t1, C1=t0+t1     | C0=t0/0 t0/2 t1/0 t1/2, C1=t0/1 t1/1
			""")
	void circle(String topics, String members, String outcome) {
		assertOutcome(new CircleAssignment(), topics, members, outcome);
	}

	/**
	 * First example of StickyAssignor: remaining owners keep their shards, and those of
	 * the member that left are shared. Which member gets which shard is not specified.
	 */
	@Test
	void stickyKeepsAllShardsOfStayingMembers() {
		AssignmentRequest three = request("t0:2 t1:2 t2:2 t3:2", "C0=t0+t1+t2+t3, C1=t0+t1+t2+t3, C2=t0+t1+t2+t3");
		Assignment before = new StickyAssignment().assign(three);
		assertThat(Groups.byInstance(before)).isEqualTo(outcome("C0=t0/0 t1/1 t3/0, C1=t0/1 t2/0 t3/1, C2=t1/0 t2/1"));

		Assignment after = new StickyAssignment().assign(Groups.after(before, without("C1", three)));

		assertThat(after.moves()).isZero();
		assertThat(Groups.sortedLoads(after)).containsExactly(4, 4);
		assertThat(Groups.byInstance(after).get("C0")).contains("t0/0", "t1/1", "t3/0");
		assertThat(Groups.byInstance(after).get("C2")).contains("t1/0", "t2/1");
	}

	/** Its second example: as even as subscriptions allow, where round-robin is not. */
	@Test
	void stickyIsAsEvenAsSubscriptionsAllow() {
		AssignmentRequest three = request("t0:1 t1:2 t2:3", "C0=t0, C1=t0+t1, C2=t0+t1+t2");
		Assignment before = new StickyAssignment().assign(three);
		assertThat(Groups.byInstance(before)).isEqualTo(outcome("C0=t0/0, C1=t1/0 t1/1, C2=t2/0 t2/1 t2/2"));

		Assignment after = new StickyAssignment().assign(Groups.after(before, without("C0", three)));

		assertThat(after.moves()).isZero();
		assertThat(Groups.byInstance(after)).isEqualTo(outcome("C1=t0/0 t1/0 t1/1, C2=t2/0 t2/1 t2/2"));
	}

	/** From the tests of both sticky assignors: loads, and how many shards move. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			t:3       | C1=t             | C1=t, C2=t             | 1 2   | 1
			t:2       | C1=t, C2=t       | C1=t, C2=t, C3=t       | 0 1 1 | 0
			t:3       | C1=t, C2=t       | C2=t                   | 3     | 0
			t1:3 t2:3 | C1=t1+t2, C2=t1+t2 | C1=t1+t2, C2=t1+t2, C3=t1+t2 | 2 2 2 | 2
			""")
	void sticky(String topics, String members, String later, String loads, int moves) {
		Assignment before = new StickyAssignment().assign(request(topics, members));

		Assignment after = new StickyAssignment().assign(Groups.after(before, request(topics, later).members()));

		assertThat(Groups.sortedLoads(after).stream().map(String::valueOf).collect(Collectors.joining(" ")))
			.isEqualTo(loads);
		assertThat(after.moves()).isEqualTo(moves);
	}

	private static void assertOutcome(AssignmentStrategy strategy, String topics, String members, String outcome) {
		AssignmentRequest request = request(topics, members);

		Assignment assignment = strategy.assign(request);

		assertThat(Groups.byInstance(assignment)).isEqualTo(outcome(outcome));
		for (int shard = 0; shard < request.shards().size(); shard++) {
			if (assignment.owner(shard) != AssignmentRequest.NOBODY) {
				assertThat(assignment.reason(shard)).isEqualTo(Reason.RULE);
			}
		}
		Assignment again = strategy.assign(Groups.after(assignment));
		assertThat(again.moves()).isZero();
		assertThat(again.toMap().keySet().stream().map(request.shards()::indexOf).map(again::reason))
			.containsOnly(Reason.KEPT);
	}

	private static AssignmentRequest request(String topics, String members) {
		Map<String, Integer> counts = new TreeMap<>();
		for (String topic : topics.split(" ")) {
			counts.put(topic.split(":")[0], Integer.valueOf(topic.split(":")[1]));
		}
		List<Assignee> assignees = entries(members).entrySet()
			.stream()
			.map((member) -> Groups.member(member.getKey(), member.getValue().split("\\+")))
			.toList();
		return Groups.unowned(assignees, Groups.shards(counts));
	}

	private static List<Assignee> without(String instance, AssignmentRequest request) {
		return request.members().stream().filter((member) -> !member.id().instance().equals(instance)).toList();
	}

	private static SortedMap<String, List<String>> outcome(String text) {
		SortedMap<String, List<String>> outcome = new TreeMap<>();
		entries(text).forEach((member, shards) -> outcome.put(member, shards.isEmpty() ? List.of()
				: Arrays.stream(shards.split(" ")).map(ShardId::parse).map(ShardId::toString).toList()));
		return outcome;
	}

	private static SortedMap<String, String> entries(String text) {
		SortedMap<String, String> entries = new TreeMap<>();
		for (String entry : text.split(", ")) {
			entries.put(entry.substring(0, entry.indexOf('=')), entry.substring(entry.indexOf('=') + 1));
		}
		return entries;
	}

}
