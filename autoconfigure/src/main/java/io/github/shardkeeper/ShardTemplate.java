package io.github.shardkeeper;

import java.util.Collection;
import java.util.List;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Sends records to the shards of a topic. Thread-safe.
 * <p>
 * The key decides the shard:
 * {@code (murmur2(UTF-8 bytes of the key) & 0x7fffffff) % number of shards}, as Kafka's
 * default partitioner does, stable over releases and the same on every instance. Records
 * with the same key are therefore handled in the order in which they were sent by one
 * thread.
 * <p>
 * A send that throws may or may not have been appended, and of several records any part:
 * sending them again can double them. Where that matters, send a number of your own along
 * and let the handler skip what it has seen.
 */
public interface ShardTemplate {

	/**
	 * Sends one record and waits until it is appended.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param key the key that chooses the shard
	 * @param payload a {@code String} or {@code byte[]} is sent as it is, anything else
	 * as JSON
	 * @return where it was appended
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * topic is not configured; a retry does not help
	 * @throws RuntimeException of the source when it cannot be reached
	 */
	Appended send(String topic, String key, Object payload);

	/**
	 * Sends several records, pipelined, and waits until all are appended. Records of one
	 * shard are appended in the collection's order.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param records the records
	 * @return where each was appended, in the same order
	 */
	List<Appended> sendAll(String topic, Collection<Outgoing> records);

	/**
	 * Tells the shard that a key belongs to.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param key the key
	 * @return the shard
	 */
	ShardId shardFor(String topic, String key);

	/**
	 * A record to send.
	 *
	 * @param key the key that chooses the shard
	 * @param payload a {@code String} or {@code byte[]} is sent as it is, anything else
	 * as JSON
	 */
	record Outgoing(String key, Object payload) {

	}

	/**
	 * Where a record was appended.
	 *
	 * @param shard the shard
	 * @param offset the position there
	 */
	record Appended(ShardId shard, Offset offset) {

	}

}
