package io.github.shardkeeper;

import io.github.shardkeeper.ShardTemplate.Outgoing;

/**
 * Chooses the shard of each record that a {@link ShardTemplate} sends, instead of the
 * key's hash. A bean of this type serves all topics, or the one whose
 * {@code shardkeeper.topics.<topic>.selector} names it; another one can be given to
 * {@link ShardTemplate#with}. Has to be thread-safe, and quick: it is called by whoever
 * sends.
 * <p>
 * All producers have to choose alike, or records of one key lie in several shards and
 * have no order:
 *
 * <pre>
 * &#64;Bean
 * ShardSelector byCountry(Countries countries) {
 *     return (topic, record, shards) -&gt; countries.number(record.headers().get("country")) % shards;
 * }
 * </pre>
 */
@FunctionalInterface
public interface ShardSelector {

	/** No preference: the key decides, as if there was no selector. */
	int BY_KEY = -1;

	/**
	 * Chooses a shard.
	 * @param topic the topic
	 * @param record what is to be sent
	 * @param shards how many shards the topic has, which may grow over time
	 * @return the shard's number, from 0 to {@code shards - 1}, or {@link #BY_KEY}. Any
	 * other number fails the send
	 */
	int select(String topic, Outgoing record, int shards);

}
