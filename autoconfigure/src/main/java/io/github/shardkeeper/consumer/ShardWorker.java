package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CommitHistory;
import io.github.shardkeeper.coordination.LastCommit;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.handover.HoldingAction.Forfeit;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.handover.ShardWork;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Consumes one shard under one token: acquires it, has its records handled, and puts
 * everything away when it has to go.
 * <p>
 * It has no thread of its own: while there is something to do it is a task on the shared
 * executor, never twice at a time; otherwise it is nothing but this object. What may be
 * called from outside is thread-safe; the steps are confined to that task.
 */
final class ShardWorker {

	private static final Logger logger = LoggerFactory.getLogger(ShardWorker.class);

	private final WorkerContext context;

	private final ShardHandler handler;

	private final OwnedShard owned;

	private final SerialTask task;

	private final CompletableFuture<Void> predecessorEnded;

	private final WorkerCourse course = new WorkerCourse();

	private final WorkerTroubles troubles;

	private final ShardCalls calls;

	private final ObstacleReport obstacles;

	/** {@code null} where nothing is measured. */
	private final @Nullable WorkMeter meter;

	private final CompletableFuture<Void> ended = new CompletableFuture<>();

	/** Others have asked something of the shard's owner. */
	private volatile boolean attentionDue;

	/** The store may have lost what was committed. */
	private volatile boolean writeBackDue;

	/** Offset and state are here. */
	private volatile boolean acquired;

	/** What was known here only is lost, {@code null} if nothing is. */
	private volatile Forfeit.@Nullable Cause forfeited;

	private ShardStint stint;

	private final Repositioning repositioning;

	/** The newer owner's token, once it is known that there is one. */
	private @Nullable Token fence;

	/** The last record that the shard will ever have is done. */
	private boolean completed;

	private boolean hasLeftBudget;

	/** Whether it was said what is lost, or looked for. */
	private boolean lossTold;

	/**
	 * Creates a worker that begins by itself.
	 * @param predecessorEnded completes when whatever this instance still does for the
	 * same shard has ended; before that nothing is done, not even a release
	 */
	ShardWorker(ShardId shard, Token token, MemberId member, ShardHandler handler, WorkerContext context,
			CompletableFuture<Void> predecessorEnded) {
		this.context = context;
		this.handler = handler;
		this.owned = new OwnedShard(shard, token, member, context);
		this.troubles = new WorkerTroubles(this.owned, context, this::wake);
		this.task = new SerialTask(context.executor(), this::turn, this.troubles::noThread);
		this.calls = new ShardCalls(this.owned, this.course);
		this.repositioning = new Repositioning(this.owned, context);
		this.obstacles = new ObstacleReport(this.owned, context.clock(), handler.name(),
				context.settings(shard.topic()).longCall(), this.course, this.repositioning, this.calls, this.troubles);
		this.meter = context.measuresWork() ? new WorkMeter() : null;
		this.stint = stint(null);
		context.budget().join();
		this.predecessorEnded = predecessorEnded;
		if (!predecessorEnded.isDone()) {
			this.troubles.heldUpBy("Waits for the end of an earlier call of %s for this shard, or of a callback"
				.formatted(handler.name()));
		}
		predecessorEnded.thenRun(this::wake);
	}

	private ShardStint stint(@Nullable ShardProgress earlier) {
		ShardLoop loop = (this.handler.shape() == HandlerShape.LOOP)
				? new CallLoop(this.owned, this.handler, this.context, this.course, this.troubles, this.calls,
						this.meter, this::wake)
				: new RecordLoop(this.owned, this.handler, this.context, this.course, this.troubles, this.calls,
						this.meter, this::wake);
		return new ShardStint(this.owned, this.handler, this.context, this.troubles, this.calls, loop, earlier,
				this::wake);
	}

	/** Completes when nothing is consumed or written under this token any more. */
	CompletableFuture<Void> ended() {
		return this.ended;
	}

	/** What keeps the shard from being consumed, or from being handed over. */
	@Nullable ShardProblem problem() {
		return this.obstacles.problem(this.context.clock().now());
	}

	/** What has been done, {@code null} where that is not measured. */
	@Nullable ShardWork work(MonotonicTime now) {
		WorkMeter read = this.meter;
		return (read == null) ? null
				: new ShardWork(this.owned.shard(), this.owned.token(), read.handlerNanos(now), read.records());
	}

	/** Something happened: look what there is to do. Never throws. */
	void wake() {
		this.task.wake();
	}

	/** Goes on after a turn that has failed so badly that nothing else would. */
	void rescue() {
		this.task.rescue();
	}

	/** Put everything away and report the end. */
	void drain() {
		this.course.drain(this.context.clock().now());
		wake();
	}

	/** Go on instead of draining; tells whether that was still possible. */
	boolean cancelDrain() {
		boolean cancelled = this.course.cancelDrain();
		wake();
		return cancelled;
	}

	/** Somebody may have left a request for the shard. */
	void attend() {
		this.attentionDue = true;
		wake();
	}

	/** The drain takes too long: interrupt the call that runs now, and report it. */
	void interrupt(Duration draining) {
		this.obstacles.overdue(draining);
		this.calls.interrupt();
	}

	/** The shard is lost: end without a report. */
	void abandon() {
		this.course.abandon();
		this.owned.lose();
		interruptHandler();
		wake();
	}

	/** The same, and what is known here only is lost: says what, at the end. */
	void forfeit(Forfeit.Cause cause) {
		this.forfeited = cause;
		abandon();
	}

	/**
	 * Whether a store that has lost the shard's offset and state can get them back from
	 * here. Not if it is to begin elsewhere: what is here is not wanted any more.
	 */
	boolean isRestorable() {
		return this.acquired && !this.owned.isLost() && !this.repositioning.isDue() && !this.ended.isDone();
	}

	/** Interrupts the call that runs now, if any. */
	void interruptHandler() {
		this.calls.interrupt();
	}

	/**
	 * The lease has ended. That may be heard only after it is held again: then the call
	 * that was interrupted is to be made again, and nobody else says so.
	 */
	void suspend() {
		interruptHandler();
		wake();
	}

	/** The store may have lost what was committed: write all of it again. */
	void writeBack() {
		this.writeBackDue = true;
		// What has told of a request may be lost too.
		this.attentionDue = true;
		wake();
	}

	private boolean turn() {
		try {
			return step();
		}
		catch (StoreUnavailableException ex) {
			this.troubles.storeFailed(ex);
		}
		catch (Throwable ex) {
			this.troubles.unexpected(ex);
		}
		return false;
	}

	/** Does what there is to do for one turn; tells whether there is more. */
	private boolean step() {
		if (this.ended.isDone() || !this.predecessorEnded.isDone()) {
			return false;
		}
		ShardProgress acquired = this.stint.progress();
		if (this.writeBackDue && acquired != null) {
			this.writeBackDue = false;
			acquired.distrustStore();
		}
		if (this.fence != null) {
			finishFenced(this.fence);
			return false;
		}
		MonotonicTime now = this.context.clock().now();
		if (this.course.beginEnd()) {
			finish();
			return false;
		}
		if (!this.troubles.permitAttempt(now)) {
			return false;
		}
		if (acquired != null && this.attentionDue) {
			attendTo(acquired, now);
		}
		if (this.repositioning.isDue() && !beginAnew()) {
			return false;
		}
		if (!this.stint.isReading()) {
			// What is read comes with a wake-up of its own.
			if (this.context.lease().permitsHandOut(now) || this.stint.hasFailed()) {
				begin();
			}
			if (!this.stint.isReading()) {
				return false;
			}
		}
		return consume(Objects.requireNonNull(this.stint.progress()), now);
	}

	private void attendTo(ShardProgress acquired, MonotonicTime now) {
		this.attentionDue = false;
		acquired.queue().attend(now);
		try {
			this.repositioning.look(acquired, now);
		}
		catch (StoreUnavailableException ex) {
			this.attentionDue = true;
			throw ex;
		}
	}

	/**
	 * The shard is to be consumed from another position on: puts it away as in a
	 * handover, to acquire it again under the same token; tells whether it is put away.
	 */
	private boolean beginAnew() {
		if (!isPutAway()) {
			return false;
		}
		this.stint.end();
		this.acquired = false;
		this.stint = stint(this.stint.progress());
		this.repositioning.done();
		this.troubles.clear();
		return true;
	}

	private boolean consume(ShardProgress acquired, MonotonicTime now) {
		ShardLoop.Outcome outcome = this.stint.run();
		if (!acquired.isRepeating()) {
			this.troubles.turnSucceeded();
		}
		switch (outcome) {
			case FENCED -> fenced(Token.NONE);
			case CHECKPOINT_GONE -> this.troubles.checkpointGone();
			case COMPLETED -> {
				return complete(acquired, now);
			}
			case MORE, DONE -> {
			}
		}
		return outcome == ShardLoop.Outcome.MORE;
	}

	/** Everything is done, and nothing more will come: tells whether there is more. */
	private boolean complete(ShardProgress acquired, MonotonicTime now) {
		switch (this.context.checkpoints()
			.complete(this.owned.shard(), this.owned.token(), acquired.acknowledgedCommit(), acquired.acquisition())) {
			case COMPLETED -> {
				this.completed = true;
				this.course.drain(now);
			}
			case PENDING -> this.attentionDue = true;
			case STALE -> fenced(Token.NONE);
			case GONE -> acquired.distrustStore();
		}
		return true;
	}

	/** The stint begins, as far as it gets. */
	private void begin() {
		Token newer = this.stint.begin();
		boolean acquired = this.stint.progress() != null;
		this.acquired = acquired;
		if (acquired && (this.attentionDue || this.writeBackDue)) {
			// It came while the shard was being acquired, and nobody says so again.
			wake();
		}
		if (newer != null) {
			fenced(newer);
		}
		else if (acquired && !this.stint.isReading()) {
			this.troubles.turnSucceeded();
		}
	}

	/** Somebody else has acquired the shard: nothing of ours counts any more. */
	private void fenced(Token newer) {
		logger.warn("{} was taken over by a newer owner; what was not committed under token {} is dropped", this.owned,
				this.owned.token());
		this.owned.lose();
		interruptHandler();
		this.fence = newer;
		finishFenced(newer);
	}

	private void finishFenced(Token newer) {
		if (this.stint.noCallRuns()) {
			this.stint.revoked();
			end(newer);
		}
	}

	/** The last step: everything is put away, and the end reported. */
	private void finish() {
		if (isPutAway()) {
			end(Token.NONE);
		}
	}

	/**
	 * No more records, the application's farewell, the final commit; tells whether all of
	 * it is over. Calls that run, and a commit that is under way, wake the worker when
	 * they are.
	 */
	private boolean isPutAway() {
		if (!this.stint.noCallRuns() || !this.stint.revoked()) {
			return false;
		}
		ShardProgress last = this.stint.progress();
		return last == null || !this.stint.isStarted() || lastCommitIsDone(last);
	}

	private boolean lastCommitIsDone(ShardProgress last) {
		try {
			switch (last.flush()) {
				case DONE -> {
					return true;
				}
				case SENT -> {
					// What is lost waits for nothing: a newer owner may wait for its end.
					return this.course.isAbandoned();
				}
				case FENCED -> fenced(Token.NONE);
				case NOT_YET -> {
					this.troubles.checkpointGone();
					return this.course.isAbandoned();
				}
			}
			return false;
		}
		catch (StoreUnavailableException ex) {
			if (!this.course.isAbandoned()) {
				throw ex;
			}
			logger.debug("{} is lost and its last commit was not heard", this.owned, ex);
			return true;
		}
	}

	private void sayWhatIsLost() {
		Forfeit.Cause cause = (this.forfeited == null && this.fence != null) ? Forfeit.Cause.TAKEN_OVER
				: this.forfeited;
		this.forfeited = null;
		ShardProgress last = this.stint.progress();
		if (cause == null || last == null || this.lossTold) {
			return;
		}
		this.lossTold = true;
		if (cause == Forfeit.Cause.TAKEN_OVER) {
			sayWhetherCommitsAreLost(last);
			return;
		}
		Offset position = last.window().position();
		int entries = last.state().settledEntries().size();
		if (cause == Forfeit.Cause.STOPPED) {
			logger.warn(
					"{} stops while the store does not answer, at offset {} with {} entries of state under token {}: "
							+ "what the store has not stored, or loses in this outage, is lost",
					this.owned, position, entries, this.owned.token());
			return;
		}
		logger.error(
				"Offset and state of {} are lost: the store had lost them, and another instance acquired the shard "
						+ "before this one was back. They were offset {} and {} entries of state under token {}; {}",
				this.owned, position, entries, this.owned.token(), storedOffset());
	}

	/**
	 * Whoever took the shard over went on from what was committed here, unless the store
	 * has lost it: then others have begun on an older base.
	 */
	private void sayWhetherCommitsAreLost(ShardProgress last) {
		LastCommit accepted = new LastCommit(this.owned.token(), last.acknowledgedCommit());
		if (accepted.number() == 0) {
			return;
		}
		try {
			CommitHistory stored = this.context.checkpoints().commits(this.owned.shard());
			if (stored != null && stored.lacks(accepted)) {
				logger.error(
						"{} has two histories: the commits of this instance, up to offset {} under token {}, are not in the "
								+ "store, which is at offset {} under token {}. They are lost; nothing is merged. {}",
						this.owned, last.acknowledgedOffset(), this.owned.token(), stored.offset(),
						stored.last().token(), ShardProgress.TWO_MASTERS);
			}
		}
		catch (StoreUnavailableException ex) {
			logger.warn("Cannot check whether the store still has the commits of {} under token {}: {}", this.owned,
					this.owned.token(), ex.getMessage());
		}
	}

	private String storedOffset() {
		ShardId shard = this.owned.shard();
		try {
			CommitHistory stored = this.context.checkpoints().commits(shard);
			if (stored != null && stored.offset() != null) {
				return "the store is at offset %s under token %s".formatted(stored.offset(), stored.last().token());
			}
			Offset offset = this.context.checkpoints().offsets(List.of(shard)).get(shard);
			return (offset != null) ? "the store is at offset " + offset : "the store has no offset yet";
		}
		catch (StoreUnavailableException ex) {
			return "the offset in the store cannot be read: " + ex.getMessage();
		}
	}

	/** If a step of it throws, the next turn goes on with that step. */
	private void end(Token fence) {
		sayWhatIsLost();
		this.troubles.clear();
		if (!this.hasLeftBudget) {
			this.hasLeftBudget = true;
			this.context.budget().leave();
		}
		this.stint.end();
		if (!this.course.isAbandoned()) {
			this.context.listener()
				.workerEnded(this.owned.shard(), this.owned.token(), fence, this.completed && !this.owned.isLost());
		}
		// Last: from here on there is no next turn.
		this.ended.complete(null);
	}

}
