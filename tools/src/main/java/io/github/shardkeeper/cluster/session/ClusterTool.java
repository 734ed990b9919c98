package io.github.shardkeeper.cluster.session;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.time.MonotonicTime;

/** A tool on the session of this instance. */
public interface ClusterTool {

	/**
	 * Receives a message of the store. On a thread of the store; must not block.
	 * @param kind the first word of the message, for example {@code lock}
	 * @param text the rest, without the separator {@code |}; may be empty
	 * @throws IllegalArgumentException if it cannot be read; an
	 * {@link IndexOutOfBoundsException} means the same
	 */
	default void message(String kind, String text) {
	}

	/**
	 * Catches up with the store, which may have changed unseen: after a session has
	 * begun, after each subscription, with each view, and once per lease. On the loop of
	 * the session; may call the store.
	 * @param member the session of this instance
	 * @param reply the reply of the store, just read
	 * @throws io.github.shardkeeper.StoreUnavailableException if the store does not
	 * reply: it is called again soon
	 */
	default void catchUp(MemberId member, ViewStore.Reply reply) {
	}

	/**
	 * The store refuses a part of what catching up needs, so messages and changes may be
	 * missed for long: what waits asks the store itself. Called once per lease until it
	 * is over. On the loop of the session; must not block.
	 */
	default void catchUpRefused() {
	}

	/**
	 * The lease has ended or is held again, or the session is over: see
	 * {@link ClusterSession#isHeld}. On a thread of the coordinator; must not block.
	 */
	default void sessionChanged() {
	}

	/**
	 * The store may have lost writes that it has answered: the next {@link #catchUp}
	 * verifies what matters. Must not block.
	 */
	default void writesMayBeLost() {
	}

	/** Returns when to call {@link #due}; {@code null} for never. Must not block. */
	default @Nullable MonotonicTime wakeAt() {
		return null;
	}

	/**
	 * The time of {@link #wakeAt} has come. On the loop of the session; must not block.
	 */
	default void due() {
	}

}
