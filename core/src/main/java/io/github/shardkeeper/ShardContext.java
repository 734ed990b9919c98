package io.github.shardkeeper;

import java.time.Instant;
import java.util.Optional;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/** Shard that a handler is called for, and its ownership. Thread-safe. */
public interface ShardContext {

	/**
	 * Returns the group that consumes the topic.
	 * @return the name of the group
	 */
	String group();

	/**
	 * Returns the shard.
	 * @return the topic and id of the shard
	 */
	ShardId shard();

	/**
	 * Returns the id of this instance in the group when the shard was assigned to it.
	 * Every session has a new id. If the store was emptied, shards that the instance
	 * keeps in a new session keep the old id here.
	 * @return the member that the shard was assigned to
	 */
	MemberId member();

	/**
	 * Returns the fencing token of this ownership. It is higher than the token of every
	 * earlier owner: store it with data in other stores, and reject writes whose token is
	 * lower than the stored one. For a broadcast topic, whose shards every instance
	 * consumes, the token only orders the starts of this instance id.
	 * @return the token; {@link Token#NONE} in an {@link OnShardPreparing} method
	 */
	Token token();

	/**
	 * Returns whether this instance may still consume the shard, as far as it knows: its
	 * lease has not ended, and no other instance owns the shard. {@code true} during a
	 * handover until the shard is released. Once it is {@code false}, the running call is
	 * interrupted.
	 * <p>
	 * Long-running handlers should check it from time to time and throw an exception to
	 * stop early: the record is handled again, here or elsewhere. It is a hint, not a
	 * lock: a process that freezes after the check does not notice. Only the
	 * {@linkplain #token() token} protects a write.
	 * @return whether the shard is held
	 */
	boolean isHeld();

	/**
	 * Returns the time that the schedule of a shard without records has for the run that
	 * is under way: the time that was due, also if the run began later or is repeated.
	 * With a cron expression it is later than those of all finished runs of the shard,
	 * whatever clocks show, unless the shard was moved by {@link ShardPositions} or the
	 * store has lost their commits. With an interval it may be earlier than that of the
	 * last run, if a clock was set back.
	 * @return the time; empty outside of a run, and for handlers without a schedule
	 */
	default Optional<Instant> scheduledTime() {
		return Optional.empty();
	}

}
