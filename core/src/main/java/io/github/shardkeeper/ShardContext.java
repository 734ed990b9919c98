package io.github.shardkeeper;

import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * What a handler may know about the shard it works for. Thread-safe.
 */
public interface ShardContext {

	/**
	 * The group that shares the topic's shards, or each of whose instances has them all.
	 * @return the group's name
	 */
	String group();

	/**
	 * The shard that is worked on.
	 * @return topic and id
	 */
	ShardId shard();

	/**
	 * This instance's id in the group, as it was when the shard was assigned to it; a new
	 * one for every session. A shard that is kept while the session is begun anew,
	 * because the store was emptied, keeps this id too.
	 * @return the member that the shard was assigned to
	 */
	MemberId member();

	/**
	 * The fencing token of this ownership. It is higher than the token of every earlier
	 * owner of the shard: store it with what you write elsewhere, and refuse writes whose
	 * token is lower than the stored one. Of a broadcast topic every instance has all
	 * shards: there the token orders the starts of this instance id only.
	 * @return the token; {@link Token#NONE} in an {@link OnShardPreparing} method
	 */
	Token token();

	/**
	 * Whether this instance may still consume the shard as far as it knows: its lease has
	 * not ended and the shard was not taken away. It changes by itself, when the store
	 * does not answer in time or another instance owns the shard; the running call is
	 * interrupted then too. While a shard is only being handed over it is still held.
	 * Long handlers look at it now and then, and stop early by throwing: the record is
	 * handled again, here or elsewhere. It is advice, not a lock: a process that is
	 * frozen after it has looked does not know, and only the token protects a write.
	 * @return whether the shard is held
	 */
	boolean isHeld();

}
