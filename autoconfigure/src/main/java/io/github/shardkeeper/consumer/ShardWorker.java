package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CheckpointStore.Acquisition;
import io.github.shardkeeper.coordination.CheckpointStore.Checkpoint;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.handover.ShardWork;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;

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

	private final DrainReport drainReport;

	private final ShardLoop loop;

	private final ConsumerSettings settings;

	/** {@code null} where nothing is measured. */
	private final @Nullable WorkMeter meter;

	private final CompletableFuture<Void> ended = new CompletableFuture<>();

	/** Others have asked something of the shard's owner. */
	private volatile boolean attentionDue;

	/** The store may have lost what was committed. */
	private volatile boolean writeBackDue;

	/** {@code null} until the shard is acquired. */
	private @Nullable ShardProgress progress;

	/** The application knows that the shard is here. */
	private boolean started;

	/** Its records come. */
	private boolean reading;

	private boolean readingEnded;

	private boolean farewellSaid;

	/** The newer owner's token, once it is known that there is one. */
	private @Nullable Token fence;

	/** The last record that the shard will ever have is done. */
	private boolean completed;

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
		this.calls = new ShardCalls(this.owned);
		this.drainReport = new DrainReport(this.owned, handler.name(), this.course, this.calls, this.troubles);
		this.meter = context.measuresWork() ? new WorkMeter() : null;
		this.settings = context.settings(shard.topic());
		this.loop = (handler.shape() == HandlerShape.LOOP)
				? new CallLoop(this.owned, handler, context, this.course, this.troubles, this.calls, this.meter,
						this::wake)
				: new RecordLoop(this.owned, handler, context, this.course, this.troubles, this.calls, this.meter,
						this::wake);
		context.budget().join();
		this.predecessorEnded = predecessorEnded;
		if (!predecessorEnded.isDone()) {
			this.troubles.heldUpBy("Waits for the end of an earlier call of %s for this shard, or of a callback"
				.formatted(handler.name()));
		}
		predecessorEnded.thenRun(this::wake);
	}

	/** Completes when nothing is consumed or written under this token any more. */
	CompletableFuture<Void> ended() {
		return this.ended;
	}

	/** What keeps the shard from being consumed, or from being handed over. */
	@Nullable String problem() {
		return this.drainReport.problem(this.context.clock().now());
	}

	/** What has been done, {@code null} where that is not measured. */
	@Nullable ShardWork work(MonotonicTime now) {
		WorkMeter read = this.meter;
		return (read == null) ? null
				: new ShardWork(this.owned.shard(), this.owned.token(), read.handlerNanos(now), read.records());
	}

	/** Something happened: look what there is to do. */
	void wake() {
		this.task.wake();
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
		this.drainReport.overdue(draining);
		this.calls.interrupt();
	}

	/** The shard is lost: end without a report. */
	void abandon() {
		this.course.abandon();
		this.owned.lose();
		interruptHandler();
		wake();
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
		if (this.writeBackDue && this.progress != null) {
			this.writeBackDue = false;
			this.progress.distrustStore();
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
		if (!this.reading) {
			// What is read comes with a wake-up of its own.
			if (this.context.lease().permitsHandOut(now) && !start()) {
				this.troubles.turnSucceeded();
			}
			if (!this.reading) {
				return false;
			}
		}
		return consume(Objects.requireNonNull(this.progress), now);
	}

	private boolean consume(ShardProgress acquired, MonotonicTime now) {
		if (this.attentionDue) {
			this.attentionDue = false;
			acquired.queue().attend(now);
		}
		ShardLoop.Outcome outcome = this.loop.run(acquired);
		this.troubles.turnSucceeded();
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
		switch (this.context.checkpoints().complete(this.owned.shard(), this.owned.token())) {
			case COMPLETED -> {
				this.completed = true;
				this.course.drain(now);
			}
			case PENDING -> acquired.queue().attend(now);
			case STALE -> fenced(Token.NONE);
			case GONE -> acquired.distrustStore();
		}
		return true;
	}

	/** Acquires the shard, tells the application, begins to read. */
	private boolean start() {
		ShardProgress acquired = this.progress;
		if (acquired == null) {
			Acquisition reply = this.context.checkpoints().acquire(this.owned.shard(), this.owned.token());
			if (reply instanceof Acquisition.Refused refused) {
				fenced(refused.fence());
				return false;
			}
			Checkpoint checkpoint = ((Acquisition.Acquired) reply).checkpoint();
			acquired = new ShardProgress(checkpoint, null, this.owned, this.settings, this.context, this::wake);
			this.progress = acquired;
		}
		if (!this.started && !assigned(acquired)) {
			return false;
		}
		logger.debug("Consuming {} after {} under token {}", this.owned, acquired.begin(), this.owned.token());
		if (this.handler.shape() != HandlerShape.LOOP) {
			// If this throws it is done again, and if what follows does there are
			// records.
			this.context.reader().start(this.owned.shard(), acquired.begin(), new Sink());
		}
		this.reading = true;
		this.context.events().assigned(this.owned);
		return true;
	}

	/** Tells the application; what it throws has it told again. */
	private boolean assigned(ShardProgress acquired) {
		ShardCalls.Result result = this.calls.callWhileHeld(acquired.state(),
				(view) -> this.handler.assigned(this.owned, Objects.requireNonNull(view)));
		if (result.failure() != null) {
			if (this.owned.isHeld() && !result.interrupted()) {
				this.troubles.callbackFailed("@OnShardAssigned", result.failure());
			}
			return false;
		}
		keep(acquired, result);
		this.troubles.callSucceeded();
		this.started = true;
		return true;
	}

	/** What a callback wrote to the state is committed with what comes next. */
	private void keep(ShardProgress acquired, ShardCalls.Result result) {
		StateView view = Objects.requireNonNull(result.view());
		// No other call runs, so nothing that it has read was changed.
		JournaledState.Changes changes = Objects.requireNonNull(acquired.state().add(view));
		acquired.settled(changes, this.context.clock().now());
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
		if (noCallRuns()) {
			revoked();
			end(newer);
		}
	}

	/**
	 * No more records; tells whether the calls that ran have returned. They wake the
	 * worker when they do.
	 */
	private boolean noCallRuns() {
		if (this.reading && !this.readingEnded) {
			this.readingEnded = true;
			this.context.reader().stop(this.owned.shard());
			this.loop.clear();
		}
		return this.progress == null || this.loop.settle(this.progress);
	}

	/**
	 * The last step: no more records, the application's farewell, the final commit. Calls
	 * that run, and a commit that is under way, wake the worker when they are over.
	 */
	private void finish() {
		if (!noCallRuns()) {
			return;
		}
		revoked();
		ShardProgress last = this.progress;
		if (last == null || !this.started || lastCommitIsDone(last)) {
			end(Token.NONE);
		}
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

	/** Calls the application's farewell, once. */
	private void revoked() {
		ShardProgress last = this.progress;
		if (last == null || !this.started || this.farewellSaid) {
			return;
		}
		this.farewellSaid = true;
		ShardCalls.Result result = this.calls.call(last.state(),
				(view) -> this.handler.revoked(this.owned, Objects.requireNonNull(view)));
		if (result.failure() != null) {
			logger.warn("@OnShardRevoked failed for {}; the handover goes on", this.owned, result.failure());
			return;
		}
		keep(last, result);
	}

	private void end(Token fence) {
		this.troubles.clear();
		this.context.budget().leave();
		if (this.reading) {
			this.context.events().revoked(this.owned, this.owned.isLost());
		}
		this.ended.complete(null);
		if (!this.course.isAbandoned()) {
			this.context.listener()
				.workerEnded(this.owned.shard(), this.owned.token(), fence, this.completed && !this.owned.isLost());
		}
	}

	/** What the reader has for the shard. */
	private final class Sink implements ShardReader.RecordSink {

		@Override
		public boolean offer(List<SourceRecord> records) {
			boolean room = ShardWorker.this.loop.offer(records);
			wake();
			return room;
		}

		@Override
		public void ended() {
			ShardWorker.this.loop.ended();
			wake();
		}

	}

}
