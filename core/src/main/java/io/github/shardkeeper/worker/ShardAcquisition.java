package io.github.shardkeeper.worker;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.Answers;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;

/**
 * Acquires a shard once a permit is free. Confined to the shard's worker.
 */
final class ShardAcquisition {

	private final OwnedShard owned;

	private final CheckpointStore checkpoints;

	private final Runnable wake;

	private final Permits.Permit permit;

	private @Nullable CompletableFuture<Acquisition> reply;

	/** Creates an acquisition; {@code wake} lets the worker {@link #poll()} again. */
	ShardAcquisition(OwnedShard owned, CheckpointStore checkpoints, Permits permits, Runnable wake) {
		this.owned = owned;
		this.checkpoints = checkpoints;
		this.wake = wake;
		this.permit = permits.permit(wake);
	}

	boolean hasFailed() {
		return this.reply != null && this.reply.isCompletedExceptionally();
	}

	/**
	 * Sends the request if none is pending; returns the answer, {@code null} for none.
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
				sent = this.checkpoints.acquire(this.owned.shard(), this.owned.token());
			}
			catch (RuntimeException | Error ex) {
				this.permit.release();
				throw ex;
			}
			this.reply = sent;
			if (!sent.isDone()) {
				sent.whenComplete((answer, failure) -> this.wake.run());
			}
		}
		if (!sent.isDone()) {
			return null;
		}
		cancel();
		return Answers.await(sent);
	}

	void cancel() {
		this.reply = null;
		this.permit.release();
	}

	/** Permits, granted in the order of requests. Never blocks. Thread-safe. */
	static final class Permits {

		private final int limit;

		/** Guarded by this, as is {@link #waiting}. */
		private int granted;

		private final Set<Permit> waiting = new LinkedHashSet<>();

		Permits(int limit) {
			this.limit = limit;
		}

		/** Returns a permit that is not granted yet; {@code onGranted} must not block. */
		Permit permit(Runnable onGranted) {
			return new Permit(onGranted);
		}

		private @Nullable Permit grantNext() {
			Iterator<Permit> permits = this.waiting.iterator();
			if (!permits.hasNext()) {
				this.granted--;
				return null;
			}
			Permit next = permits.next();
			permits.remove();
			next.held = true;
			return next;
		}

		final class Permit {

			private final Runnable onGranted;

			/** Guarded by the permits. */
			private boolean held;

			private Permit(Runnable onGranted) {
				this.onGranted = onGranted;
			}

			/** Acquires the permit, or begins to wait; returns whether it is held. */
			boolean acquire() {
				synchronized (Permits.this) {
					if (!this.held) {
						if (Permits.this.granted < Permits.this.limit) {
							Permits.this.granted++;
							this.held = true;
						}
						else {
							Permits.this.waiting.add(this);
						}
					}
					return this.held;
				}
			}

			void release() {
				@Nullable Permit next;
				synchronized (Permits.this) {
					Permits.this.waiting.remove(this);
					if (!this.held) {
						return;
					}
					this.held = false;
					next = grantNext();
				}
				if (next != null) {
					next.onGranted.run();
				}
			}

		}

	}

}
