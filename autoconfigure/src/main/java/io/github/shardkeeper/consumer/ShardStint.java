package io.github.shardkeeper.consumer;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.coordination.Answers;
import io.github.shardkeeper.coordination.CheckpointStore.Acquisition;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;

/**
 * One time of consuming a shard without a break, from its acquisition to its last commit.
 * Mostly it is the only one under its token; when the shard is to be consumed from
 * another position on, another one follows, which has nothing in common with it but the
 * numbers of the commits: what belongs to the first and comes late, a record from the
 * reader or an acknowledgment, reaches nobody. Confined to the shard's worker, but for
 * what takes records in.
 */
final class ShardStint {

	private static final Logger logger = LoggerFactory.getLogger(ShardStint.class);

	private final OwnedShard owned;

	private final ShardHandler handler;

	private final WorkerContext context;

	private final WorkerTroubles troubles;

	private final ShardCalls calls;

	private final ShardLoop loop;

	private final Runnable wake;

	/** How far the one before has come; only until the shard is acquired. */
	private @Nullable ShardProgress earlier;

	/** To acquire the shard with. */
	private final Turnstile.Ticket ticket;

	/** {@code null} when it is to be sent, or is over. */
	private @Nullable CompletableFuture<Acquisition> acquiring;

	/** {@code null} until the shard is acquired. */
	private @Nullable ShardProgress progress;

	/** The application knows that the shard is here. */
	private boolean started;

	/** Its records come. */
	private boolean reading;

	private boolean readingEnded;

	private boolean endTold;

	private boolean farewellSaid;

	/** Because it was interrupted. */
	private boolean farewellRepeated;

	/**
	 * Creates a stint that has not begun.
	 * @param earlier how far the one before it under the same token has come,
	 * {@code null} if it is the first
	 */
	ShardStint(OwnedShard owned, ShardHandler handler, WorkerContext context, WorkerTroubles troubles, ShardCalls calls,
			ShardLoop loop, @Nullable ShardProgress earlier, Runnable wake) {
		this.owned = owned;
		this.handler = handler;
		this.context = context;
		this.troubles = troubles;
		this.calls = calls;
		this.loop = loop;
		this.earlier = earlier;
		this.wake = wake;
		this.ticket = context.acquisitions().ticket(wake);
	}

	/** {@code null} until the shard is acquired. */
	@Nullable ShardProgress progress() {
		return this.progress;
	}

	/** Whether the store has failed to answer; to be heard also without a lease. */
	boolean hasFailed() {
		return this.acquiring != null && this.acquiring.isCompletedExceptionally();
	}

	/** Whether the application knows that the shard is here. */
	boolean isStarted() {
		return this.started;
	}

	/** Whether the shard is consumed, or was. */
	boolean isReading() {
		return this.reading;
	}

	/** Does what there is to do for a turn. Only while {@link #isReading}. */
	ShardLoop.Outcome run() {
		return this.loop.run(Objects.requireNonNull(this.progress));
	}

	/**
	 * Acquires the shard, tells the application, begins to read; as far as it gets. The
	 * store's answer wakes the worker.
	 * @return the newer owner's token if there is one, otherwise {@code null}
	 */
	@Nullable Token begin() {
		ShardProgress acquired = this.progress;
		if (acquired == null) {
			Acquisition reply = acquire();
			if (reply == null) {
				return null;
			}
			if (reply instanceof Acquisition.Refused refused) {
				return refused.fence();
			}
			acquired = new ShardProgress((Acquisition.Acquired) reply, this.earlier, this.owned,
					this.context.settings(this.owned.shard().topic()), this.context, this.wake);
			this.progress = acquired;
			this.earlier = null;
		}
		if (this.started || assigned(acquired)) {
			read(acquired);
		}
		return null;
	}

	/** Asks the store, once; its answer when there is one. */
	private @Nullable Acquisition acquire() {
		CompletableFuture<Acquisition> reply = this.acquiring;
		if (reply == null) {
			if (!this.ticket.enter()) {
				return null;
			}
			try {
				reply = this.context.checkpoints().acquire(this.owned.shard(), this.owned.token());
			}
			catch (RuntimeException | Error ex) {
				this.ticket.leave();
				throw ex;
			}
			this.acquiring = reply;
			if (!reply.isDone()) {
				reply.whenComplete((answer, failure) -> this.wake.run());
			}
		}
		if (!reply.isDone()) {
			return null;
		}
		this.acquiring = null;
		this.ticket.leave();
		return Answers.await(reply);
	}

	private void read(ShardProgress acquired) {
		logger.debug("Consuming {} after {} under token {}", this.owned, acquired.begin(), this.owned.token());
		if (this.handler.shape() != HandlerShape.LOOP) {
			// If this throws it is done again, and if what follows does there are
			// records.
			this.context.reader().start(this.owned.shard(), acquired.begin(), new Sink());
		}
		this.reading = true;
		this.context.events().assigned(this.owned);
	}

	/** Tells the application; what it throws has it told again. */
	private boolean assigned(ShardProgress acquired) {
		ShardCalls.Result result = this.calls.callWhileHeld(acquired.state(), this.context.clock().now(),
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

	/**
	 * What a callback wrote to the state is committed with what comes next. Only if all
	 * that it has seen is, too.
	 */
	private void keep(ShardProgress acquired, ShardCalls.Result result) {
		StateView view = Objects.requireNonNull(result.view());
		// No other call runs, so nothing that it has read was changed.
		JournaledState.Changes changes = Objects.requireNonNull(acquired.state().add(view));
		acquired.settled(changes, this.context.clock().now());
	}

	/**
	 * No more records; tells whether the calls that ran have returned. They wake the
	 * worker when they do.
	 */
	boolean noCallRuns() {
		if (this.reading && !this.readingEnded) {
			this.context.reader().stop(this.owned.shard());
			this.loop.clear();
			this.readingEnded = true;
		}
		return this.progress == null || this.loop.settle(this.progress);
	}

	/**
	 * Calls the application's farewell, once, or once more if it was interrupted: nobody
	 * else can do what it leaves undone. Tells whether it is over; if not, the lease has
	 * ended, and whoever holds it again wakes the worker.
	 */
	boolean revoked() {
		ShardProgress last = this.progress;
		if (last == null || !this.started || this.farewellSaid) {
			return true;
		}
		if (this.farewellRepeated && this.owned.isLost()) {
			this.farewellSaid = true;
			return true;
		}
		if (this.farewellRepeated && !this.owned.isHeld()) {
			return false;
		}
		while (true) {
			ShardCalls.Result result = this.calls.call(last.state(), this.context.clock().now(),
					(view) -> this.handler.revoked(this.owned, Objects.requireNonNull(view)));
			// What it has acknowledged.
			this.loop.settle(last);
			if (!result.interrupted() || this.owned.isLost() || this.farewellRepeated && this.owned.isHeld()) {
				this.farewellSaid = true;
				farewellOver(last, result);
				return true;
			}
			logger.info("@OnShardRevoked was interrupted for {}; it is repeated once", this.owned);
			this.farewellRepeated = true;
			if (!this.owned.isHeld()) {
				return false;
			}
		}
	}

	private void farewellOver(ShardProgress last, ShardCalls.Result result) {
		if (result.failure() != null) {
			logger.warn("@OnShardRevoked failed for {}; the shard is put away nevertheless", this.owned,
					result.failure());
			return;
		}
		boolean hasWritten = !Objects.requireNonNull(result.view()).isUntouched();
		if (hasWritten && last.state().hasUnsettled()) {
			// It may build on what they wrote, and they will write that again. And what
			// is acknowledged during the last commit must not be written over it.
			logger.warn("What @OnShardRevoked wrote to the state of {} is dropped: records were handled and not "
					+ "acknowledged, and it builds on what they wrote. Acknowledge them before it returns, or write "
					+ "no state in it", this.owned);
			return;
		}
		keep(last, result);
	}

	/** It is over; says so if anybody heard of its beginning. */
	void end() {
		this.ticket.leave();
		if (this.reading && !this.endTold) {
			this.endTold = true;
			this.context.events().revoked(this.owned, this.owned.isLost());
		}
	}

	/** What the reader has for the shard. */
	private final class Sink implements ShardReader.RecordSink {

		@Override
		public boolean offer(List<SourceRecord> records) {
			boolean room = ShardStint.this.loop.offer(records);
			ShardStint.this.wake.run();
			return room;
		}

		@Override
		public void ended() {
			ShardStint.this.loop.ended();
			ShardStint.this.wake.run();
		}

	}

}
