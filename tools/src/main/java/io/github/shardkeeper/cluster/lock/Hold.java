package io.github.shardkeeper.cluster.lock;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicTime;

/** An acquisition of a lock by a thread. Thread-safe. */
final class Hold {

	final String lock;

	final String ticket;

	final MemberId session;

	final Token token;

	/** When the store may give it to others at the earliest; {@code null} for never. */
	final @Nullable MonotonicTime endsAt;

	/** Confined to the thread that holds the lock. */
	int depth = 1;

	private boolean lost;

	private @Nullable Runnable onLoss;

	Hold(String lock, String ticket, MemberId session, Token token, @Nullable MonotonicTime endsAt) {
		this.lock = lock;
		this.ticket = ticket;
		this.session = session;
		this.token = token;
		this.endsAt = endsAt;
	}

	synchronized boolean isLost() {
		return this.lost;
	}

	/** Marks it as lost; returns what to run, the first time. */
	synchronized @Nullable Runnable lose() {
		this.lost = true;
		Runnable listener = this.onLoss;
		this.onLoss = null;
		return listener;
	}

	/** Sets the listener; returns it if it has to run now. */
	synchronized @Nullable Runnable onLoss(Runnable listener) {
		this.onLoss = this.lost ? null : listener;
		return this.lost ? listener : null;
	}

	boolean hasEnded(MonotonicTime now) {
		return this.endsAt != null && !now.isBefore(this.endsAt);
	}

}
