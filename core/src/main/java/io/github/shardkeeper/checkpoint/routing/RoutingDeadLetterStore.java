package io.github.shardkeeper.checkpoint.routing;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.shard.ShardId;

/**
 * Dead letters in two stores: one for some topics, one for all others. Closing it closes
 * neither store. Thread-safe.
 */
public final class RoutingDeadLetterStore implements DeadLetterStore {

	private final TopicRouting<DeadLetterStore> parts;

	public RoutingDeadLetterStore(DeadLetterStore others, Set<String> topics, DeadLetterStore apart) {
		this.parts = new TopicRouting<>(others, topics, apart);
	}

	@Override
	public List<StoredDeadLetter> list(ShardId shard, @Nullable String after, int limit) {
		return this.parts.of(shard).list(shard, after, limit);
	}

	@Override
	public @Nullable StoredDeadLetter find(ShardId shard, String id) {
		return this.parts.of(shard).find(shard, id);
	}

	@Override
	public Map<ShardId, Long> countDeadLetters(Collection<ShardId> shards) {
		return counted(shards, DeadLetterStore::countDeadLetters);
	}

	@Override
	public Map<ShardId, Long> countRetries(Collection<ShardId> shards) {
		return counted(shards, DeadLetterStore::countRetries);
	}

	private Map<ShardId, Long> counted(Collection<ShardId> shards,
			BiFunction<DeadLetterStore, Collection<ShardId>, Map<ShardId, Long>> counting) {
		Map<ShardId, Long> found = this.parts.merged(shards, counting);
		Map<ShardId, Long> inOrder = new LinkedHashMap<>();
		shards.forEach((shard) -> inOrder.put(shard, found.getOrDefault(shard, 0L)));
		return inOrder;
	}

	@Override
	public int sendBack(ShardId shard, List<StoredDeadLetter> letters) {
		return this.parts.of(shard).sendBack(shard, letters);
	}

	@Override
	public int drop(ShardId shard, List<StoredDeadLetter> letters) {
		return this.parts.of(shard).drop(shard, letters);
	}

	@Override
	public int expire(ShardId shard, Retention retention) {
		return this.parts.of(shard).expire(shard, retention);
	}

	@Override
	public void close() {
	}

}
