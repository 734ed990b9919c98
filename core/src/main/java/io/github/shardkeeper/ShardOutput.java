package io.github.shardkeeper;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardTemplate.Outgoing;

/**
 * Records that a handler sends as a part of its call, to other topics of the same Redis.
 * They are committed in one atomic write with offset and state of the shard, and then
 * appended, each exactly once: never if the call fails or is repeated, never by an owner
 * that was replaced before its commit. Records that a shard sends to one shard are
 * appended in the order of the calls, as those calls are committed. With
 * {@code transaction: jdbc} they are committed in the transaction of the call, with what
 * the handler writes to the database.
 * <p>
 * Nothing is appended before the call has returned, so a handler cannot wait for it. The
 * shard of a record is chosen when it is sent, as {@link ShardTemplate} does.
 * <p>
 * <b>Not guaranteed.</b> Where a seek moves the shard back, records are handled again,
 * and what they send is appended again. If Redis loses writes that it has acknowledged,
 * records may be appended twice. Readers of the target see each record once in the
 * stream, and then what their own commits promise.
 * <p>
 * Confined to the call that received it and to that call's thread; on others, and later,
 * every method throws {@link IllegalStateException}. If the handler returns a result that
 * is complete later, other threads may use it until then: each use waits for the one
 * before.
 */
public interface ShardOutput {

	/**
	 * Adds a record to those that the call sends.
	 * @param topic one of {@code shardkeeper.topics.*}, on Redis Streams
	 * @param key the key that selects the shard, {@code null} for any shard
	 * @param payload the payload: a {@code String} or {@code byte[]} is sent as it is,
	 * anything else as JSON
	 * @throws SendFailedException if the number of shards of the topic is not known yet;
	 * a retry makes sense
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the topic
	 * is not configured, or has another source; a retry does not help
	 * @throws IllegalArgumentException if the record is not valid, has an id (it is
	 * appended once without one), or the call sends too much; a retry does not help
	 */
	default void send(String topic, @Nullable String key, Object payload) {
		send(topic, new Outgoing(key, payload));
	}

	/**
	 * Adds a record like {@link #send(String, String, Object)}, with its exceptions.
	 * @param topic one of {@code shardkeeper.topics.*}, on Redis Streams
	 * @param record the record
	 */
	void send(String topic, Outgoing record);

}
