package io.github.shardkeeper;

/**
 * The topics' numbers of shards, where the source keeps them itself: with Redis Streams
 * they stand in Redis, so that all producers and consumers agree. A bean of this type is
 * there with the default sources. Thread-safe.
 */
public interface ShardTopics {

	/**
	 * Asks how many shards a topic has.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @return the number that holds for everybody
	 * @throws StoreUnavailableException when that cannot be asked; a retry makes sense
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException when the
	 * topic is not configured
	 */
	int shards(String topic);

	/**
	 * Gives a topic more shards, at once and for ever. Consumers read the new ones within
	 * some seconds, producers send to them within some seconds: every instance looks at
	 * the number each 5 s while it consumes or sends. Nothing has to be restarted, but
	 * {@code shardkeeper.topics.<topic>.shards} should say the same afterwards.
	 * <p>
	 * With another number most keys belong to another shard. What was sent to the old one
	 * stays there, and its state does too. So for a while records of one key may be
	 * handled in two shards at the same time, the later ones perhaps first.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @param shards how many shards it is to have, at most 100,000; as many as it has
	 * changes nothing
	 * @return how many it has now
	 * @throws IllegalArgumentException when it has more already: shards cannot be taken
	 * away, because nobody would read what is in them
	 * @throws StoreUnavailableException when there was no answer; repeating the call
	 * makes sense
	 */
	int raise(String topic, int shards);

}
