package io.github.shardkeeper.assignment.rules;

import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.Assignee;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.assignment.Shards;

/** Shards that a rule assigns: all but the pinned ones. Confined to its thread. */
final class UnpinnedShards {

	private final AssignmentRequest request;

	private final int[] pinned;

	private final int[] owners;

	private final int[] @Nullable [] consumers;

	UnpinnedShards(AssignmentRequest request) {
		this.request = request;
		this.pinned = request.pinnedOwners();
		this.owners = this.pinned.clone();
		this.consumers = new int[request.shards().topics().size()][];
	}

	void forEachTopic(TopicRule rule) {
		for (int topic = 0; topic < this.consumers.length; topic++) {
			int[] consumers = consumers(topic);
			if (consumers.length > 0) {
				rule.assign(unpinned(topic), consumers);
			}
		}
	}

	void forEachTopicOf(int member, TopicRule rule) {
		for (int topic = 0; topic < this.consumers.length; topic++) {
			int[] held = Arrays.stream(unpinned(topic)).filter((shard) -> this.owners[shard] == member).toArray();
			if (held.length > 0) {
				rule.assign(held, consumers(topic));
			}
		}
	}

	private int[] consumers(int topic) {
		int[] known = this.consumers[topic];
		if (known == null) {
			known = findConsumers(topic);
			this.consumers[topic] = known;
		}
		return known;
	}

	private int[] findConsumers(int topic) {
		String name = this.request.shards().topics().get(topic);
		List<Assignee> members = this.request.members();
		int[] consumers = new int[members.size()];
		int count = 0;
		for (int member = 0; member < consumers.length; member++) {
			if (members.get(member).topics().contains(name)) {
				consumers[count++] = member;
			}
		}
		return Arrays.copyOf(consumers, count);
	}

	private int[] unpinned(int topic) {
		Shards shards = this.request.shards();
		int[] unpinned = new int[shards.end(topic) - shards.begin(topic)];
		int count = 0;
		for (int shard = shards.begin(topic); shard < shards.end(topic); shard++) {
			if (this.pinned[shard] == AssignmentRequest.NOBODY) {
				unpinned[count++] = shard;
			}
		}
		return Arrays.copyOf(unpinned, count);
	}

	int owner(int shard) {
		return this.owners[shard];
	}

	void give(int shard, int member) {
		this.owners[shard] = member;
	}

	Assignment assignment() {
		byte[] reasons = new byte[this.owners.length];
		for (int shard = 0; shard < reasons.length; shard++) {
			reasons[shard] = (byte) reason(shard).ordinal();
		}
		return Assignment.unchecked(this.request, this.owners, reasons);
	}

	private Reason reason(int shard) {
		if (this.pinned[shard] != AssignmentRequest.NOBODY) {
			return Reason.PINNED;
		}
		return (this.owners[shard] == this.request.owner(shard)) ? Reason.KEPT : Reason.RULE;
	}

	@FunctionalInterface
	interface TopicRule {

		/** Gives each shard to a consumer, of which there is at least one. */
		void assign(int[] shards, int[] consumers);

	}

}
