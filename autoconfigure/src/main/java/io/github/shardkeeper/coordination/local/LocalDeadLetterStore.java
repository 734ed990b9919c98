package io.github.shardkeeper.coordination.local;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.DeadLetterStore;
import io.github.shardkeeper.coordination.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.shard.ShardId;

/**
 * The dead letters in the files of a {@link LocalCheckpointStore}. Closing it does
 * nothing. Thread-safe.
 */
public final class LocalDeadLetterStore implements DeadLetterStore {

	private final ShardFiles files;

	LocalDeadLetterStore(ShardFiles files) {
		this.files = files;
	}

	private <T> T with(ShardId shard, Function<MemoryDeadLetterStore, T> step) {
		return this.files.with(shard, (store) -> step.apply(new MemoryDeadLetterStore(store)));
	}

	@Override
	public List<StoredLetter> list(ShardId shard, @Nullable String after, int limit) {
		return with(shard, (letters) -> letters.list(shard, after, limit));
	}

	@Override
	public @Nullable StoredLetter find(ShardId shard, String id) {
		return this.<List<StoredLetter>>with(shard, (letters) -> {
			StoredLetter found = letters.find(shard, id);
			return (found != null) ? List.of(found) : List.of();
		}).stream().findFirst().orElse(null);
	}

	@Override
	public Map<ShardId, Long> letters(Collection<ShardId> shards) {
		return counted(shards, DeadLetterStore::letters);
	}

	@Override
	public Map<ShardId, Long> retries(Collection<ShardId> shards) {
		return counted(shards, DeadLetterStore::retries);
	}

	private Map<ShardId, Long> counted(Collection<ShardId> shards, Counting counting) {
		Map<ShardId, Long> result = new LinkedHashMap<>();
		shards.forEach((shard) -> result.putAll(with(shard, (letters) -> counting.count(letters, List.of(shard)))));
		return result;
	}

	@Override
	public int sendBack(ShardId shard, List<StoredLetter> letters) {
		return with(shard, (stored) -> stored.sendBack(shard, letters));
	}

	@Override
	public int drop(ShardId shard, List<StoredLetter> letters) {
		return with(shard, (stored) -> stored.drop(shard, letters));
	}

	@Override
	public void close() {
	}

	/** Counts something of shards. */
	@FunctionalInterface
	private interface Counting {

		Map<ShardId, Long> count(DeadLetterStore letters, Collection<ShardId> shards);

	}

}
