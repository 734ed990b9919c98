package io.github.shardkeeper.shard;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;

/**
 * Snapshot of what an owner has done with a shard, to compare it with a later one.
 * Immutable.
 *
 * @param token the token of the owner
 * @param setAside a number that rises after each commit that has put records into the
 * retry queue or stored dead letters, and when the store may have lost commits
 * @param rest the same number as long as the owner rests: its reader waits for records
 * after the last one, and it handles and commits nothing; {@code null} while it does not
 */
@Internal
public record ShardActivity(long token, long setAside, @Nullable Long rest) {

	/**
	 * Returns whether no record was put aside since an earlier snapshot, so that a retry
	 * queue and dead letters that were empty then still are.
	 * @param earlier the earlier snapshot, {@code null} for none
	 */
	public boolean hasSetNothingAsideSince(@Nullable ShardActivity earlier) {
		return earlier != null && earlier.token == this.token && earlier.setAside == this.setAside;
	}

	/**
	 * Returns whether the owner has rested since an earlier snapshot, so that a shard
	 * without lag still has none.
	 * @param earlier the earlier snapshot, {@code null} for none
	 */
	public boolean hasRestedSince(@Nullable ShardActivity earlier) {
		return earlier != null && earlier.token == this.token && this.rest != null && this.rest.equals(earlier.rest);
	}

}
