package io.github.shardkeeper.operations.stored;

import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import tools.jackson.core.JacksonException;

import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Checkpoint;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.state.value.StateValues;
import io.github.shardkeeper.text.PrintableText;

/**
 * Reads committed state from the data plane. Thread-safe.
 */
public final class CommittedStateReader implements ShardStateReader {

	private static final int MOST_NAME = 200;

	private final CheckpointStore checkpoints;

	private final ShardLookup shards;

	private final StateValues values;

	private final InstantSource clock;

	/**
	 * Creates a reader of the data plane.
	 * @param clock tells what has expired
	 */
	public CommittedStateReader(CheckpointStore checkpoints, SourceRegistry sources, StateValues values,
			InstantSource clock) {
		this.checkpoints = checkpoints;
		this.shards = new ShardLookup(sources, "A call of ShardStateReader");
		this.values = values;
		this.clock = clock;
	}

	@Override
	public <T> Map<String, T> read(ShardId shard, Class<T> type) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(type, "type must not be null");
		Checkpoint checkpoint = this.checkpoints.read(shard);
		if (checkpoint.offset() == null && checkpoint.state().isEmpty()) {
			// Nothing is committed yet, or the shard does not exist. A shard with a
			// checkpoint may have been removed from the source.
			this.shards.require(shard);
		}
		return values(shard, checkpoint.state(), type);
	}

	@Override
	public <T> Map<String, T> read(ShardId shard, Collection<String> keys, Class<T> type) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(keys, "keys must not be null");
		Objects.requireNonNull(type, "type must not be null");
		Map<String, String> entries = this.checkpoints.stateEntries(shard, keys);
		if (entries.isEmpty() && this.checkpoints.offsets(List.of(shard)).isEmpty()) {
			this.shards.require(shard);
		}
		return values(shard, entries, type);
	}

	private <T> Map<String, T> values(ShardId shard, Map<String, String> stored, Class<T> type) {
		Map<String, T> values = new TreeMap<>();
		ExpiringValues.present(stored, this.clock.millis()).forEach((key, json) -> {
			try {
				values.put(key, this.values.read(json, type));
			}
			catch (JacksonException ex) {
				throw unreadable(shard, key, type, ex.getOriginalMessage(), ex);
			}
			catch (IllegalArgumentException ex) {
				throw unreadable(shard, key, type, String.valueOf(ex.getMessage()), ex);
			}
		});
		return values;
	}

	private static IllegalArgumentException unreadable(ShardId shard, String key, Class<?> type, String reason,
			RuntimeException cause) {
		return new IllegalArgumentException("The state of %s under key '%s' cannot be read as %s: %s".formatted(shard,
				PrintableText.of(key, MOST_NAME), type.getName(), PrintableText.of(reason)), cause);
	}

}
