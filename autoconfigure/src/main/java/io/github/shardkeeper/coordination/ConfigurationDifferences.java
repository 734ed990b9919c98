package io.github.shardkeeper.coordination;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.handover.GroupChanges;
import io.github.shardkeeper.handover.GroupMember;

/**
 * Says once, at the leader, which members are configured differently: the leader's
 * settings hold. Confined to the coordinator's loop.
 */
final class ConfigurationDifferences {

	private static final Logger logger = LoggerFactory.getLogger(ConfigurationDifferences.class);

	private final Supplier<Map<String, Integer>> topics;

	private final String strategy;

	/** Members and what of them differs and was reported. */
	private final Set<String> reported = new HashSet<>();

	ConfigurationDifferences(Supplier<Map<String, Integer>> topics, String strategy) {
		this.topics = topics;
		this.strategy = strategy;
	}

	void report(GroupChanges changes) {
		List<GroupMember> members = changes.members();
		if (members == null) {
			return;
		}
		for (GroupMember member : members) {
			member.description().topicShards().forEach((topic, count) -> {
				Integer own = this.topics.get().get(topic);
				if (own != null && !own.equals(count) && this.reported.add(member.id() + " " + topic)) {
					logger.warn("{} has 'shardkeeper.topics.{}.shards: {}', but this leader has {}, which holds. "
							+ "Give all instances the same number", member.id(), topic, count, own);
				}
			});
			String other = member.description().strategy();
			if (other != null && !other.equals(this.strategy) && this.reported.add(member.id() + " ")) {
				logger.warn(
						"{} has the assignment strategy '{}', but this leader has '{}', which holds. "
								+ "Give all instances the same 'shardkeeper.assignment.strategy'",
						member.id(), other, this.strategy);
			}
		}
		this.reported.removeIf((entry) -> members.stream().noneMatch((member) -> entry.startsWith(member.id() + " ")));
	}

}
