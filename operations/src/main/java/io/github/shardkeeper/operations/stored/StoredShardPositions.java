package io.github.shardkeeper.operations.stored;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * Stores seek requests beside the checkpoints and notifies the owners. Thread-safe.
 */
public final class StoredShardPositions implements ShardPositions {

	private final CheckpointStore checkpoints;

	private final Consumer<Collection<ShardId>> owners;

	private final SourceRegistry sources;

	private final ShardLookup shards;

	/** Creates an instance; {@code owners} notifies owners of shards with requests. */
	public StoredShardPositions(CheckpointStore checkpoints, Consumer<Collection<ShardId>> owners,
			SourceRegistry sources) {
		this.checkpoints = checkpoints;
		this.owners = owners;
		this.sources = sources;
		this.shards = new ShardLookup(sources, "A call of ShardPositions");
	}

	@Override
	public Seek seek(ShardId shard, StartPosition position) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(position, "position must not be null");
		return request(known(shard), position, false);
	}

	@Override
	public Seek seek(String topic, StartPosition position) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(position, "position must not be null");
		return request(this.shards.of(topic), position, false);
	}

	@Override
	public Seek reset(ShardId shard, StartPosition position) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(position, "position must not be null");
		return request(known(shard), position, true);
	}

	@Override
	public Seek reset(String topic, StartPosition position) {
		Objects.requireNonNull(topic, "topic must not be null");
		Objects.requireNonNull(position, "position must not be null");
		return request(this.shards.of(topic), position, true);
	}

	private Set<ShardId> known(ShardId shard) {
		this.shards.require(shard);
		return Set.of(shard);
	}

	private Seek request(Collection<ShardId> wanted, StartPosition position, boolean clearsState) {
		Map<ShardId, Offset> before = this.sources.before(position, wanted);
		Map<ShardId, Long> requests = new LinkedHashMap<>();
		Set<ShardId> completed = new LinkedHashSet<>();
		try {
			for (ShardId shard : wanted) {
				SeekRequest request = this.checkpoints.seek(shard, Objects.requireNonNull(before.get(shard)),
						clearsState);
				if (request != null) {
					requests.put(shard, request.number());
				}
				else {
					completed.add(shard);
				}
			}
		}
		catch (StoreUnavailableException ex) {
			try {
				notifyOwners(wanted);
			}
			catch (StoreUnavailableException again) {
				ex.addSuppressed(again);
			}
			throw ex;
		}
		notifyOwners(requests.keySet());
		return new Seek(requests, completed);
	}

	private void notifyOwners(Collection<ShardId> asked) {
		if (!asked.isEmpty()) {
			this.owners.accept(asked);
		}
	}

	@Override
	public Map<ShardId, Progress> progress(Seek seek) {
		Objects.requireNonNull(seek, "seek must not be null");
		Map<ShardId, Progress> result = new TreeMap<>();
		this.checkpoints.seeks(seek.requests().keySet())
			.forEach((shard, seeks) -> result.put(shard,
					progress(Objects.requireNonNull(seek.requests().get(shard)), seeks)));
		return result;
	}

	private static Progress progress(long number, Seeks seeks) {
		long pending = (seeks.pending() != null) ? seeks.pending().number() : 0;
		if (number == pending) {
			return Progress.PENDING;
		}
		if (number == seeks.applied()) {
			return Progress.APPLIED;
		}
		return (number < Math.max(pending, seeks.applied())) ? Progress.REPLACED : Progress.LOST;
	}

}
