package io.github.shardkeeper.endtoend;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

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
 * Writes down which acquisitions and commits were accepted and which were refused.
 */
final class TracedCheckpoints implements CheckpointStore {

	private final CheckpointStore store;

	private final TraceWriter trace;

	TracedCheckpoints(CheckpointStore store, TraceWriter trace) {
		this.store = store;
		this.trace = trace;
	}

	@Override
	public CompletableFuture<Acquisition> acquire(ShardId shard, Token token) {
		long begin = Trace.nowMicros();
		return this.store.acquire(shard, token).whenComplete((reply, failure) -> {
			if (failure == null && isTraced(shard)) {
				this.trace.storeCall(Trace.ACQUIRE, begin, shard, token,
						(reply instanceof Acquisition.Acquired) ? Trace.ACCEPTED : Trace.REFUSED);
			}
		});
	}

	@Override
	public Acquisition acquireToWriteBack(ShardId shard, Token token) {
		return this.store.acquireToWriteBack(shard, token);
	}

	@Override
	public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		long begin = Trace.nowMicros();
		return this.store.commit(shard, token, commit).whenComplete((reply, failure) -> {
			if (failure == null && isTraced(shard)) {
				this.trace.storeCall(Trace.COMMIT, begin, shard, token,
						(reply == CommitReply.COMMITTED) ? Trace.ACCEPTED : Trace.REFUSED);
			}
		});
	}

	private static boolean isTraced(ShardId shard) {
		return shard.topic().equals(TracingInstance.TOPIC) || shard.topic().equals(TracingInstance.KAFKA_TOPIC);
	}

	@Override
	public DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
		return this.store.due(shard, limit, bytes, except);
	}

	@Override
	public boolean listsWaiting(String topic) {
		return this.store.listsWaiting(topic);
	}

	@Override
	public void waiting(ShardId shard, Consumer<WaitingRecord> consumer) {
		this.store.waiting(shard, consumer);
	}

	@Override
	public List<FailedRecord> retries(ShardId shard, List<Offset> offsets, long bytes) {
		return this.store.retries(shard, offsets, bytes);
	}

	@Override
	public int changeWaiting(ShardId shard, List<Offset> offsets, WaitingRecord.Change change) {
		return this.store.changeWaiting(shard, offsets, change);
	}

	@Override
	public boolean keepsOutboxes(String topic) {
		return this.store.keepsOutboxes(topic);
	}

	@Override
	public List<Outbox.Entry> outbox(ShardId shard, Outbox.@Nullable Place after, int limit, long bytes) {
		return this.store.outbox(shard, after, limit, bytes);
	}

	@Override
	public @Nullable Long countOutbox(ShardId shard) {
		return this.store.countOutbox(shard);
	}

	@Override
	public boolean keepsTimers(String topic) {
		return this.store.keepsTimers(topic);
	}

	@Override
	public List<StoredTimer> timers(ShardId shard, @Nullable StoredTimer after, int limit) {
		return this.store.timers(shard, after, limit);
	}

	@Override
	public @Nullable Long countTimers(ShardId shard) {
		return this.store.countTimers(shard);
	}

	@Override
	public CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition) {
		return this.store.complete(shard, token, acknowledged, acquisition);
	}

	@Override
	public Checkpoint read(ShardId shard) {
		return this.store.read(shard);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		return this.store.offsets(shards);
	}

	@Override
	public CommitHistory commits(ShardId shard) {
		return this.store.commits(shard);
	}

	@Override
	public SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		return this.store.seek(shard, after, clearsState);
	}

	@Override
	public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		return this.store.seeks(shards);
	}

	@Override
	public Instant consumedSince(String topic, Instant known) {
		return this.store.consumedSince(topic, known);
	}

	@Override
	public void close() {
		this.store.close();
	}

}
