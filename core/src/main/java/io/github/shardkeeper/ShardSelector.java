package io.github.shardkeeper;

import io.github.shardkeeper.ShardTemplate.Outgoing;

/**
 * Selects the shard of each record that a {@link ShardTemplate} sends, instead of the
 * hash of the key. A bean of this type applies to all topics, or to the topics whose
 * {@code shardkeeper.topics.<topic>.selector} names it; {@link ShardTemplate#with} takes
 * another one. Implementations are thread-safe and do not block: they run on the sending
 * thread.
 * <p>
 * All producers must select alike; otherwise records of one key are in several shards and
 * have no order. For example: <pre>
 * &#64;Bean
 * ShardSelector byCountry(Countries countries) {
 *     return (topic, record, shards) -&gt; countries.number(record.headers().get("country")) % shards;
 * }
 * </pre>
 */
@FunctionalInterface
public interface ShardSelector {

	/** Value that leaves the decision to the key, as if there were no selector. */
	int BY_KEY = -1;

	/**
	 * Selects a shard.
	 * @param topic the topic
	 * @param record the record to send
	 * @param shards the number of shards of the topic, which may grow over time
	 * @return the number of the shard, 0 to {@code shards - 1}, or {@link #BY_KEY}; any
	 * other number fails the send with an {@link IllegalArgumentException}
	 */
	int select(String topic, Outgoing record, int shards);

}
