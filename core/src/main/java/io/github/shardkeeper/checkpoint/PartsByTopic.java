package io.github.shardkeeper.checkpoint;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

import io.github.shardkeeper.shard.ShardId;

/**
 * Two parts of a store, of which one keeps some topics apart from the others. Immutable.
 *
 * @param others keeps all other topics
 * @param topics the topics that are kept apart
 * @param apart keeps these
 * @param <S> the parts' type
 */
record PartsByTopic<S>(S others, Set<String> topics, S apart) {

	PartsByTopic {
		topics = Set.copyOf(topics);
	}

	S of(ShardId shard) {
		return of(shard.topic());
	}

	S of(String topic) {
		return this.topics.contains(topic) ? this.apart : this.others;
	}

	/** What the parts answer for their shards, each asked once and only for its own. */
	<T> Map<ShardId, T> merged(Collection<ShardId> shards, BiFunction<S, Collection<ShardId>, Map<ShardId, T>> read) {
		Map<ShardId, T> found = new HashMap<>();
		shards.stream()
			.collect(Collectors.groupingBy(this::of))
			.forEach((part, kept) -> found.putAll(read.apply(part, kept)));
		return found;
	}

}
