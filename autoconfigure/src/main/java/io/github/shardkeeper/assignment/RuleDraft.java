package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * An assignment that is being computed by a rule without memory. Pinned shards are given
 * away beforehand, and the rule shares out the others as though they were all. Confined
 * to its thread.
 */
final class RuleDraft {

	private final AssignmentRequest request;

	private final int[] pinned;

	private final int[] owners;

	/** By topic, once they were asked for. */
	private final int[] @Nullable [] consumers;

	RuleDraft(AssignmentRequest request) {
		this.request = request;
		this.pinned = Pins.owners(request);
		this.owners = this.pinned.clone();
		this.consumers = new int[request.shards().topics().size()][];
	}

	/**
	 * Calls a rule for each topic that somebody consumes, in their order.
	 */
	void forEachTopic(TopicRule rule) {
		for (int topic = 0; topic < this.request.shards().topics().size(); topic++) {
			int[] consumers = consumers(topic);
			if (consumers.length > 0) {
				rule.share(open(topic), consumers);
			}
		}
	}

	/**
	 * Calls a rule for each topic of which a member holds shards that are not pinned.
	 */
	void forEachTopicOf(int member, TopicRule rule) {
		for (int topic = 0; topic < this.request.shards().topics().size(); topic++) {
			int[] held = Arrays.stream(open(topic)).filter((shard) -> this.owners[shard] == member).toArray();
			if (held.length > 0) {
				rule.share(held, consumers(topic));
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

	private int[] open(int topic) {
		Shards shards = this.request.shards();
		int[] open = new int[shards.end(topic) - shards.begin(topic)];
		int count = 0;
		for (int shard = shards.begin(topic); shard < shards.end(topic); shard++) {
			if (this.pinned[shard] == AssignmentRequest.NOBODY) {
				open[count++] = shard;
			}
		}
		return Arrays.copyOf(open, count);
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
		return new Assignment(this.request, this.owners, reasons, Map.of());
	}

	private Reason reason(int shard) {
		if (this.pinned[shard] != AssignmentRequest.NOBODY) {
			return Reason.PINNED;
		}
		return (this.owners[shard] == this.request.owner(shard)) ? Reason.KEPT : Reason.RULE;
	}

	/**
	 * Shares one topic's shards out.
	 */
	@FunctionalInterface
	interface TopicRule {

		/**
		 * Gives each of them to somebody.
		 * @param shards the numbers of the shards, rising
		 * @param consumers the places of the members that consume the topic, rising; at
		 * least one
		 */
		void share(int[] shards, int[] consumers);

	}

}
