package io.github.shardkeeper;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * What a handler may know about the shard it works for. Thread-safe.
 */
public interface ShardContext {

	/**
	 * The group that shares the topic's shards.
	 * @return the group's name
	 */
	String group();

	/**
	 * The shard that is worked on.
	 * @return topic and id
	 */
	ShardId shard();

	/**
	 * This instance's id in the group; a new one for every session.
	 * @return the member that owns the shard
	 */
	MemberId member();

	/**
	 * The fencing token of this ownership. It is higher than the token of every earlier
	 * owner of the shard: store it with what you write elsewhere, and refuse writes whose
	 * token is lower than the stored one.
	 * @return the token
	 */
	Token token();

	/**
	 * Whether this instance may still consume the shard as far as it knows: its lease has
	 * not ended and the shard was not taken away. Long handlers look at it now and then
	 * and stop early. It is advice, not a lock: only the token protects a write.
	 * @return whether the shard is still held
	 */
	boolean isHeld();

}
