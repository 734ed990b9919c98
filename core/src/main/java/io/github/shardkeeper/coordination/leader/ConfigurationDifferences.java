package io.github.shardkeeper.coordination.leader;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.slf4j.Logger;

import io.github.shardkeeper.protocol.GroupChanges;
import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Differences between the configurations of the members, which the leader logs once: a
 * different strategy at once, different shards of a topic after a minute, because some
 * sources see new shards before others. Confined to the coordinator's loop.
 */
final class ConfigurationDifferences {

	private static final Logger logger = PrintableLogger.of(ConfigurationDifferences.class);

	/** Long enough for every source to have refreshed its shards. */
	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final String WITHOUT_VERSION = "gets no shards that others can take: its version cannot be compared "
			+ "with theirs, so it counts as the oldest. Set 'shardkeeper.version' on all instances or on none";

	private static final int MOST_NAMED = 10;

	private final Supplier<Map<String, TopicShards>> topics;

	private final String strategy;

	private List<GroupMember> members = List.of();

	private Map<String, TopicShards> compared = Map.of();

	/** By member and topic. */
	private final Map<String, MonotonicTime> since = new HashMap<>();

	private final Set<String> reported = new HashSet<>();

	ConfigurationDifferences(Supplier<Map<String, TopicShards>> topics, String strategy) {
		this.topics = topics;
		this.strategy = strategy;
	}

	void groupRead(GroupChanges changes) {
		List<GroupMember> changed = changes.members();
		if (changed == null) {
			return;
		}
		this.members = changed;
		this.compared = Map.of();
		for (GroupMember member : changed) {
			String other = member.description().strategy();
			if (other != null && !other.equals(this.strategy) && this.reported.add(member.id() + " ")) {
				logger.warn(
						"{} has the assignment strategy '{}', but the leader's '{}' is used. "
								+ "Give all instances the same 'shardkeeper.assignment.strategy'",
						member.id(), other, this.strategy);
			}
		}
		this.reported.removeIf(this::isGone);
		this.since.keySet().removeIf(this::isGone);
	}

	/** Returns the problem of members without a comparable version, logged once each. */
	List<GroupProblem> problems(List<MemberId> withoutVersion) {
		if (withoutVersion.isEmpty()) {
			return List.of();
		}
		for (MemberId member : withoutVersion) {
			if (this.reported.add(member + " version")) {
				logger.warn("{} {}", member, WITHOUT_VERSION);
			}
		}
		String first = withoutVersion.stream().limit(MOST_NAMED).map(MemberId::value).collect(Collectors.joining(", "));
		return List.of(new GroupProblem(false, "versions", "An instance " + WITHOUT_VERSION,
				(withoutVersion.size() > MOST_NAMED) ? first + " and " + (withoutVersion.size() - MOST_NAMED) + " more"
						: first));
	}

	private boolean isGone(String entry) {
		return this.members.stream().noneMatch((member) -> entry.startsWith(member.id() + " "));
	}

	/** Logs shards that have differed for too long. Cheap while nothing differs. */
	void report(MonotonicTime now) {
		Map<String, TopicShards> own = this.topics.get();
		if (own == this.compared && this.since.isEmpty()) {
			return;
		}
		this.compared = own;
		for (GroupMember member : this.members) {
			member.description().topicShards().forEach((topic, shards) -> {
				TopicShards ours = own.get(topic);
				String difference = member.id() + " " + topic;
				if (ours == null || ours.equals(shards)) {
					this.since.remove(difference);
				}
				else if (PATIENCE.compareTo(this.since.computeIfAbsent(difference, (d) -> now).until(now)) <= 0
						&& this.reported.add(difference)) {
					logger.warn("{} knows {} shards of '{}', but this leader {}; the shards of both are consumed. "
							+ "Give all instances the same 'shardkeeper.topics.{}', and their sources the same view",
							member.id(), shards.size(), topic, ours.size(), topic);
				}
			});
		}
	}

}
