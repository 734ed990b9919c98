package io.github.shardkeeper.protocol;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.Ownership.Phase;
import io.github.shardkeeper.shard.MemberId;

/**
 * An instance that has left its group for a restart. Its shards are released, with their
 * state saved, and kept for it: its next session gets them, unless it returns too late.
 * Immutable.
 *
 * @param instance the id of the instance
 * @param description the description of its last member
 * @param sinceMillis the time at which it left, in milliseconds of the store's time
 * @param untilMillis the time until which its shards are kept, in milliseconds of the
 * store's time
 */
public record AwayInstance(String instance, MemberDescription description, long sinceMillis, long untilMillis) {

	/** Sessions have names of small letters and digits: none has this one. */
	private static final String SESSION = "AWAY";

	/**
	 * Returns the id that stands for an instance without a session: the target of the
	 * shards that are kept for it.
	 */
	public static MemberId idOf(String instance) {
		return MemberId.of(instance, SESSION);
	}

	/** Returns whether an id stands for an instance without a session. */
	public static boolean isIdOf(@Nullable MemberId id) {
		return id != null && id.value().endsWith("~" + SESSION);
	}

	/**
	 * {@return the instance for which a shard is kept; {@code null} for none}
	 */
	public static @Nullable String keptFor(@Nullable Ownership shard) {
		MemberId target = (shard != null && shard.phase() == Phase.QUIET) ? shard.target() : null;
		return (target != null && isIdOf(target)) ? target.instance() : null;
	}

	/**
	 * {@return the id that stands for this instance}
	 */
	public MemberId id() {
		return idOf(this.instance);
	}

}
