package io.github.shardkeeper.assignment.selection;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentRequest;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.Shards;

/**
 * Assignment of each topic by the strategy that is configured for it. Immutable.
 * <p>
 * Topics of equal strategies are assigned together. A strategy sees its own topics only,
 * so an instance can get the larger part from each.
 */
public final class PerTopicAssignment implements AssignmentStrategy {

	private final Map<String, AssignmentStrategy> byTopic;

	private final AssignmentStrategy otherwise;

	/** Creates the strategy. Topics that do not exist are ignored. */
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
		Union union = new Union(request);
		topics.forEach((strategy, own) -> union.add(strategy, own));
		return union.assignment();
	}

	private static final class Union {

		private final AssignmentRequest request;

		private final int[] owners;

		private final byte[] reasons;

		private final Map<Integer, String> texts = new HashMap<>();

		private boolean unfinished;

		Union(AssignmentRequest request) {
			this.request = request;
			this.owners = new int[request.shards().size()];
			this.reasons = new byte[this.owners.length];
			Arrays.fill(this.owners, AssignmentRequest.NOBODY);
		}

		void add(AssignmentStrategy strategy, Set<String> topics) {
			int[] numbers = numbers(topics);
			AssignmentRequest partRequest = partRequest(topics, numbers);
			Assignment part = strategy.assign(partRequest);
			if (part.request() != partRequest) {
				throw new IllegalStateException(
						"The assignment strategy %s returns an assignment for another request: begin with "
							.formatted(strategy) + "Assignment.builder(request) at each call");
			}
			for (int shard = 0; shard < numbers.length; shard++) {
				this.owners[numbers[shard]] = part.owner(shard);
				this.reasons[numbers[shard]] = (byte) part.reason(shard).ordinal();
			}
			part.texts().forEach((shard, text) -> this.texts.put(numbers[shard], text));
			this.unfinished |= part.isUnfinished();
		}

		private int[] numbers(Set<String> topics) {
			Shards all = this.request.shards();
			int[] numbers = new int[all.size()];
			int count = 0;
			for (int topic = 0; topic < all.topics().size(); topic++) {
				if (topics.contains(all.topics().get(topic))) {
					for (int shard = all.begin(topic); shard < all.end(topic); shard++) {
						numbers[count++] = shard;
					}
				}
			}
			return Arrays.copyOf(numbers, count);
		}

		/**
		 * Returns the request for some topics. Members have the same places, shards other
		 * numbers; moves under way are those of all topics.
		 */
		private AssignmentRequest partRequest(Set<String> topics, int[] numbers) {
			int[] partOwners = new int[numbers.length];
			long[] since = new long[numbers.length];
			long[] sinceMillis = new long[numbers.length];
			ShardTraits[] traits = new ShardTraits[numbers.length];
			double[] loads = new double[numbers.length];
			boolean plain = true;
			for (int shard = 0; shard < numbers.length; shard++) {
				int number = numbers[shard];
				partOwners[shard] = this.request.owner(number);
				since[shard] = this.request.since(number);
				sinceMillis[shard] = this.request.sinceMillis(number);
				traits[shard] = this.request.traits(number);
				loads[shard] = this.request.load(number);
				plain &= traits[shard].equals(ShardTraits.NONE);
			}
			return AssignmentRequest
				.builder(this.request.members(), this.request.shards().only((shard) -> topics.contains(shard.topic())))
				.owners(partOwners, since, sinceMillis)
				.traits(plain ? null : traits)
				.loads(loads)
				.movesUnderWay(this.request.movesUnderWay())
				.now(this.request.nowMillis())
				.build();
		}

		Assignment assignment() {
			return Assignment.unchecked(this.request, this.owners, this.reasons, Map.copyOf(this.texts),
					this.unfinished);
		}

	}

}
