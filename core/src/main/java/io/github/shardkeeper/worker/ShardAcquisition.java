package io.github.shardkeeper.worker;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Replies;
import io.github.shardkeeper.worker.shard.AcquisitionPermits;
import io.github.shardkeeper.worker.shard.ConsumerSettings.StateRead;
import io.github.shardkeeper.worker.shard.OwnedShard;

/**
 * Acquires a shard once a permit is free. Confined to the shard's worker.
 */
final class ShardAcquisition {

	private final OwnedShard owned;

	private final CheckpointStore checkpoints;

	private final AcquisitionPermits.Permit permit;

	private @Nullable CompletableFuture<Acquisition> reply;

	/** Creates an acquisition, which wakes the worker to {@link #poll()} again. */
	ShardAcquisition(OwnedShard owned) {
		this.owned = owned;
		this.checkpoints = owned.context().checkpoints();
		this.permit = owned.context().acquisitions().permit(owned::wake);
	}

	boolean hasFailed() {
		return this.reply != null && this.reply.isCompletedExceptionally();
	}

	/**
	 * Sends the request if none is pending; returns the reply, {@code null} for none.
	 * @throws io.github.shardkeeper.StoreUnavailableException if the request has failed;
	 * the next call sends another one
	 */
	@Nullable Acquisition poll() {
		CompletableFuture<Acquisition> sent = this.reply;
		if (sent == null) {
			if (!this.permit.acquire()) {
				return null;
			}
			try {
				sent = send();
			}
			catch (RuntimeException | Error ex) {
				this.permit.release();
				throw ex;
			}
			this.reply = sent;
			if (!sent.isDone()) {
				sent.whenComplete((reply, failure) -> this.owned.wake());
			}
		}
		if (!sent.isDone()) {
			return null;
		}
		cancel();
		return Replies.await(sent);
	}

	private CompletableFuture<Acquisition> send() {
		return (this.owned.settings().stateRead() == StateRead.ON_USE)
				? this.checkpoints.acquireWithoutState(this.owned.shard(), this.owned.token())
				: this.checkpoints.acquire(this.owned.shard(), this.owned.token());
	}

	void cancel() {
		this.reply = null;
		this.permit.release();
	}

}
