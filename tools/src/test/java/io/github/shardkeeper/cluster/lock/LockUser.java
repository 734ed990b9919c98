package io.github.shardkeeper.cluster.lock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/** The locks of an instance for a caller that must not block, such as a simulation. */
public final class LockUser {

	private final StoredLocks locks;

	public LockUser(ClusterSession session, LockStore store) {
		this.locks = new StoredLocks(session, store);
	}

	/** Begins to wait for a lock. */
	public Attempt begin(String lock, Duration atMost, Runnable wakeUp) {
		return new Attempt(this.locks.begin(lock, Duration.ZERO, atMost, true, wakeUp));
	}

	/** A request for a lock. */
	public final class Attempt {

		private final LockRequest request;

		private Attempt(LockRequest request) {
			this.request = request;
		}

		/** Returns the acquired lock; {@code null} if it is not acquired yet. */
		public @Nullable Held attempt() {
			Hold hold = this.request.attempt();
			if (hold == null) {
				return null;
			}
			// A thread of its own, which is never started.
			Thread holder = new Thread("holder");
			LockUser.this.locks.acquired(hold, holder);
			LockUser.this.locks.end(this.request, true);
			return new Held(hold, holder);
		}

		public boolean isWoken() {
			return this.request.isWoken();
		}

		public @Nullable MonotonicTime attemptAt() {
			return this.request.attemptAt();
		}

		public void giveUp() {
			LockUser.this.locks.end(this.request, false);
		}

	}

	/** An acquired lock. */
	public final class Held {

		private final Hold hold;

		private final Thread holder;

		private Held(Hold hold, Thread holder) {
			this.hold = hold;
			this.holder = holder;
		}

		public boolean isHeld() {
			return LockUser.this.locks.isHeld(this.hold);
		}

		public Token token() {
			return this.hold.token;
		}

		public void release() {
			LockUser.this.locks.released(this.hold, this.holder);
		}

	}

}
