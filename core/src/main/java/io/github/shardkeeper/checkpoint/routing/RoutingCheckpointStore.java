package io.github.shardkeeper.checkpoint.routing;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Checkpoints in two stores: one for some topics, one for all others. Closing it closes
 * neither store. Thread-safe.
 */
public final class RoutingCheckpointStore implements CheckpointStore {

	private final TopicRouting<CheckpointStore> parts;

	public RoutingCheckpointStore(CheckpointStore others, Set<String> topics, CheckpointStore apart) {
		this.parts = new TopicRouting<>(others, topics, apart);
	}

	@Override
	public CompletableFuture<Acquisition> acquire(ShardId shard, Token token) {
		return this.parts.of(shard).acquire(shard, token);
	}

	@Override
	public Acquisition acquireToWriteBack(ShardId shard, Token token) {
		return this.parts.of(shard).acquireToWriteBack(shard, token);
	}

	@Override
	public boolean readsStateOnUse(String topic) {
		return this.parts.of(topic).readsStateOnUse(topic);
	}

	@Override
	public CompletableFuture<Acquisition> acquireWithoutState(ShardId shard, Token token) {
		return this.parts.of(shard).acquireWithoutState(shard, token);
	}

	@Override
	public boolean leave(ShardId shard, Token token, @Nullable Token there, boolean consumedThere, long sought) {
		return this.parts.of(shard).leave(shard, token, there, consumedThere, sought);
	}

	@Override
	public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		return this.parts.of(shard).commit(shard, token, commit);
	}

	@Override
	public DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
		return this.parts.of(shard).due(shard, limit, bytes, except);
	}

	@Override
	public boolean listsWaiting(String topic) {
		return this.parts.of(topic).listsWaiting(topic);
	}

	@Override
	public void waiting(ShardId shard, Consumer<WaitingRecord> consumer) {
		this.parts.of(shard).waiting(shard, consumer);
	}

	@Override
	public List<FailedRecord> retries(ShardId shard, List<Offset> offsets, long bytes) {
		return this.parts.of(shard).retries(shard, offsets, bytes);
	}

	@Override
	public int changeWaiting(ShardId shard, List<Offset> offsets, WaitingRecord.Change change) {
		return this.parts.of(shard).changeWaiting(shard, offsets, change);
	}

	@Override
	public CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition) {
		return this.parts.of(shard).complete(shard, token, acknowledged, acquisition);
	}

	@Override
	public Checkpoint read(ShardId shard) {
		return this.parts.of(shard).read(shard);
	}

	@Override
	public Map<String, String> stateEntries(ShardId shard, Collection<String> keys) {
		return this.parts.of(shard).stateEntries(shard, keys);
	}

	@Override
	public @Nullable Map<String, String> ownedEntries(ShardId shard, CommitBasis basis, Collection<String> keys) {
		return this.parts.of(shard).ownedEntries(shard, basis, keys);
	}

	@Override
	public @Nullable Set<String> ownedKeys(ShardId shard, CommitBasis basis, String prefix, long nowMillis) {
		return this.parts.of(shard).ownedKeys(shard, basis, prefix, nowMillis);
	}

	@Override
	public @Nullable ExpiredKeys expiredKeys(ShardId shard, CommitBasis basis, @Nullable String after, long nowMillis) {
		return this.parts.of(shard).expiredKeys(shard, basis, after, nowMillis);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		return this.parts.merged(shards, CheckpointStore::offsets);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards,
			BiConsumer<ShardId, StoreUnavailableException> unreadable) {
		return this.parts.merged(shards, (store, some) -> store.offsets(some, unreadable));
	}

	@Override
	public @Nullable Long countStateEntries(ShardId shard) {
		return this.parts.of(shard).countStateEntries(shard);
	}

	@Override
	public @Nullable CommitHistory commits(ShardId shard) {
		return this.parts.of(shard).commits(shard);
	}

	@Override
	public Map<ShardId, CommitHistory> commits(Collection<ShardId> shards) {
		return this.parts.merged(shards, CheckpointStore::commits);
	}

	@Override
	public @Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		return this.parts.of(shard).seek(shard, after, clearsState);
	}

	@Override
	public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		return this.parts.merged(shards, CheckpointStore::seeks);
	}

	@Override
	public Instant consumedSince(String topic, @Nullable Instant known) {
		return this.parts.of(topic).consumedSince(topic, known);
	}

	/**
	 * Removes the topic from both stores: it may have been in the other one before, or be
	 * no longer configured. The other one comes first, because a checkpoint that remains
	 * there would be taken over when the topic is consumed again.
	 */
	@Override
	public Removal remove(String topic, Token newest) {
		Removal before = this.parts.without(topic).remove(topic, newest);
		Removal current = this.parts.of(topic).remove(topic, newest);
		SortedSet<ShardId> kept = new TreeSet<>(before.kept());
		kept.addAll(current.kept());
		SortedSet<ShardId> removed = new TreeSet<>(before.removed());
		removed.addAll(current.removed());
		removed.removeAll(kept);
		return new Removal(removed, kept);
	}

	@Override
	public @Nullable CallTransactions transactions(String topic) {
		return this.parts.of(topic).transactions(topic);
	}

	@Override
	public boolean keepsOutboxes(String topic) {
		return this.parts.of(topic).keepsOutboxes(topic);
	}

	@Override
	public List<Outbox.Entry> outbox(ShardId shard, Outbox.@Nullable Place after, int limit, long bytes) {
		return this.parts.of(shard).outbox(shard, after, limit, bytes);
	}

	@Override
	public boolean keepsTimers(String topic) {
		return this.parts.of(topic).keepsTimers(topic);
	}

	@Override
	public List<StoredTimer> timers(ShardId shard, @Nullable StoredTimer after, int limit) {
		return this.parts.of(shard).timers(shard, after, limit);
	}

	@Override
	public @Nullable Long countTimers(ShardId shard) {
		return this.parts.of(shard).countTimers(shard);
	}

	@Override
	public @Nullable Long countOutbox(ShardId shard) {
		return this.parts.of(shard).countOutbox(shard);
	}

	@Override
	public void close() {
	}

}
