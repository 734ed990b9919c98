package io.github.shardkeeper.checkpoint;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition.Acquired;

/**
 * Part of what an owner commits beside the position of its shard: it collects changes,
 * and moves them into the next commit. Confined to the shard's worker.
 */
@Internal
public interface CommitPart {

	/** Returns whether it has nothing to commit, and nothing to do after that. */
	boolean isEmpty();

	/**
	 * Returns whether the next commit must not be one of a call in a transaction, nor be
	 * made while such calls run: they begin with what it changes.
	 */
	default boolean isExclusive() {
		return false;
	}

	/** Moves what it has into a commit; returns what to tell about its reply. */
	Added addTo(Commit.Builder commit);

	/**
	 * Adds everything that it knows, because the store has lost it.
	 * @param stored what the store has
	 */
	default Added addAllTo(Commit.Builder commit, Acquired stored) {
		return addTo(commit);
	}

	/** A part that makes commits large. */
	interface Sized extends CommitPart {

		/** Returns the approximate size of what it has for the next commit, in bytes. */
		long bytes();

		/** Returns whether the next commit should have no more of it. */
		default boolean isLarge() {
			return false;
		}

	}

	/** A part that calls may have to wait for. */
	interface Gate extends CommitPart {

		/** Returns whether records may be handled before the next commit is answered. */
		boolean permitsCalls();

	}

	/** What a part has added to a commit. */
	interface Added {

		/** Nothing that a reply would matter for. */
		Added NOTHING = new Added() {
		};

		/** Processes that the commit was written. */
		default void committed() {
		}

		/** Takes it back, for the next commit: this one was not written. */
		default void notCommitted() {
		}

	}

}
