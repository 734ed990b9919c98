package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.handover.MonotonicTime;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Consumes one shard under one token: acquires it, hands its records to the handler one
 * after the other, commits, and puts everything away when it has to go.
 * <p>
 * It has no thread of its own: while there is something to do it is a task on the shared
 * executor, never twice at a time; otherwise it is nothing but this object. What may be
 * called from outside is thread-safe; the steps are confined to that task.
 */
final class ShardWorker {

	private static final Logger logger = LoggerFactory.getLogger(ShardWorker.class);

	/** A drain that takes longer is worth telling. */
	private static final Duration LONG_DRAIN = Duration.ofSeconds(5);

	private static final Duration STORE_RETRY_PAUSE = Duration.ofMillis(200);

	private final WorkerContext context;

	private final ShardHandler handler;

	private final OwnedShard owned;

	private final SerialTask task;

	private final CompletableFuture<Void> predecessorEnded;

	private final RecordBuffer buffer = new RecordBuffer();

	private final HandlerCall handlerCall = new HandlerCall();

	private final FailureBackOff backOff = new FailureBackOff();

	private final CompletableFuture<Void> ended = new CompletableFuture<>();

	private volatile @Nullable MonotonicTime drainingSince;

	private volatile boolean abandoned;

	/** What holds the record or the start up; stays until a call succeeds. */
	private volatile @Nullable String problem;

	/** What failed around it, above all the store; gone with the next turn that works. */
	private volatile @Nullable String turnProblem;

	/** {@code null} until the shard is acquired. */
	private @Nullable ShardProgress progress;

	private boolean started;

	private boolean halted;

	private boolean farewellSaid;

	private @Nullable MonotonicTime notBefore;

	/**
	 * Creates a worker that begins by itself.
	 * @param predecessorEnded completes when an earlier worker of this instance for the
	 * same shard has ended; before that nothing is done, not even a release
	 */
	ShardWorker(ShardId shard, Token token, MemberId member, ShardHandler handler, WorkerContext context,
			CompletableFuture<Void> predecessorEnded) {
		this.context = context;
		this.handler = handler;
		this.owned = new OwnedShard(shard, token, member, context);
		this.task = new SerialTask(context.executor(), this::turn, this::noThread);
		this.predecessorEnded = predecessorEnded;
		if (!predecessorEnded.isDone()) {
			this.problem = "Waits for the end of an earlier call of " + handler.name() + " for this shard";
		}
		predecessorEnded.thenRun(this::wake);
	}

	/** Completes when nothing is consumed or written under this token any more. */
	CompletableFuture<Void> ended() {
		return this.ended;
	}

	/** What keeps the shard from being consumed, or from being handed over. */
	@Nullable String problem() {
		String passing = this.turnProblem;
		String current = (passing != null) ? passing : this.problem;
		MonotonicTime since = this.drainingSince;
		Duration draining = (since != null) ? since.until(this.context.clock().now()) : Duration.ZERO;
		if (draining.compareTo(LONG_DRAIN) <= 0) {
			return current;
		}
		return "Is to be handed over for %d s, but %s".formatted(draining.toSeconds(),
				(current != null) ? current : "a call of " + this.handler.name() + " has not returned");
	}

	/** Something happened: look what there is to do. */
	void wake() {
		this.task.wake();
	}

	/** Put everything away and report the end. */
	void drain() {
		this.drainingSince = this.context.clock().now();
		wake();
	}

	/** The shard is lost: end without a report. */
	void abandon() {
		this.abandoned = true;
		this.owned.lose();
		interruptHandler();
		wake();
	}

	/** Interrupts the call that runs now, if any. */
	void interruptHandler() {
		this.handlerCall.interrupt();
	}

	private void noThread(Throwable refusal) {
		if (this.context.timer().isShutdown()) {
			return;
		}
		logger.warn("No thread for {}; trying again in {} ms", this.owned, STORE_RETRY_PAUSE.toMillis(), refusal);
		this.turnProblem = "No thread could be had: " + refusal;
		this.context.timer().schedule(this::wake, STORE_RETRY_PAUSE.toNanos(), TimeUnit.NANOSECONDS);
	}

	private boolean turn() {
		try {
			return step();
		}
		catch (StoreUnavailableException ex) {
			this.turnProblem = "The store does not answer: " + ex.getMessage();
			retryAfter(STORE_RETRY_PAUSE);
		}
		catch (Throwable ex) {
			logger.error("Unexpected failure while consuming {}; going on", this.owned, ex);
			this.turnProblem = "Unexpected failure: " + ex;
			retryAfter(this.backOff.next());
		}
		return false;
	}

	/** Does what there is to do for one turn; tells whether there is more. */
	private boolean step() {
		if (this.ended.isDone() || !this.predecessorEnded.isDone()) {
			return false;
		}
		if (mustEnd()) {
			finish();
			return false;
		}
		MonotonicTime now = this.context.clock().now();
		if (this.notBefore != null && now.isBefore(this.notBefore) || !this.context.lease().permitsHandOut(now)) {
			return false;
		}
		this.notBefore = null;
		boolean more = (this.started || start()) && consume();
		this.turnProblem = null;
		return more;
	}

	private boolean mustEnd() {
		return this.abandoned || this.drainingSince != null;
	}

	/** Acquires the shard, tells the application, begins to read. */
	private boolean start() {
		ShardProgress acquired = this.progress;
		if (acquired == null) {
			CheckpointStore.Acquisition reply = this.context.checkpoints()
				.acquire(this.owned.shard(), this.owned.token());
			if (reply instanceof CheckpointStore.Acquisition.Refused refused) {
				fenced(refused.fence());
				return false;
			}
			acquired = new ShardProgress(((CheckpointStore.Acquisition.Acquired) reply).checkpoint(), this.owned,
					this.context);
			this.progress = acquired;
		}
		Throwable failure = callWhileHeld(acquired, (view) -> this.handler.assigned(this.owned, view));
		if (failure != null) {
			if (this.owned.isHeld()) {
				failed("@OnShardAssigned", failure);
			}
			return false;
		}
		succeeded();
		this.started = true;
		logger.debug("Consuming {} after {} under token {}", this.owned, acquired.begin(), this.owned.token());
		this.context.reader().start(this.owned.shard(), acquired.begin(), this::offer);
		return true;
	}

	private boolean offer(List<SourceRecord> records) {
		boolean room = this.buffer.add(records);
		wake();
		return room;
	}

	/** Handles records until there are none, or a turn is over. */
	private boolean consume() {
		ShardProgress current = Objects.requireNonNull(this.progress);
		while (!this.halted && !mustEnd()) {
			MonotonicTime now = this.context.clock().now();
			if (current.isCommitDue(now)) {
				return commit(current);
			}
			SourceRecord next = this.context.lease().permitsHandOut(now) ? this.buffer.peek() : null;
			if (next == null) {
				break;
			}
			if (!handle(next, current)) {
				return false;
			}
		}
		return commit(current) && mustEnd();
	}

	private boolean handle(SourceRecord source, ShardProgress current) {
		ShardRecord<Object> converted;
		try {
			converted = this.handler.convert(this.owned, source);
		}
		catch (PayloadConversionException ex) {
			halt(source, ex, current);
			return false;
		}
		MonotonicTime begun = this.context.clock().now();
		Throwable failure = callWhileHeld(current, (view) -> this.handler.handle(converted, this.owned, view));
		if (failure == null) {
			// First of all: what follows may fail, and must not have the record handled
			// twice.
			current.handled(source.offset(), begun);
			if (this.buffer.remove()) {
				this.context.reader().resume(this.owned.shard());
			}
			succeeded();
			this.context.meters().handled(this.owned.shard().topic(), begun.until(this.context.clock().now()));
			return true;
		}
		if (!this.owned.isHeld()) {
			// Interrupted because the shard or the lease is lost: not the record's fault.
			logger.debug("{} was interrupted at {}", this.owned, source.offset(), failure);
			return false;
		}
		failed(this.handler.name() + " at offset " + source.offset(), failure);
		this.context.meters().failed(this.owned.shard().topic());
		commit(current);
		return false;
	}

	private @Nullable Throwable callWhileHeld(ShardProgress current, StateCall code) {
		return call(current, (view) -> {
			// Once more, now that whoever takes shard or lease away can interrupt this:
			// acquiring or converting may have taken long.
			if (!this.owned.isHeld()) {
				throw new InterruptedException("The shard was lost before the call");
			}
			code.run(view);
		});
	}

	private @Nullable Throwable call(ShardProgress current, StateCall code) {
		try (JournaledState.View view = current.state().open()) {
			this.handlerCall.run(() -> code.run(view));
			current.state().keep();
			return null;
		}
		catch (Throwable ex) {
			current.state().rollBack();
			return ex;
		}
	}

	private void succeeded() {
		this.backOff.reset();
		this.problem = null;
	}

	private void failed(String what, Throwable failure) {
		Duration pause = this.backOff.next();
		logger.warn("{} failed for {}; trying again in {} ms", what, this.owned.shard(), pause.toMillis(), failure);
		this.problem = "%s keeps failing: %s".formatted(what, failure);
		retryAfter(pause);
	}

	/** The record can never be handled: stay in front of it, visibly. */
	private void halt(SourceRecord source, PayloadConversionException failure, ShardProgress current) {
		this.halted = true;
		this.context.meters().failed(this.owned.shard().topic());
		this.problem = "Halted at offset %s: %s".formatted(source.offset(), failure.getMessage());
		logger.error("{} is halted at offset {}, which {} cannot take; no record is skipped", this.owned.shard(),
				source.offset(), this.handler.name(), failure);
		commit(current);
	}

	private void retryAfter(Duration pause) {
		MonotonicTime retryAt = this.context.clock().now().plus(pause);
		// A handler's longer pause is not cut short by a store that fails meanwhile.
		this.notBefore = (this.notBefore != null && retryAt.isBefore(this.notBefore)) ? this.notBefore : retryAt;
		if (!this.context.timer().isShutdown()) {
			this.context.timer().schedule(this::wake, pause.toNanos(), TimeUnit.NANOSECONDS);
		}
	}

	/** Tells whether the shard is still ours. */
	private boolean commit(ShardProgress current) {
		if (current.commit()) {
			return true;
		}
		fenced(Token.NONE);
		return false;
	}

	/** Somebody else has acquired the shard: nothing of ours counts any more. */
	private void fenced(Token fence) {
		logger.warn("{} was taken over by a newer owner, or its checkpoint is gone; "
				+ "what was not committed under token {} is dropped", this.owned.shard(), this.owned.token());
		this.owned.lose();
		this.context.reader().stop(this.owned.shard());
		revoked();
		end(fence);
	}

	/** The last step: no more records, the application's farewell, the final commit. */
	private void finish() {
		this.context.reader().stop(this.owned.shard());
		this.buffer.clear();
		revoked();
		ShardProgress last = this.progress;
		if (last != null && this.started) {
			try {
				if (!commit(last)) {
					return;
				}
			}
			catch (StoreUnavailableException ex) {
				if (!this.abandoned) {
					throw ex;
				}
				logger.debug("{} is lost and its last commit was not heard", this.owned.shard(), ex);
			}
		}
		end(Token.NONE);
	}

	/** Calls the application's farewell, once. */
	private void revoked() {
		ShardProgress last = this.progress;
		if (last == null || !this.started || this.farewellSaid) {
			return;
		}
		this.farewellSaid = true;
		Throwable failure = call(last, (view) -> this.handler.revoked(this.owned, view));
		if (failure != null) {
			logger.warn("@OnShardRevoked failed for {}; the handover goes on", this.owned.shard(), failure);
		}
	}

	private void end(Token fence) {
		this.problem = null;
		this.turnProblem = null;
		this.ended.complete(null);
		if (!this.abandoned) {
			this.context.listener().workerEnded(this.owned.shard(), this.owned.token(), fence);
		}
	}

	/** A call that gets the state. */
	@FunctionalInterface
	private interface StateCall {

		void run(JournaledState.View view) throws Throwable;

	}

}
