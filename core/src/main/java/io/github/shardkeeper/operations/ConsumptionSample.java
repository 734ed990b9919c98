package io.github.shardkeeper.operations;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.shard.ShardId;

/**
 * Figures of the shards of this instance and, on the leader, of the group. Immutable.
 *
 * @param shards the shards that this instance consumes
 * @param group the topics of the group; empty unless this instance leads it
 */
public record ConsumptionSample(Map<ShardId, ShardFigures> shards, Map<String, TopicFigures> group) {

	public ConsumptionSample {
		shards = Map.copyOf(shards);
		group = Map.copyOf(group);
	}

	/**
	 * Figures of a shard. Each is {@code null} if it is not known. Immutable.
	 *
	 * @param lag the distance between its committed offset and its end
	 * @param deadLetters the number of its dead letters
	 * @param retries the number of records in its retry queue
	 * @param problem whether it has a problem
	 */
	public record ShardFigures(@Nullable LagReport lag, @Nullable Long deadLetters, @Nullable Long retries,
			boolean problem) {

	}

	/**
	 * Figures of a topic in the group. Immutable.
	 *
	 * @param states the number of its shards in each state
	 * @param unowned the number of shards without an owner that are not completed
	 * @param unownedMillis the time for which the first of them has had none, in
	 * milliseconds
	 */
	public record TopicFigures(Map<String, Integer> states, int unowned, long unownedMillis) {

		public TopicFigures {
			states = Map.copyOf(states);
		}

	}

}
