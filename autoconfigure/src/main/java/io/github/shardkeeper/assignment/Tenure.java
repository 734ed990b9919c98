package io.github.shardkeeper.assignment;

import java.util.Objects;

import io.github.shardkeeper.shard.MemberId;

/**
 * Who owns a shard today, or is about to. Immutable.
 *
 * @param owner the owner, or the target of a move under way
 * @param since the group's generation at the last change of the shard's ownership: the
 * higher, the later it came
 * @param sinceMillis when that was, in milliseconds of the store's time
 */
public record Tenure(MemberId owner, long since, long sinceMillis) {

	public Tenure {
		Objects.requireNonNull(owner, "owner must not be null");
	}

	/**
	 * A tenure that began at no known time.
	 * @param owner the owner
	 * @param since the group's generation at its begin
	 */
	public Tenure(MemberId owner, long since) {
		this(owner, since, 0);
	}

}
