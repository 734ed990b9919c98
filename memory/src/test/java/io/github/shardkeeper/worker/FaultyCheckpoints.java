package io.github.shardkeeper.worker;

import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

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
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.coordination.memory.MemoryFailover;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * A data plane in memory that can be away, and counts the commits that were accepted.
 */
public final class FaultyCheckpoints implements CheckpointStore {

	private final InstantSource clock;

	private MemoryCheckpointStore store;

	/** Shards that the store has a record of. */
	private final Set<ShardId> acquired = new HashSet<>();

	private final List<Offset> committed = new ArrayList<>();

	/** Commits that were written, and whose replies are held back. */
	private final Deque<Held> held = new ArrayDeque<>();

	private boolean holdsAnswers;

	private boolean delaysCommits;

	private final List<Runnable> onTheirWay = new ArrayList<>();

	private boolean holdsAcquisitions;

	/** Acquisitions that were carried out, and whose replies are held back. */
	private final Deque<HeldAcquisition> heldAcquisitions = new ArrayDeque<>();

	/** Why nothing works, {@code null} if it does. */
	private String problem;

	private CallTransactions transactions;

	private boolean refuses;

	private int timerReads;

	/** Requests, in order. */
	private final List<Commit> sent = new ArrayList<>();

	/** Keys of entries of the state that were asked for, by request. */
	private final List<Set<String>> read = new ArrayList<>();

	public FaultyCheckpoints() {
		this(InstantSource.system());
	}

	/** By a clock of the test's. */
	public FaultyCheckpoints(InstantSource clock) {
		this.clock = clock;
		this.store = new MemoryCheckpointStore(clock);
	}

	/** From now on handlers are called in these transactions. */
	public void transact(CallTransactions calls) {
		this.transactions = calls;
	}

	@Override
	public CallTransactions transactions(String topic) {
		return this.transactions;
	}

	/** From now on commits are written, but not answered before the test wants it. */
	public void holdAnswers() {
		this.holdsAnswers = true;
	}

	/** Returns the number of replies that are held back. */
	public int heldAnswers() {
		return this.held.size();
	}

	/** From now on commits are on their way until the test has them arrive. */
	public void delayCommits() {
		this.delaysCommits = true;
	}

	/** They arrive, and no others are delayed. */
	public void deliverCommits() {
		this.delaysCommits = false;
		this.onTheirWay.forEach(Runnable::run);
		this.onTheirWay.clear();
	}

	/** Replies the commit that waits longest. */
	public void reply() {
		Held next = this.held.remove();
		next.future.complete(next.reply);
	}

	/** The same of acquisitions. */
	public void holdAcquisitions() {
		this.holdsAcquisitions = true;
	}

	/** Returns the number of unanswered acquisitions. */
	public int heldAcquisitions() {
		return this.heldAcquisitions.size();
	}

	/** Replies them, also those that come from now on. */
	public void answerAcquisitions() {
		this.holdsAcquisitions = false;
		while (!this.heldAcquisitions.isEmpty()) {
			HeldAcquisition next = this.heldAcquisitions.remove();
			next.future.complete(next.reply);
		}
	}

	/** The reply to the acquisition that waits longest is lost on its way. */
	public void loseAcquisition() {
		this.heldAcquisitions.remove().future.completeExceptionally(
				new StoreUnavailableException("no reply, caused by the test", new IllegalStateException()));
	}

	/** The reply to the commit that waits longest is lost on its way. */
	public void loseAnswer() {
		this.held.remove().future.completeExceptionally(
				new StoreUnavailableException("no reply, caused by the test", new IllegalStateException()));
	}

	/** Replies everything, also what comes from now on. */
	public void answerAll() {
		this.holdsAnswers = false;
		while (!this.held.isEmpty()) {
			reply();
		}
	}

	/** Operations of users on the retry queue and the dead letters. */
	public MemoryCheckpointStore store() {
		return this.store;
	}

	/** The keys of entries of the state that were asked for, by request. */
	public List<Set<String>> read() {
		return this.read;
	}

	/** All that were sent, also those that were refused. */
	public List<Commit> sent() {
		return this.sent;
	}

	/** Returns a snapshot; later writes can be lost. */
	public Object snapshot() {
		return MemoryFailover.snapshot(this.store);
	}

	public void loseWritesSince(Object snapshot) {
		MemoryFailover.loseWritesSince(this.store, snapshot);
	}

	public void setAway(boolean away) {
		this.problem = away ? "away, caused by the test" : null;
		this.refuses = false;
	}

	/** It replies, but not as wished. */
	public void refuse(String why) {
		this.problem = why;
		this.refuses = true;
	}

	/** Everything is gone, as after a flush. */
	public void empty() {
		this.store = new MemoryCheckpointStore(this.clock);
		this.acquired.clear();
	}

	/** The offsets of accepted commits, in order. */
	public List<Offset> committed() {
		return this.committed;
	}

	private MemoryCheckpointStore reach() {
		if (this.problem != null) {
			throw new StoreUnavailableException(this.problem, new IllegalStateException(), this.refuses);
		}
		return this.store;
	}

	@Override
	public CompletableFuture<Acquisition> acquire(ShardId shard, Token token) {
		return acquire(shard, (reached) -> reached.acquire(shard, token));
	}

	@Override
	public boolean readsStateOnUse(String topic) {
		return true;
	}

	@Override
	public CompletableFuture<Acquisition> acquireWithoutState(ShardId shard, Token token) {
		return acquire(shard, (reached) -> reached.acquireWithoutState(shard, token));
	}

	@Override
	public Map<String, String> ownedEntries(ShardId shard, CommitBasis basis, Collection<String> keys) {
		MemoryCheckpointStore reached = reach();
		this.read.add(Set.copyOf(keys));
		return reached.ownedEntries(shard, basis, keys);
	}

	@Override
	public Set<String> ownedKeys(ShardId shard, CommitBasis basis, String prefix, long nowMillis) {
		return reach().ownedKeys(shard, basis, prefix, nowMillis);
	}

	@Override
	public ExpiredKeys expiredKeys(ShardId shard, CommitBasis basis, String after, long nowMillis) {
		return reach().expiredKeys(shard, basis, after, nowMillis);
	}

	private CompletableFuture<Acquisition> acquire(ShardId shard,
			Function<MemoryCheckpointStore, CompletableFuture<Acquisition>> request) {
		CompletableFuture<Acquisition> reply;
		try {
			reply = request.apply(reach());
		}
		catch (StoreUnavailableException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		this.acquired.add(shard);
		if (!this.holdsAcquisitions) {
			return reply;
		}
		CompletableFuture<Acquisition> answer = new CompletableFuture<>();
		this.heldAcquisitions.add(new HeldAcquisition(reply.join(), answer));
		return answer;
	}

	@Override
	public CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		if (this.delaysCommits) {
			CompletableFuture<CommitReply> answer = new CompletableFuture<>();
			this.onTheirWay.add(() -> commit(shard, token, commit).thenAccept(answer::complete));
			return answer;
		}
		this.sent.add(commit);
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
		if (!this.holdsAnswers) {
			return reply;
		}
		Held answer = new Held(reply.join(), new CompletableFuture<>());
		this.held.add(answer);
		return answer.future;
	}

	@Override
	public DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
		return reach().due(shard, limit, bytes, except);
	}

	@Override
	public boolean listsWaiting(String topic) {
		return true;
	}

	@Override
	public void waiting(ShardId shard, Consumer<WaitingRecord> consumer) {
		reach().waiting(shard, consumer);
	}

	@Override
	public List<FailedRecord> retries(ShardId shard, List<Offset> offsets, long bytes) {
		return reach().retries(shard, offsets, bytes);
	}

	@Override
	public int changeWaiting(ShardId shard, List<Offset> offsets, WaitingRecord.Change change) {
		return reach().changeWaiting(shard, offsets, change);
	}

	@Override
	public CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition) {
		return reach().complete(shard, token, acknowledged, acquisition);
	}

	/** Returns the stored checkpoint, also while the store is unavailable. */
	@Override
	public Checkpoint read(ShardId shard) {
		return this.store.read(shard);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		return reach().offsets(shards);
	}

	@Override
	public CommitHistory commits(ShardId shard) {
		return reach().commits(shard);
	}

	/** Requests of users reach the store. */
	@Override
	public SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		return this.store.seek(shard, after, clearsState);
	}

	@Override
	public Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		return reach().seeks(shards);
	}

	@Override
	public Instant consumedSince(String topic, Instant known) {
		return reach().consumedSince(topic, known);
	}

	@Override
	public Removal remove(String topic, Token newest) {
		return reach().remove(topic, newest);
	}

	@Override
	public boolean keepsOutboxes(String topic) {
		return true;
	}

	@Override
	public List<Outbox.Entry> outbox(ShardId shard, Outbox.Place after, int limit, long bytes) {
		return reach().outbox(shard, after, limit, bytes);
	}

	@Override
	public boolean keepsTimers(String topic) {
		return true;
	}

	@Override
	public List<StoredTimer> timers(ShardId shard, StoredTimer after, int limit) {
		this.timerReads++;
		return reach().timers(shard, after, limit);
	}

	/** Returns how often timers were read. */
	public int timerReads() {
		return this.timerReads;
	}

	@Override
	public Long countTimers(ShardId shard) {
		return reach().countTimers(shard);
	}

	@Override
	public void close() {
	}

	private record HeldAcquisition(Acquisition reply, CompletableFuture<Acquisition> future) {

	}

	private record Held(CommitReply reply, CompletableFuture<CommitReply> future) {

	}

}
