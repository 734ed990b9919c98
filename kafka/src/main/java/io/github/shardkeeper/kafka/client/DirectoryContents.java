package io.github.shardkeeper.kafka.client;

import java.util.Map;

import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * What is known of the Kafka topics of a source after some refreshes. Immutable.
 *
 * @param number the number of refreshes, successful or not
 * @param at the time of the last one
 * @param shards the shards by topic
 * @param problems by topic what has to be corrected
 * @param described the Kafka topics by name
 * @param refusals by name of a Kafka topic why it cannot be read
 * @param failure why the last refresh failed, {@code null} if it did not
 */
public record DirectoryContents(long number, MonotonicTime at, Map<String, TopicShards> shards,
		Map<String, String> problems, Map<String, Described> described, Map<String, String> refusals,
		@Nullable StoreUnavailableException failure) {

	boolean isLike(DirectoryContents other) {
		return this.shards.equals(other.shards) && this.problems.equals(other.problems)
				&& this.described.equals(other.described) && this.refusals.equals(other.refusals)
				&& (this.failure == null) == (other.failure == null);
	}

	/**
	 * A Kafka topic. Immutable.
	 *
	 * @param id changes if it is deleted and created again
	 * @param partitions the number of partitions
	 * @param leaders the ids of the leaders by partition; a partition without one cannot
	 * be read now
	 */
	public record Described(Uuid id, int partitions, Map<Integer, Integer> leaders) {

	}

}
