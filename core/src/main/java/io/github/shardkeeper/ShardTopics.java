package io.github.shardkeeper;

/**
 * Reads and raises the number of shards of topics whose source stores it, as Redis
 * Streams do, so that all producers and consumers agree. A bean of this type exists with
 * the default sources. Thread-safe.
 */
public interface ShardTopics {

	/**
	 * Reads the number of shards of a topic.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @return the number that all instances use
	 * @throws StoreUnavailableException if the store does not reply; a retry makes sense
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the topic
	 * is not configured
	 */
	int shards(String topic);

	/**
	 * Raises the number of shards of a topic, permanently. Every instance that consumes
	 * or sends reads the number each 5 s, so no restart is necessary; but set
	 * {@code shardkeeper.topics.<topic>.shards} to the same number afterwards.
	 * <p>
	 * What is <em>not</em> guaranteed: order across the change. Most keys then belong to
	 * another shard, but records already sent, and state, stay in the old one. For a
	 * while records of one key may be handled in two shards at once, in any order.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param shards the new number, at most 100,000; the current number changes nothing
	 * @return the number of shards now
	 * @throws IllegalArgumentException if the topic has more shards already: the records
	 * of removed shards would never be read
	 * @throws StoreUnavailableException if the store did not reply; repeat the call
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if the topic
	 * is not configured
	 */
	int raise(String topic, int shards);

}
