package io.github.shardkeeper.checkpoint.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.shard.ShardId;

/** Dead letters of a {@link MemoryCheckpointStore}. Closing does nothing. Thread-safe. */
public final class MemoryDeadLetterStore implements DeadLetterStore {

	private static final String ID_SUFFIX = "-0";

	private final MemoryCheckpointStore checkpoints;

	public MemoryDeadLetterStore(MemoryCheckpointStore checkpoints) {
		this.checkpoints = checkpoints;
	}

	@Override
	public List<StoredDeadLetter> list(ShardId shard, @Nullable String after, int limit) {
		return this.checkpoints.with(shard, (data, nowMillis) -> {
			SortedMap<Long, FailedRecord> letters = (after != null) ? data.deadLetters().tailMap(number(after) + 1)
					: data.deadLetters();
			return letters.entrySet()
				.stream()
				.limit(limit)
				.map((letter) -> new StoredDeadLetter(letter.getKey() + ID_SUFFIX, letter.getValue()))
				.toList();
		});
	}

	@Override
	public @Nullable StoredDeadLetter find(ShardId shard, String id) {
		return this.checkpoints.with(shard, (data, nowMillis) -> {
			FailedRecord letter = id.endsWith(ID_SUFFIX) ? data.deadLetters().get(number(id)) : null;
			return (letter != null) ? new StoredDeadLetter(id, letter) : null;
		});
	}

	private static long number(String id) {
		return Long.parseLong(id.substring(0, id.indexOf('-')));
	}

	@Override
	public Map<ShardId, Long> countDeadLetters(Collection<ShardId> shards) {
		Map<ShardId, Long> result = new LinkedHashMap<>();
		shards.forEach((shard) -> result.put(shard,
				this.checkpoints.with(shard, (data, nowMillis) -> (long) data.deadLetters().size())));
		return result;
	}

	@Override
	public Map<ShardId, Long> countRetries(Collection<ShardId> shards) {
		Map<ShardId, Long> result = new LinkedHashMap<>();
		shards.forEach(
				(shard) -> result.put(shard, this.checkpoints.with(shard, (data, nowMillis) -> (long) data.retries())));
		return result;
	}

	@Override
	public int sendBack(ShardId shard, List<StoredDeadLetter> letters) {
		return this.checkpoints.with(shard, (data, nowMillis) -> {
			if (letters.isEmpty() || data.isCompleted()) {
				return letters.isEmpty() ? 0 : SHARD_COMPLETED;
			}
			int moved = 0;
			for (StoredDeadLetter letter : letters) {
				moved += data.sendBack(number(letter.id()), nowMillis) ? 1 : 0;
			}
			return moved;
		});
	}

	@Override
	public int drop(ShardId shard, List<StoredDeadLetter> letters) {
		List<Long> numbers = new ArrayList<>();
		letters.forEach((letter) -> numbers.add(number(letter.id())));
		return this.checkpoints.with(shard, (data, nowMillis) -> data.drop(numbers));
	}

	@Override
	public int expire(ShardId shard, Retention retention) {
		return this.checkpoints.with(shard, (data, nowMillis) -> data.expire(retention, nowMillis));
	}

	@Override
	public void close() {
	}

}
