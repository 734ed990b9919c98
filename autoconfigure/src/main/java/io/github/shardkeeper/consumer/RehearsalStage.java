package io.github.shardkeeper.consumer;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.coordination.DueRecords;
import io.github.shardkeeper.coordination.SeekRequest;
import io.github.shardkeeper.coordination.Seeks;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;

/**
 * What a {@link Rehearsal} needs around it: a store that agrees to everything and keeps
 * nothing, and a reader that has what it is given. Confined to one thread.
 */
final class RehearsalStage implements CheckpointStore, ShardReader {

	private @Nullable RecordSink sink;

	/** Hands a record to the worker, if it reads. */
	void offer(SourceRecord record) {
		if (this.sink != null) {
			this.sink.offer(List.of(record));
		}
	}

	@Override
	public CompletableFuture<Acquisition> acquire(ShardId shard, Token token) {
		return CompletableFuture.completedFuture(new Acquisition.Acquired(new Checkpoint(null, Map.of())));
	}

	@Override
	public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		return CompletableFuture.completedFuture(CommitReply.COMMITTED);
	}

	@Override
	public DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
		throw new UnsupportedOperationException();
	}

	@Override
	public CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Checkpoint read(ShardId shard) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		return Map.of();
	}

	@Override
	public @Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		return null;
	}

	@Override
	public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		return Map.of();
	}

	@Override
	public Instant consumedSince(String topic, @Nullable Instant known) {
		return Instant.EPOCH;
	}

	@Override
	public void start(ShardId shard, @Nullable Offset after, RecordSink reads) {
		this.sink = reads;
	}

	@Override
	public void stop(ShardId shard) {
		this.sink = null;
	}

	@Override
	public void resume(ShardId shard) {
		// It never pauses.
	}

	@Override
	public boolean poll() {
		return true;
	}

	@Override
	public Map<ShardId, String> problems() {
		return Map.of();
	}

	@Override
	public void close() {
		// Nothing is open.
	}

}
