package io.github.shardkeeper.assignment;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;

/**
 * Current owner of a shard, and since when. Immutable.
 *
 * @param owner the owner, or the target of a move under way
 * @param since the generation of the group at the last change of ownership
 * @param sinceMillis the time of that change, in milliseconds of the store's time
 */
public record Tenure(MemberId owner, long since, long sinceMillis) {

	public Tenure {
		Objects.requireNonNull(owner, "owner must not be null");
	}

	/**
	 * Creates a tenure that began at an unknown time.
	 * @param owner the owner
	 * @param since the generation of the group at its beginning
	 */
	public Tenure(MemberId owner, long since) {
		this(owner, since, 0);
	}

}
