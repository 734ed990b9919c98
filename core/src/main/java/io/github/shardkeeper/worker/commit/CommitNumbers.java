package io.github.shardkeeper.worker.commit;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.checkpoint.CommitHistory.LastCommit;
import io.github.shardkeeper.shard.Offset;

/**
 * Numbers of the commits under one token, and what they rest on. Confined to whoever has
 * the turn to commit, which is the shard's worker unless calls commit themselves; except
 * for {@link #acknowledged()}.
 */
public final class CommitNumbers {

	/**
	 * Distance between the commit numbers of workers with the same token, which may have
	 * read the same last commit: a pending one of an abandoned worker must not be taken
	 * for ours. There is such a worker if a claim was not granted and the store named the
	 * shard nevertheless.
	 */
	private static final int GAP = 1000;

	private long attempts;

	private volatile long acknowledged;

	private @Nullable Offset acknowledgedOffset;

	/** Last commit of others that this progress contains, {@code null} if not known. */
	private @Nullable LastCommit base;

	/** Number of the acquisition that the first commit is based on. */
	private long acquisition;

	/** Begins with the number of an ownership, which no other one has. */
	public CommitNumbers(Acquisition.Acquired acquired, long ownership) {
		acquiredAgain(acquired);
		this.base = acquired.before();
		this.acknowledgedOffset = acquired.checkpoint().offset();
		this.attempts = acquired.lastCommit() + ownership * GAP;
		this.acknowledged = acquired.lastCommit();
	}

	/**
	 * Continues after another acquisition under the token, so that the store detects late
	 * commits before it.
	 */
	public void acquiredAgain(Acquisition.Acquired acquired) {
		this.acquisition = acquired.acquisition();
	}

	public long acquisition() {
		return this.acquisition;
	}

	/** Returns the number of the last acknowledged commit. Thread-safe. */
	public long acknowledged() {
		return this.acknowledged;
	}

	@Nullable Offset acknowledgedOffset() {
		return this.acknowledgedOffset;
	}

	/** Returns the number that {@link #next} will return. */
	public long upcoming() {
		return this.attempts + 1;
	}

	CommitNumber next() {
		return new CommitNumber(++this.attempts, this.acknowledged, this.acquisition);
	}

	/** Returns the number of a commit of everything, after another acquisition. */
	CommitNumber ofWhole(Acquisition.Acquired acquired) {
		acquiredAgain(acquired);
		return CommitNumber.ofWhole(++this.attempts);
	}

	void acknowledged(Commit commit) {
		this.acknowledged = commit.number().attempt();
		this.acknowledgedOffset = commit.offset();
	}

	/**
	 * Returns a commit of others that this progress does not contain, once; {@code null}
	 * for none. A store that has only lost writes has none.
	 */
	@Nullable LastCommit otherHistory(Acquisition.Acquired acquired) {
		LastCommit others = acquired.before();
		if (this.base == null || others == null || others.compareTo(this.base) <= 0) {
			return null;
		}
		this.base = others;
		return (others.number() > 0) ? others : null;
	}

}
