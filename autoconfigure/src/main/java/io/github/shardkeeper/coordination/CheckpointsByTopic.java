package io.github.shardkeeper.coordination;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * A data plane in which some topics are kept apart from the others. Closing it closes
 * neither part. Thread-safe.
 */
public final class CheckpointsByTopic implements CheckpointStore {

	private final CheckpointStore others;

	private final Set<String> topics;

	private final CheckpointStore apart;

	/**
	 * Puts it together.
	 * @param others keeps all other topics
	 * @param topics the topics that are kept apart
	 * @param apart keeps these
	 */
	public CheckpointsByTopic(CheckpointStore others, Set<String> topics, CheckpointStore apart) {
		this.others = others;
		this.topics = Set.copyOf(topics);
		this.apart = apart;
	}

	private CheckpointStore of(ShardId shard) {
		return of(shard.topic());
	}

	private CheckpointStore of(String topic) {
		return this.topics.contains(topic) ? this.apart : this.others;
	}

	@Override
	public Acquisition acquire(ShardId shard, Token token) {
		return of(shard).acquire(shard, token);
	}

	@Override
	public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		return of(shard).commit(shard, token, commit);
	}

	@Override
	public DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
		return of(shard).due(shard, limit, bytes, except);
	}

	@Override
	public CompletionReply complete(ShardId shard, Token token, long acknowledged) {
		return of(shard).complete(shard, token, acknowledged);
	}

	@Override
	public Checkpoint read(ShardId shard) {
		return of(shard).read(shard);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		return merged(shards, CheckpointStore::offsets);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards,
			BiConsumer<ShardId, StoreUnavailableException> unreadable) {
		return merged(shards, (store, some) -> store.offsets(some, unreadable));
	}

	private <T> Map<ShardId, T> merged(Collection<ShardId> shards, Reading<T> reading) {
		List<ShardId> kept = new ArrayList<>(shards);
		kept.removeIf((shard) -> !this.topics.contains(shard.topic()));
		if (kept.isEmpty()) {
			return reading.read(this.others, shards);
		}
		Map<ShardId, T> found = new HashMap<>(reading.read(this.apart, kept));
		List<ShardId> left = new ArrayList<>(shards);
		left.removeIf((shard) -> this.topics.contains(shard.topic()));
		if (!left.isEmpty()) {
			found.putAll(reading.read(this.others, left));
		}
		return found;
	}

	@Override
	public @Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		return of(shard).seek(shard, after, clearsState);
	}

	@Override
	public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		return merged(shards, CheckpointStore::seeks);
	}

	@Override
	public Instant consumedSince(String topic) {
		return of(topic).consumedSince(topic);
	}

	@Override
	public void close() {
	}

	/** Reads something of shards. */
	@FunctionalInterface
	private interface Reading<T> {

		Map<ShardId, T> read(CheckpointStore store, Collection<ShardId> shards);

	}

}
