package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.system.CapturedOutput;

import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.testsupport.CapturesOutput;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;

@CapturesOutput
class ConfigurationDifferencesTests {

	private Map<String, TopicShards> own = Map.of("orders", TopicShards.count(8));

	private int seconds = 0;

	private final ConfigurationDifferences differences = new ConfigurationDifferences(() -> this.own, "sticky");

	@Test
	void differingMemberIsReportedOnce(CapturedOutput log) {
		GroupMember same = member("same", 8, "sticky");
		GroupMember older = member("older", 8, null);
		GroupMember shards = member("shards", 4, "sticky");
		GroupMember strategy = member("strategy", 8, "range");
		report(same, older, shards, strategy);
		this.seconds = 59;
		report(same, older, shards, strategy);
		assertThat(log).doesNotContain("shards~1");
		this.differences.report(at(60));
		this.differences.report(at(61));
		report(same, older, shards, strategy);

		assertThat(log.getAll().split("WARN", -1)).hasSize(3);
		assertThat(log).contains(
				"shards~1 knows 4 shards of 'orders', but this leader 8; the shards of both are consumed. "
						+ "Give all instances the same 'shardkeeper.topics.orders'",
				"strategy~1 has the assignment strategy 'range', but the leader's 'sticky' is used. "
						+ "Give all instances the same 'shardkeeper.assignment.strategy'");
	}

	/** Shards were added: one learns of it before the other. */
	@Test
	void shortDifferenceIsNotReported(CapturedOutput log) {
		report(member("a", 4, "sticky"));
		this.seconds = 59;
		report(member("a", 8, "sticky"));
		this.seconds = 90;
		report(member("a", 4, "sticky"));
		this.seconds = 149;
		report(member("a", 4, "sticky"));

		assertThat(log).doesNotContain("WARN");
	}

	@Test
	void outdatedLeaderIsReported(CapturedOutput log) {
		report(member("a", 8, "sticky"));
		this.own = Map.of("orders", TopicShards.count(4));
		this.differences.report(at(10));
		this.differences.report(at(70));

		assertThat(log).contains("a~1 knows 8 shards of 'orders', but this leader 4");
	}

	@Test
	void returningMemberIsReportedAgain(CapturedOutput log) {
		report(member("a", 8, "range"));
		report();
		report(member("a", 8, "range"));

		assertThat(log.getAll().split("WARN", -1)).hasSize(3);
	}

	private void report(GroupMember... members) {
		this.differences.groupRead(new GroupChanges(null, 1, 1, 1, List.of(members), List.of()));
		this.differences.report(at(this.seconds));
	}

	private static MonotonicTime at(int seconds) {
		return new MonotonicTime(Duration.ofSeconds(seconds).toNanos());
	}

	private static GroupMember member(String name, int shards, @Nullable String strategy) {
		return new GroupMember(MemberId.of(name, "1"),
				new MemberDescription(new TreeMap<>(Map.of("orders", TopicShards.count(shards))),
						ApplicationVersion.UNKNOWN, 1, null, strategy),
				false);
	}

}
