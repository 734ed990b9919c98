package io.github.shardkeeper.assignment;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Has each topic shared out by the strategy that was chosen for it. Immutable.
 * <p>
 * Topics of the same strategy (the same object, or an equal one) are shared out together.
 * A strategy sees its own topics only, and all members: it does not know what the others
 * give to whom. So an instance can get the larger part from each of them.
 */
public final class PerTopicAssignment implements AssignmentStrategy {

	private final Map<String, AssignmentStrategy> byTopic;

	private final AssignmentStrategy otherwise;

	/**
	 * Creates the choice.
	 * @param byTopic by topic its strategy; topics that are not there are ignored
	 * @param otherwise the strategy of all other topics
	 */
	public PerTopicAssignment(Map<String, AssignmentStrategy> byTopic, AssignmentStrategy otherwise) {
		Objects.requireNonNull(byTopic, "byTopic must not be null");
		Objects.requireNonNull(otherwise, "otherwise must not be null");
		this.byTopic = Map.copyOf(byTopic);
		this.otherwise = otherwise;
	}

	@Override
	public boolean usesLoad() {
		return this.otherwise.usesLoad() || this.byTopic.values().stream().anyMatch(AssignmentStrategy::usesLoad);
	}

	@Override
	public Assignment assign(AssignmentRequest request) {
		Objects.requireNonNull(request, "request must not be null");
		Map<AssignmentStrategy, Set<String>> topics = new LinkedHashMap<>();
		for (String topic : request.shards().topics()) {
			topics.computeIfAbsent(this.byTopic.getOrDefault(topic, this.otherwise), (s) -> new HashSet<>()).add(topic);
		}
		if (topics.size() <= 1) {
			return topics.isEmpty() ? this.otherwise.assign(request)
					: topics.keySet().iterator().next().assign(request);
		}
		Merged merged = new Merged(request);
		topics.forEach((strategy, own) -> merged.add(Excerpt.of(request, own), strategy));
		return merged.assignment();
	}

	/**
	 * Puts the parts together. Confined to its thread.
	 */
	private static final class Merged {

		private final AssignmentRequest request;

		private final int[] owners;

		private final byte[] reasons;

		private final Map<Integer, String> texts = new HashMap<>();

		private boolean unfinished;

		Merged(AssignmentRequest request) {
			this.request = request;
			this.owners = new int[request.shards().size()];
			this.reasons = new byte[this.owners.length];
			Arrays.fill(this.owners, AssignmentRequest.NOBODY);
		}

		void add(Excerpt excerpt, AssignmentStrategy strategy) {
			Assignment part = strategy.assign(excerpt.request());
			if (part.request() != excerpt.request()) {
				throw new IllegalStateException(
						"The assignment strategy %s answers another request than it was asked: begin with "
							.formatted(strategy) + "Assignment.builder(request) at each call");
			}
			for (int shard = 0; shard < excerpt.size(); shard++) {
				int number = excerpt.number(shard);
				this.owners[number] = part.owner(shard);
				this.reasons[number] = (byte) part.reason(shard).ordinal();
			}
			part.texts().forEach((shard, text) -> this.texts.put(excerpt.number(shard), text));
			this.unfinished |= part.isUnfinished();
		}

		Assignment assignment() {
			return new Assignment(this.request, this.owners, this.reasons, Map.copyOf(this.texts), this.unfinished);
		}

	}

}
