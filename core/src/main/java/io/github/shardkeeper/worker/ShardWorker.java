package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CallTransactions;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.SerialTask;
import io.github.shardkeeper.output.OutboxUsage;
import io.github.shardkeeper.output.ShardOutbox;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.protocol.member.HoldingAction.Forfeit;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardActivity;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicTime;
import io.github.shardkeeper.worker.call.HandlerCalls;
import io.github.shardkeeper.worker.call.TurnWatch;
import io.github.shardkeeper.worker.commit.Committer;
import io.github.shardkeeper.worker.failure.ShardProblem;
import io.github.shardkeeper.worker.failure.ShardProblems;
import io.github.shardkeeper.worker.progress.ShardProgress;
import io.github.shardkeeper.worker.shard.OwnedShard;
import io.github.shardkeeper.worker.shard.ShardLifecycle;
import io.github.shardkeeper.worker.shard.WorkerContext;

/**
 * Consumes one shard under one token: acquires it, handles its records, and commits and
 * releases it at the end.
 * <p>
 * It has no thread of its own: while there is something to do it is a task on the shared
 * executor, never twice at a time. Each run is a turn. A step that throws is repeated in
 * a later turn; the steps before it are not. Public methods are thread-safe; everything
 * else is confined to the task.
 */
public final class ShardWorker {

	private static final Logger logger = PrintableLogger.of(ShardWorker.class);

	private final WorkerContext context;

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final ShardLifecycle lifecycle;

	private final HandlerCalls calls;

	private final TurnWatch turns;

	private final ShardProblems problems;

	/** Stays when a seek moves the shard: what was sent is committed. */
	private final ShardOutbox outbox;

	private final SerialTask task;

	private final CompletableFuture<Void> predecessorEnded;

	private final CompletableFuture<Void> ended = new CompletableFuture<>();

	/** Whether others may have left a request for the shard in the store. */
	private volatile boolean attentionDue;

	/** Whether the store may have lost commits. */
	private volatile boolean writeBackDue;

	/** Whether the application's database has lost commits that it had accepted. */
	private volatile boolean commitsLost;

	/** That of the current ownership, for other threads; {@code null} for none. */
	private volatile @Nullable Committer committer;

	/** Whether offset and state of the shard are in memory. */
	private volatile boolean acquired;

	/** Whether the reader has the shard; it may give it up soon. */
	private volatile boolean reading;

	/** Cause of the loss of uncommitted changes, {@code null} for none. */
	private volatile Forfeit.@Nullable Cause forfeited;

	private ShardAcquisition acquisition;

	private @Nullable ShardOwnership ownership;

	/** Ownership before a seek; only until the shard is acquired again. */
	private @Nullable ShardOwnership earlier;

	/** Token of the newer owner, {@link Token#NONE} if the token is not known. */
	private @Nullable Token fence;

	/** Whether the last record of the shard is done, and marked so in the store. */
	private boolean completed;

	private boolean hasLeftBudget;

	private boolean lossReported;

	/**
	 * Creates a worker and wakes it.
	 * @param predecessorEnded completes when nothing else of this instance runs for the
	 * shard; until then the worker does nothing, not even a release
	 */
	public ShardWorker(ShardId shard, Token token, MemberId member, ShardHandler handler, WorkerContext context,
			CompletableFuture<Void> predecessorEnded) {
		this(shard, token, member, handler, context, predecessorEnded, false);
	}

	/** Creates a worker, which may be paused from the beginning, and wakes it. */
	public ShardWorker(ShardId shard, Token token, MemberId member, ShardHandler handler, WorkerContext context,
			CompletableFuture<Void> predecessorEnded, boolean paused) {
		this.context = context;
		this.handler = handler;
		this.owned = new OwnedShard(shard, token, member, context, this::wake);
		this.lifecycle = this.owned.lifecycle();
		this.lifecycle.pause(paused);
		this.calls = new HandlerCalls(this.owned);
		CallTransactions transactions = context.checkpoints().transactions(shard.topic());
		this.turns = new TurnWatch(this.calls, context.clock(),
				(transactions != null) ? transactions.lockWait() : null);
		this.problems = new ShardProblems(this.owned, handler.name(), this.calls, this.turns);
		this.task = new SerialTask(context.executor(), this::turn, this.problems::noThread);
		this.outbox = new ShardOutbox(context.group(), shard, token, context.outputs(),
				context.backlog(shard.topic()).outboxes(), this::wake);
		this.acquisition = new ShardAcquisition(this.owned);
		context.budget().join();
		this.predecessorEnded = predecessorEnded;
		if (!predecessorEnded.isDone()) {
			this.problems.blockedBy("Waits for the end of an earlier call of %s for this shard, or of a callback"
				.formatted(handler.name()));
		}
		predecessorEnded.thenRun(this::wake);
	}

	/** Returns a future for the end: nothing is done under the token any more. */
	public CompletableFuture<Void> ended() {
		return this.ended;
	}

	/** Returns the current problem, {@code null} if there is none. */
	public @Nullable ShardProblem problem() {
		return this.problems.current();
	}

	/**
	 * Returns what waits in the outbox of the shard; {@code null} if the shard has never
	 * sent anything, or is not acquired yet.
	 */
	public OutboxUsage.@Nullable Waiting outbox() {
		return this.outbox.waiting();
	}

	/** Returns what the worker has done with the shard. */
	public ShardActivity activity() {
		boolean stays = this.reading && !this.lifecycle.isLeaving() && !this.lifecycle.isSeeking();
		return new ShardActivity(this.owned.token().value(), this.owned.setAside(), stays ? this.task.sleep() : null);
	}

	/** Returns the work up to a time, {@code null} if it is not measured. */
	public @Nullable ShardWork work(MonotonicTime now) {
		return this.calls.work(now);
	}

	/** Requests a turn. Never throws. */
	public void wake() {
		this.task.wake();
	}

	/** Requests a turn if the last one failed in a way that nothing else wakes it. */
	public void rescue() {
		this.task.rescue();
	}

	/** Begins to hand the shard over: commits everything, then reports the end. */
	public void drain() {
		this.lifecycle.drain(this.context.clock().now());
		wake();
	}

	/** Cancels a drain; returns whether that was still possible. */
	public boolean cancelDrain() {
		boolean cancelled = this.lifecycle.cancelDrain();
		wake();
		return cancelled;
	}

	/**
	 * Pauses or resumes the handling of records. The shard is kept: a running call
	 * returns, and what is done is committed.
	 */
	public void pause(boolean wanted) {
		if (this.lifecycle.pause(wanted)) {
			wake();
		}
	}

	/** Processes requests for the shard in the store. */
	public void attend() {
		this.attentionDue = true;
		wake();
	}

	/** Reports a drain that takes too long and interrupts running calls. */
	public void interrupt(Duration draining) {
		this.problems.reportOverdueDrain(draining);
		this.calls.interrupt();
	}

	/** Ends without a report to the listener, because the shard is lost. */
	public void abandon() {
		this.lifecycle.abandon();
		this.owned.lose();
		interruptHandler();
		wake();
	}

	/** Abandons the shard and logs at the end what is lost with it. */
	public void forfeit(Forfeit.Cause cause) {
		this.forfeited = cause;
		abandon();
	}

	/**
	 * Returns whether this worker can restore offset and state if the store has lost
	 * them. It cannot while the shard moves to another position.
	 */
	public boolean isRestorable() {
		return this.acquired && !this.owned.isLost() && !this.lifecycle.isSeeking() && !this.ended.isDone();
	}

	void interruptHandler() {
		this.calls.interrupt();
	}

	/**
	 * Interrupts calls that run since before the end of the lease. Wakes the worker,
	 * because the lease may be held again by now: then the call is repeated.
	 */
	public void suspend() {
		this.calls.interruptAtEndOfLease();
		wake();
	}

	/** Writes everything again, because the store may have lost it. */
	public void writeBack() {
		this.writeBackDue = true;
		// The notification of a request may be lost, too.
		this.attentionDue = true;
		wake();
	}

	/**
	 * Returns the last commit that the application's database has accepted, {@code null}
	 * if the commits of the shard are not there, or it is not acquired.
	 */
	public @Nullable LastCommit acceptedByDatabase() {
		Committer current = this.committer;
		return (current != null && !this.ended.isDone()) ? current.acceptedByDatabase() : null;
	}

	/**
	 * Ends the ownership, because the database has lost commits of it: the shard is
	 * acquired under another token, and resumes from what the database has.
	 */
	public void commitsLost() {
		this.commitsLost = true;
		wake();
	}

	private boolean turn() {
		try {
			this.turns.begin();
			return step();
		}
		catch (StoreUnavailableException ex) {
			this.problems.storeFailed(ex);
		}
		catch (Throwable ex) {
			this.problems.unexpected(ex);
		}
		finally {
			this.turns.end();
		}
		return false;
	}

	/** Runs one turn and returns whether there is more to do. */
	private boolean step() {
		if (this.ended.isDone() || !this.predecessorEnded.isDone()) {
			return false;
		}
		ShardOwnership current = this.ownership;
		if (this.writeBackDue && current != null) {
			this.writeBackDue = false;
			this.owned.recordsSetAside();
			current.committer().requireWriteBack();
		}
		if (this.commitsLost && current != null) {
			this.commitsLost = false;
			current.committer().checkpointGone();
		}
		if (this.fence != null) {
			endFenced(this.fence);
			return false;
		}
		MonotonicTime now = this.context.clock().now();
		if (this.lifecycle.beginStop()) {
			if (isReleased()) {
				end(Token.NONE);
			}
			return false;
		}
		if (!this.problems.permitAttempt(now)) {
			return false;
		}
		if (current != null && this.attentionDue) {
			processRequests(current.progress(), now);
		}
		if (current != null && this.lifecycle.isSeeking()) {
			if (!isReleased()) {
				return false;
			}
			acquireAgain(current);
			current = null;
		}
		if (current == null || !current.isReading()) {
			// A failed reply can be processed without a lease.
			if (this.context.lease().permitsHandOut(now) || this.acquisition.hasFailed()) {
				current = begin();
			}
			if (current == null || !current.isReading()) {
				return false;
			}
		}
		return consume(current, now);
	}

	private void processRequests(ShardProgress progress, MonotonicTime now) {
		this.attentionDue = false;
		progress.queue().attend(now);
		try {
			lookForSeek(progress, now);
		}
		catch (StoreUnavailableException ex) {
			this.attentionDue = true;
			throw ex;
		}
	}

	/** Looks for a seek; to carry it out, the shard is released and acquired again. */
	private void lookForSeek(ShardProgress progress, MonotonicTime now) {
		ShardId shard = this.owned.shard();
		Seeks seeks = this.context.checkpoints().seeks(List.of(shard)).getOrDefault(shard, Seeks.NONE);
		SeekRequest wanted = seeks.pendingAfter(progress.sought());
		if (wanted != null) {
			logger.info("{} is to be consumed after offset {}{}; it was at {}", this.owned, wanted.after(),
					wanted.clearsState() ? " with an empty state" : "", progress.window().position());
			this.lifecycle.seek(now);
		}
		else if (seeks.pending() != null) {
			// Carried out, but the store has lost that, or does not know it yet.
			progress.recordSeek(now);
		}
	}

	private void acquireAgain(ShardOwnership released) {
		released.end();
		this.acquired = false;
		this.reading = false;
		this.ownership = null;
		this.committer = null;
		this.earlier = released;
		this.acquisition = new ShardAcquisition(this.owned);
		this.lifecycle.seekEnded();
		this.problems.clear();
	}

	/** Acquires and starts the shard, as far as possible in this turn. */
	private @Nullable ShardOwnership begin() {
		ShardOwnership current = this.ownership;
		if (current == null) {
			Acquisition reply = this.acquisition.poll();
			if (reply instanceof Acquisition.Refused refused) {
				fenced(refused.fence());
			}
			if (!(reply instanceof Acquisition.Acquired granted)) {
				return null;
			}
			if (this.earlier == null) {
				this.outbox.begin(granted.outbox());
			}
			current = new ShardOwnership(this.owned, this.handler, this.calls, this.turns, this.problems, this.outbox,
					granted, this.earlier);
			this.ownership = current;
			this.committer = current.committer();
			this.earlier = null;
			this.owned.reached(MovePhase.ACQUIRED, this.context.clock().now());
		}
		this.outbox.load(this.context.checkpoints());
		current.start();
		this.acquired = true;
		this.reading = current.isReading();
		if (this.attentionDue || this.writeBackDue) {
			// Set during the acquisition: nothing else wakes the worker for it.
			wake();
		}
		if (!current.isReading()) {
			this.problems.turnSucceeded();
		}
		return current;
	}

	private boolean consume(ShardOwnership current, MonotonicTime now) {
		ShardOwnership.Loop.Outcome outcome = current.run();
		if (!current.committer().isRepeating()) {
			this.problems.turnSucceeded();
		}
		this.problems.forwarding(this.outbox.problem());
		switch (outcome) {
			case FENCED -> fenced(Token.NONE);
			case CHECKPOINT_MISSING -> this.problems.checkpointMissing();
			case COMPLETED -> {
				complete(current.committer(), now);
				return true;
			}
			case MORE, IDLE -> {
			}
		}
		return outcome == ShardOwnership.Loop.Outcome.MORE;
	}

	private void complete(Committer committer, MonotonicTime now) {
		switch (this.context.checkpoints()
			.complete(this.owned.shard(), this.owned.token(), committer.numbers().acknowledged(),
					committer.numbers().acquisition())) {
			case COMPLETED -> {
				this.completed = true;
				this.lifecycle.drain(now);
			}
			case PENDING -> {
				this.attentionDue = true;
				// Those of a handler that has no method for them any more, say.
				committer.progress().timers().attend();
			}
			case STALE -> fenced(Token.NONE);
			case GONE -> committer.checkpointGone();
		}
	}

	private void fenced(Token newer) {
		ShardOwnership current = this.ownership;
		if (current != null && current.committer().resumesFromStore() && !this.lossReported) {
			this.lossReported = current.committer().reportLostCommits();
		}
		if (!this.lossReported) {
			logger.warn("{} was taken over by a newer owner; what was not committed under token {} is dropped",
					this.owned, this.owned.token());
		}
		this.owned.lose();
		interruptHandler();
		this.fence = newer;
		endFenced(newer);
	}

	private void endFenced(Token newer) {
		ShardOwnership current = this.ownership;
		if (current == null || current.stop()) {
			if (current != null) {
				current.revoke();
			}
			end(newer);
		}
	}

	/**
	 * Stops reading, calls the revocation callback and makes the last commit; returns
	 * whether all is done. Running calls and a pending commit wake the worker.
	 */
	private boolean isReleased() {
		ShardOwnership current = this.ownership;
		if (current == null) {
			return true;
		}
		if (!current.stop() || !current.revoke()) {
			return false;
		}
		if (this.lifecycle.drainingSince() != null && !this.lifecycle.isAbandoned()) {
			this.owned.reached(MovePhase.DRAINED, this.context.clock().now());
		}
		return !current.isStarted() || isCommitted(current.committer());
	}

	private boolean isCommitted(Committer committer) {
		try {
			switch (committer.flush()) {
				case DONE -> {
					// What was sent is committed. It is forwarded now, as far as replies
					// come: its time limit is the longest that this may take.
					return this.lifecycle.isAbandoned() || !this.outbox.isForwarding();
				}
				case SENT -> {
					// A lost shard does not wait for the reply: its new owner may wait.
					return this.lifecycle.isAbandoned();
				}
				case FENCED -> fenced(Token.NONE);
				case CHECKPOINT_MISSING -> {
					this.problems.checkpointMissing();
					return this.lifecycle.isAbandoned();
				}
			}
			return false;
		}
		catch (StoreUnavailableException ex) {
			if (!this.lifecycle.isAbandoned()) {
				throw ex;
			}
			logger.debug("{} is lost, and the store did not reply to its last commit", this.owned, ex);
			return true;
		}
	}

	private void end(Token newer) {
		reportLoss();
		this.problems.clear();
		if (!this.hasLeftBudget) {
			this.hasLeftBudget = true;
			this.context.budget().leave();
		}
		this.acquisition.cancel();
		this.outbox.close();
		if (this.ownership != null) {
			this.ownership.end();
		}
		if (!this.lifecycle.isAbandoned()) {
			this.context.listener()
				.workerEnded(this.owned.shard(), this.owned.token(), newer, this.completed && !this.owned.isLost());
		}
		// Last: there is no turn after this.
		this.ended.complete(null);
	}

	private void reportLoss() {
		Forfeit.Cause cause = (this.forfeited == null && this.fence != null) ? Forfeit.Cause.TAKEN_OVER
				: this.forfeited;
		this.forfeited = null;
		if (cause == null || this.ownership == null || this.lossReported) {
			return;
		}
		this.lossReported = true;
		this.ownership.committer().reportLoss(cause);
	}

}
