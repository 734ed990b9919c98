package io.github.shardkeeper.handover;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * The shards of which the members of a group know through their sources, each of which
 * may be behind: all that any of them knows. Those whose parents are not completed wait.
 * A parent that nobody knows any more has gone with its last record: it holds nothing up.
 * Confined to the coordinator's loop.
 */
final class KnownShards {

	private Map<String, TopicShards> own = Map.of();

	/** Those of other members, too. */
	private Map<String, TopicShards> topics = Map.of();

	/** Of shards that wait, the parents that they wait for; perhaps some too many. */
	private final Map<ShardId, Set<ShardId>> waiting = new HashMap<>();

	/** The parents of those that are, or descend from, their own ancestors. */
	private Map<ShardId, Set<String>> circles = Map.of();

	private boolean membersAreNew;

	/** The members say something else now, perhaps. */
	void membersChanged() {
		this.membersAreNew = true;
	}

	/**
	 * Puts together what is known.
	 * @param ownTopics what this member's source says
	 * @param members what the members say
	 * @return whether there is anything that was not known before
	 */
	boolean update(Map<String, TopicShards> ownTopics, List<GroupMember> members) {
		if (!this.membersAreNew && ownTopics.equals(this.own)) {
			return false;
		}
		this.membersAreNew = false;
		this.own = Map.copyOf(ownTopics);
		Map<String, TopicShards> all = new HashMap<>(ownTopics);
		for (GroupMember member : members) {
			SortedMap<String, TopicShards> theirs = member.description().topicShards();
			theirs.forEach((topic, shards) -> all.merge(topic, shards, TopicShards::and));
		}
		boolean changed = !all.equals(this.topics);
		this.topics = all;
		if (changed) {
			this.circles = circles();
		}
		return changed;
	}

	/**
	 * The shards that wait for themselves, because a source says something of parents
	 * that cannot be, and those that wait for these.
	 * @return by shard its parents
	 */
	Map<ShardId, Set<String>> inCircles() {
		return this.circles;
	}

	private Map<ShardId, Set<String>> circles() {
		Map<ShardId, Set<String>> found = new TreeMap<>();
		this.topics.forEach((topic, shards) -> {
			Set<String> left = new TreeSet<>(shards.others().keySet());
			// Whoever has no parent that is left does not wait for itself.
			while (left.removeIf((id) -> shards.parents(id).stream().noneMatch(left::contains))) {
				// Until none goes any more.
			}
			left.forEach((id) -> found.put(new ShardId(topic, id), shards.parents(id)));
		});
		return found;
	}

	/**
	 * The shards that are known and may be consumed.
	 * @param completed those that have come to their end
	 * @param stored those that the store knows and that have not; they wait for nobody
	 */
	Set<ShardId> startable(Set<ShardId> completed, Set<ShardId> stored) {
		Set<ShardId> startable = new HashSet<>();
		this.waiting.clear();
		this.topics.forEach((topic, shards) -> shards.forEach(topic, (shard) -> {
			if (!completed.contains(shard)) {
				Set<ShardId> awaited = awaited(shard, shards, completed, stored);
				if (awaited.isEmpty() || stored.contains(shard)) {
					startable.add(shard);
				}
				else {
					this.waiting.put(shard, awaited);
				}
			}
		}));
		return startable;
	}

	private static Set<ShardId> awaited(ShardId shard, TopicShards shards, Set<ShardId> completed,
			Set<ShardId> stored) {
		Set<ShardId> awaited = new HashSet<>();
		for (String parent : shards.parents(shard.id())) {
			ShardId id = new ShardId(shard.topic(), parent);
			if (!completed.contains(id) && (shards.contains(parent) || stored.contains(id))) {
				awaited.add(id);
			}
		}
		return awaited;
	}

	/**
	 * Some shards have come to their end.
	 * @return those that waited only for them
	 */
	List<ShardId> completed(Set<ShardId> shards) {
		List<ShardId> startable = new ArrayList<>();
		this.waiting.keySet().removeAll(shards);
		this.waiting.entrySet().removeIf((entry) -> {
			entry.getValue().removeAll(shards);
			if (entry.getValue().isEmpty()) {
				startable.add(entry.getKey());
			}
			return entry.getValue().isEmpty();
		});
		return startable;
	}

}
