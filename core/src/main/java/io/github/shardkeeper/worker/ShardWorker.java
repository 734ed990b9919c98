package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.loop.SerialTask;
import io.github.shardkeeper.protocol.HoldingAction.Forfeit;
import io.github.shardkeeper.protocol.MeasuredLoads.ShardWork;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Consumes one shard under one token: acquires it, has its records handled, and commits
 * and releases it when it has to leave.
 * <p>
 * It has no thread of its own: while there is something to do it is a task on the shared
 * executor, never twice at a time. What may be called from outside is thread-safe; the
 * steps are confined to that task. A step that throws is done again in a later turn, and
 * those before it are not.
 */
public final class ShardWorker {

	private static final Logger logger = LoggerFactory.getLogger(ShardWorker.class);

	private final WorkerContext context;

	private final OwnedShard owned;

	private final ShardScope scope;

	private final ShardLifecycle lifecycle = new ShardLifecycle();

	private final HandlerCalls calls;

	private final ShardProblems problems;

	private final SerialTask task;

	private final CompletableFuture<Void> predecessorEnded;

	private final CompletableFuture<Void> ended = new CompletableFuture<>();

	/** Whether others may have left a request for the shard in the store. */
	private volatile boolean attentionDue;

	/** Whether the store may have lost what was committed. */
	private volatile boolean writeBackDue;

	/** Whether offset and state are in memory. */
	private volatile boolean acquired;

	/** Cause of the loss of what is in memory only, {@code null} for none. */
	private volatile Forfeit.@Nullable Cause forfeited;

	private ShardAcquisition acquisition;

	/** {@code null} until the shard is acquired. */
	private @Nullable ShardOwnership ownership;

	/** Commits before a seek; only until the shard is acquired again. */
	private @Nullable ShardCommits earlier;

	/**
	 * Token of the newer owner, or {@link Token#NONE} if only that it exists is known.
	 */
	private @Nullable Token fence;

	/** Whether the last record that the shard will ever have is done. */
	private boolean completed;

	private boolean hasLeftBudget;

	private boolean lossReported;

	/**
	 * Creates a worker and wakes it.
	 * @param shard the shard
	 * @param token the token under which it is owned
	 * @param member the owner
	 * @param handler the handler of its topic
	 * @param context what all workers share
	 * @param predecessorEnded completes when whatever this instance still does for the
	 * same shard has ended; before that nothing is done, not even a release
	 */
	public ShardWorker(ShardId shard, Token token, MemberId member, ShardHandler handler, WorkerContext context,
			CompletableFuture<Void> predecessorEnded) {
		this.context = context;
		this.owned = new OwnedShard(shard, token, member, context);
		this.calls = new HandlerCalls(this.owned, this.lifecycle, context);
		this.problems = new ShardProblems(this.owned, handler.name(), context, this.lifecycle, this.calls, this::wake);
		this.task = new SerialTask(context.executor(), this::turn, this.problems::noThread);
		this.scope = new ShardScope(this.owned, handler, context.settings(shard.topic()), context, this.lifecycle,
				this.calls, this.problems, this::wake);
		this.acquisition = new ShardAcquisition(this.owned, context.checkpoints(), context.acquisitions(), this::wake);
		context.budget().join();
		this.predecessorEnded = predecessorEnded;
		if (!predecessorEnded.isDone()) {
			this.problems.blockedBy("Waits for the end of an earlier call of %s for this shard, or of a callback"
				.formatted(handler.name()));
		}
		predecessorEnded.thenRun(this::wake);
	}

	/**
	 * Completes when nothing is consumed or written under this token any more.
	 * @return the future
	 */
	public CompletableFuture<Void> ended() {
		return this.ended;
	}

	/**
	 * Returns what keeps the shard from being consumed or handed over.
	 * @return the problem, {@code null} if there is none
	 */
	public @Nullable Problem problem() {
		return this.problems.current();
	}

	/**
	 * Returns the work done so far.
	 * @param now the time up to which running calls count
	 * @return the work, {@code null} where it is not measured
	 */
	public @Nullable ShardWork work(MonotonicTime now) {
		return this.calls.work(now);
	}

	/** Has the worker look for something to do. Never throws. */
	public void wake() {
		this.task.wake();
	}

	/** Wakes the worker if its last turn failed so badly that nothing else would. */
	public void rescue() {
		this.task.rescue();
	}

	/** Begins to hand the shard over: commits everything and reports the end. */
	public void drain() {
		this.lifecycle.drain(this.context.clock().now());
		wake();
	}

	/**
	 * Cancels a drain.
	 * @return whether that was still possible
	 */
	public boolean cancelDrain() {
		boolean cancelled = this.lifecycle.cancelDrain();
		wake();
		return cancelled;
	}

	/** Has the worker look for requests in the store. */
	public void attend() {
		this.attentionDue = true;
		wake();
	}

	/**
	 * Reports a drain that takes too long and interrupts the calls that run now.
	 * @param draining time since the drain has begun
	 */
	public void interrupt(Duration draining) {
		this.problems.reportOverdueDrain(draining);
		this.calls.interrupt();
	}

	/** Ends without a report, because the shard is lost. */
	public void abandon() {
		this.lifecycle.abandon();
		this.owned.lose();
		interruptHandler();
		wake();
	}

	/**
	 * Abandons the shard and, at the end, reports what is lost with it.
	 * @param cause why it is lost
	 */
	public void forfeit(Forfeit.Cause cause) {
		this.forfeited = cause;
		abandon();
	}

	/**
	 * Returns whether offset and state can be restored from here if the store has lost
	 * them. Not if the shard is to move to another position.
	 * @return whether they can
	 */
	public boolean isRestorable() {
		return this.acquired && !this.owned.isLost() && !this.lifecycle.isSeeking() && !this.ended.isDone();
	}

	/** Interrupts the calls that run now. */
	void interruptHandler() {
		this.calls.interrupt();
	}

	/**
	 * Interrupts the calls because the lease has ended. Wakes the worker: by now the
	 * lease may be held again, and then the interrupted call is to be made again.
	 */
	public void suspend() {
		interruptHandler();
		wake();
	}

	/** Has everything written again, because the store may have lost it. */
	public void writeBack() {
		this.writeBackDue = true;
		// The notice of a request may be lost too.
		this.attentionDue = true;
		wake();
	}

	private boolean turn() {
		try {
			return step();
		}
		catch (StoreUnavailableException ex) {
			this.problems.storeFailed(ex);
		}
		catch (Throwable ex) {
			this.problems.unexpected(ex);
		}
		return false;
	}

	/** Does what there is to do for one turn; returns whether there is more. */
	private boolean step() {
		if (this.ended.isDone() || !this.predecessorEnded.isDone()) {
			return false;
		}
		ShardOwnership current = this.ownership;
		if (this.writeBackDue && current != null) {
			this.writeBackDue = false;
			current.commits().requireWriteBack();
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
			attendTo(current.progress(), now);
		}
		if (current != null && this.lifecycle.isSeeking()) {
			if (!isReleased()) {
				return false;
			}
			acquireAgain(current);
			current = null;
		}
		if (current == null || !current.isReading()) {
			// A failed answer can be processed without a lease.
			if (this.context.lease().permitsHandOut(now) || this.acquisition.hasFailed()) {
				current = begin();
			}
			if (current == null || !current.isReading()) {
				return false;
			}
		}
		return consume(current, now);
	}

	/** Looks for records that others put into the retry queue, and for a seek. */
	private void attendTo(ShardProgress progress, MonotonicTime now) {
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

	/**
	 * Looks for a request to move the shard. Whoever acquires a shard goes where a
	 * pending request leads; so the worker has only to release it and to acquire it
	 * again.
	 */
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
			// The store has lost that it was carried out, or does not know it yet.
			progress.recordSeek(now);
		}
	}

	private void acquireAgain(ShardOwnership released) {
		released.end();
		this.acquired = false;
		this.ownership = null;
		this.earlier = released.commits();
		this.acquisition = new ShardAcquisition(this.owned, this.context.checkpoints(), this.context.acquisitions(),
				this::wake);
		this.lifecycle.seekEnded();
		this.problems.clear();
	}

	/** Acquires and starts the shard, as far as it gets. */
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
			current = new ShardOwnership(this.scope, granted, this.earlier);
			this.ownership = current;
			this.earlier = null;
		}
		current.start();
		this.acquired = true;
		if (this.attentionDue || this.writeBackDue) {
			// It came while the shard was being acquired, and nothing else wakes for it.
			wake();
		}
		if (!current.isReading()) {
			this.problems.turnSucceeded();
		}
		return current;
	}

	private boolean consume(ShardOwnership current, MonotonicTime now) {
		ShardOwnership.Loop.Outcome outcome = current.run();
		if (!current.commits().isRepeating()) {
			this.problems.turnSucceeded();
		}
		switch (outcome) {
			case FENCED -> fenced(Token.NONE);
			case CHECKPOINT_MISSING -> this.problems.checkpointMissing();
			case COMPLETED -> {
				complete(current.commits(), now);
				return true;
			}
			case MORE, IDLE -> {
			}
		}
		return outcome == ShardOwnership.Loop.Outcome.MORE;
	}

	/** Marks the shard as completed in the store: all is done, and no more will come. */
	private void complete(ShardCommits commits, MonotonicTime now) {
		switch (this.context.checkpoints()
			.complete(this.owned.shard(), this.owned.token(), commits.acknowledged(), commits.acquisition())) {
			case COMPLETED -> {
				this.completed = true;
				this.lifecycle.drain(now);
			}
			case PENDING -> this.attentionDue = true;
			case STALE -> fenced(Token.NONE);
			case GONE -> commits.requireWriteBack();
		}
	}

	/** Loses the shard to a newer owner. */
	private void fenced(Token newer) {
		logger.warn("{} was taken over by a newer owner; what was not committed under token {} is dropped", this.owned,
				this.owned.token());
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
	 * Stops reading, calls the revocation callback, makes the last commit; returns
	 * whether all of it is over. Calls that run, and a commit that is under way, wake the
	 * worker when they end.
	 */
	private boolean isReleased() {
		ShardOwnership current = this.ownership;
		if (current == null) {
			return true;
		}
		if (!current.stop() || !current.revoke()) {
			return false;
		}
		return !current.isStarted() || isCommitted(current.commits());
	}

	private boolean isCommitted(ShardCommits commits) {
		try {
			switch (commits.flush()) {
				case DONE -> {
					return true;
				}
				case SENT -> {
					// A newer owner may wait for the end of a shard that is lost.
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
			logger.debug("{} is lost, and the store did not answer its last commit", this.owned, ex);
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
		if (this.ownership != null) {
			this.ownership.end();
		}
		if (!this.lifecycle.isAbandoned()) {
			this.context.listener()
				.workerEnded(this.owned.shard(), this.owned.token(), newer, this.completed && !this.owned.isLost());
		}
		// Last: from here on there is no next turn.
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
		this.ownership.commits().reportLoss(cause);
	}

	/**
	 * Problem that keeps a shard from being consumed or handed over. Immutable.
	 *
	 * @param text a sentence
	 * @param alarm whether somebody has to look at it now; otherwise Shardkeeper recovers
	 * automatically, and it is only worth knowing
	 */
	public record Problem(String text, boolean alarm) {

		/**
		 * Creates a problem that somebody has to look at now.
		 * @param text a sentence
		 * @return the problem
		 */
		public static Problem alarm(String text) {
			return new Problem(text, true);
		}

		/**
		 * Returns the sentences alone.
		 * @param problems the problems by shard
		 * @return their texts by shard
		 */
		public static Map<ShardId, String> texts(Map<ShardId, Problem> problems) {
			Map<ShardId, String> texts = new TreeMap<>();
			problems.forEach((shard, problem) -> texts.put(shard, problem.text()));
			return texts;
		}

		@Override
		public String toString() {
			return this.text;
		}

	}

}
