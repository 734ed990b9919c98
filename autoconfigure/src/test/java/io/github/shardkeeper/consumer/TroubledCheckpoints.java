package io.github.shardkeeper.consumer;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.Commit;
import io.github.shardkeeper.coordination.DueRecords;
import io.github.shardkeeper.coordination.SeekRequest;
import io.github.shardkeeper.coordination.Seeks;
import io.github.shardkeeper.coordination.memory.MemoryCheckpointStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * A data plane in memory that can be away, and counts the commits that were accepted.
 */
final class TroubledCheckpoints implements CheckpointStore {

	private MemoryCheckpointStore store = new MemoryCheckpointStore();

	/** Shards that the store has a record of. */
	private final Set<ShardId> acquired = new HashSet<>();

	private final List<Offset> committed = new ArrayList<>();

	/** Why nothing works, {@code null} if it does. */
	private String trouble;

	/** Commits that have not arrived yet, {@code null} while they arrive at once. */
	private Deque<Runnable> underWay;

	/** What was sent, in order. */
	private final List<Commit> sent = new ArrayList<>();

	/** Commits are under way until they are let through. */
	void holdCommits() {
		this.underWay = new ArrayDeque<>();
	}

	/** Those that are under way arrive, and those that come. */
	void letCommitsThrough() {
		Deque<Runnable> held = this.underWay;
		this.underWay = null;
		held.forEach(Runnable::run);
	}

	/** All that were sent, also those that were refused. */
	List<Commit> sent() {
		return this.sent;
	}

	/** What is known now, to be lost later. */
	Object snapshot() {
		return MemoryFailover.snapshot(this.store);
	}

	void loseWritesSince(Object snapshot) {
		MemoryFailover.loseWritesSince(this.store, snapshot);
	}

	void setAway(boolean away) {
		this.trouble = away ? "away, as the test wants it" : null;
	}

	/** It answers, but not as wished. */
	void refuse(String why) {
		this.trouble = why;
	}

	/** Everything is gone, as after a flush. */
	void empty() {
		this.store = new MemoryCheckpointStore();
		this.acquired.clear();
	}

	/** The offsets of accepted commits, in order. */
	List<Offset> committed() {
		return this.committed;
	}

	private MemoryCheckpointStore reach() {
		if (this.trouble != null) {
			throw new StoreUnavailableException(this.trouble, new IllegalStateException());
		}
		return this.store;
	}

	@Override
	public Acquisition acquire(ShardId shard, Token token) {
		Acquisition reply = reach().acquire(shard, token);
		this.acquired.add(shard);
		return reply;
	}

	@Override
	public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		this.sent.add(commit);
		if (this.underWay == null) {
			return arrive(shard, token, commit);
		}
		CompletableFuture<CommitReply> reply = new CompletableFuture<>();
		this.underWay.add(() -> reply.complete(arrive(shard, token, commit).join()));
		return reply;
	}

	private CompletableFuture<CommitReply> arrive(ShardId shard, Token token, Commit commit) {
		MemoryCheckpointStore reached;
		try {
			reached = reach();
		}
		catch (StoreUnavailableException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		if (!this.acquired.contains(shard)) {
			return CompletableFuture.completedFuture(CommitReply.GONE);
		}
		CompletableFuture<CommitReply> reply = reached.commit(shard, token, commit);
		if (reply.join() == CommitReply.COMMITTED) {
			this.committed.add(commit.offset());
		}
		return reply;
	}

	@Override
	public DueRecords due(ShardId shard, int limit) {
		return reach().due(shard, limit);
	}

	@Override
	public CompletionReply complete(ShardId shard, Token token) {
		return reach().complete(shard, token);
	}

	/** What a user would find, also while the store is away. */
	@Override
	public Checkpoint read(ShardId shard) {
		return this.store.read(shard);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		return this.store.offsets(shards);
	}

	/** Whoever wants something of a shard reaches the store. */
	@Override
	public SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		return this.store.seek(shard, after, clearsState);
	}

	@Override
	public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		return reach().seeks(shards);
	}

	@Override
	public Instant consumedSince(String topic) {
		return this.store.consumedSince(topic);
	}

	@Override
	public void close() {
	}

}
