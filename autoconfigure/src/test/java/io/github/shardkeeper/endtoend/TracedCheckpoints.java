package io.github.shardkeeper.endtoend;

import java.time.Instant;
import java.util.Collection;
import java.util.Map;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CommitNumber;
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
	public Acquisition acquire(ShardId shard, Token token) {
		long begin = Trace.nowMicros();
		Acquisition reply = this.store.acquire(shard, token);
		this.trace.storeCall(Trace.ACQUIRE, begin, shard, token,
				(reply instanceof Acquisition.Acquired) ? Trace.ACCEPTED : Trace.REFUSED);
		return reply;
	}

	@Override
	public CommitReply commit(ShardId shard, Token token, CommitNumber number, Offset offset,
			Map<String, String> changes) {
		long begin = Trace.nowMicros();
		CommitReply reply = this.store.commit(shard, token, number, offset, changes);
		this.trace.storeCall(Trace.COMMIT, begin, shard, token,
				(reply == CommitReply.COMMITTED) ? Trace.ACCEPTED : Trace.REFUSED);
		return reply;
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
	public Instant consumedSince(String topic) {
		return this.store.consumedSince(topic);
	}

	@Override
	public void close() {
		this.store.close();
	}

}
