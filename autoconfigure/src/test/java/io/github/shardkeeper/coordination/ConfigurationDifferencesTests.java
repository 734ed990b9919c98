package io.github.shardkeeper.coordination;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.shardkeeper.handover.GroupChanges;
import io.github.shardkeeper.handover.GroupMember;
import io.github.shardkeeper.handover.MemberDescription;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class ConfigurationDifferencesTests {

	private final ConfigurationDifferences differences = new ConfigurationDifferences(() -> Map.of("orders", 8),
			"sticky");

	@Test
	void whoDiffersIsReportedOnce(CapturedOutput log) {
		GroupMember same = member("same", 8, "sticky");
		GroupMember older = member("older", 8, null);
		GroupMember shards = member("shards", 4, "sticky");
		GroupMember strategy = member("strategy", 8, "range");
		report(same, older, shards, strategy);
		report(same, older, shards, strategy);

		assertThat(log.getAll().split("WARN", -1)).hasSize(3);
		assertThat(log).contains("shards~1 has 'shardkeeper.topics.orders.shards: 4', but this leader has 8",
				"strategy~1 has the assignment strategy 'range', but this leader has 'sticky', which holds. "
						+ "Give all instances the same 'shardkeeper.assignment.strategy'");
	}

	@Test
	void whoComesBackIsReportedAgain(CapturedOutput log) {
		report(member("a", 8, "range"));
		report();
		report(member("a", 8, "range"));

		assertThat(log.getAll().split("WARN", -1)).hasSize(3);
	}

	private void report(GroupMember... members) {
		this.differences.report(new GroupChanges(null, 1, 1, 1, List.of(members), List.of()));
	}

	private static GroupMember member(String name, int shards, @Nullable String strategy) {
		return new GroupMember(MemberId.of(name, "1"), new MemberDescription(new TreeMap<>(Map.of("orders", shards)),
				ApplicationVersion.UNKNOWN, 1, null, strategy), false);
	}

}
