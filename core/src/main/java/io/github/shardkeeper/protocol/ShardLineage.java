package io.github.shardkeeper.protocol;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

import io.github.shardkeeper.protocol.GroupChanges.GroupMember;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

/**
 * The shards that the members of a group know through their sources, each of which may be
 * behind, with their parents. A shard waits until its parents are completed. A parent
 * that nobody knows any more has gone with its last record: no shard waits for it. Not
 * thread-safe: confined to the coordinator's loop.
 */
final class ShardLineage {

	private Map<String, TopicShards> own = Map.of();

	/** Shards of all members, by topic. */
	private Map<String, TopicShards> topics = Map.of();

	/** By waiting shard the parents that it waits for; perhaps some too many. */
	private final Map<ShardId, Set<ShardId>> waiting = new HashMap<>();

	/** By shard that is, or descends from, its own ancestor its parents. */
	private Map<ShardId, Set<String>> cycles = Map.of();

	private boolean membersAreNew;

	/** Notes that members may know other shards now. */
	void membersChanged() {
		this.membersAreNew = true;
	}

	/**
	 * Puts together what all members know.
	 * @param ownTopics the shards that this member's source knows, by topic
	 * @param members all members
	 * @return whether anything has changed
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
			this.cycles = cycles();
		}
		return changed;
	}

	/**
	 * Returns the shards that wait for themselves, because a source reports parents that
	 * cannot be, and those that wait for these.
	 * @return by shard its parents
	 */
	Map<ShardId, Set<String>> inCycles() {
		return this.cycles;
	}

	private Map<ShardId, Set<String>> cycles() {
		Map<ShardId, Set<String>> found = new TreeMap<>();
		this.topics.forEach((topic, shards) -> {
			Set<String> left = new TreeSet<>(shards.others().keySet());
			// A shard without a parent that is left does not wait for itself.
			while (left.removeIf((id) -> shards.parents(id).stream().noneMatch(left::contains))) {
				// Until none goes any more.
			}
			left.forEach((id) -> found.put(new ShardId(topic, id), shards.parents(id)));
		});
		return found;
	}

	/**
	 * Returns the known shards that may be consumed.
	 * @param completed the shards that have come to their end
	 * @param stored the other shards that the store knows; they do not wait
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
	 * Takes in shards that have come to their end.
	 * @return the shards that waited only for them
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
