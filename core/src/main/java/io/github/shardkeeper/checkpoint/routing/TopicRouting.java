package io.github.shardkeeper.checkpoint.routing;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

import io.github.shardkeeper.shard.ShardId;

/**
 * Two stores: one for some topics, one for all others. Immutable.
 *
 * @param apart the store of the topics
 */
record TopicRouting<S>(S others, Set<String> topics, S apart) {

	TopicRouting {
		topics = Set.copyOf(topics);
	}

	S of(ShardId shard) {
		return of(shard.topic());
	}

	S of(String topic) {
		return this.topics.contains(topic) ? this.apart : this.others;
	}

	/** Returns the store that does not have a topic. */
	S without(String topic) {
		return this.topics.contains(topic) ? this.others : this.apart;
	}

	/** Merges the replies of the stores, each called once for its shards only. */
	<T> Map<ShardId, T> merged(Collection<ShardId> shards, BiFunction<S, Collection<ShardId>, Map<ShardId, T>> read) {
		Map<ShardId, T> found = new HashMap<>();
		shards.stream()
			.collect(Collectors.groupingBy(this::of))
			.forEach((part, kept) -> found.putAll(read.apply(part, kept)));
		return found;
	}

}
