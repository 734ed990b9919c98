package io.github.shardkeeper.operations.reporting;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.Ownership;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.report.MovePhaseReport;
import io.github.shardkeeper.shard.ShardId;

/**
 * Figures of the shards of this instance and, on the leader, of the group. Immutable.
 *
 * @param topics the topics of the group that this instance consumes
 * @param broadcastTopics the broadcast topics that this instance consumes
 * @param shards the shards that this instance consumes, also of broadcast topics
 * @param group the topics of the group; {@code null} if this instance does not lead it,
 * or cannot read it
 * @param phases the phases of moves that have become known since the last sample; on the
 * leader
 */
public record ConsumptionSample(Set<String> topics, Set<String> broadcastTopics, Map<ShardId, ShardFigures> shards,
		@Nullable Map<String, TopicFigures> group, List<MovePhaseReport> phases) {

	/** Names of the states that shards can have. */
	public static final List<String> STATES = Arrays.stream(Ownership.Phase.values()).map(Enum::name).toList();

	public ConsumptionSample {
		topics = Set.copyOf(topics);
		broadcastTopics = Set.copyOf(broadcastTopics);
		shards = Map.copyOf(shards);
		group = (group != null) ? Map.copyOf(group) : null;
		phases = List.copyOf(phases);
	}

	/**
	 * Figures of a shard. Each is {@code null} if it is not known. Immutable.
	 *
	 * @param lag the distance between its committed offset and its end
	 * @param deadLetters the number of its dead letters
	 * @param retries the number of records in its retry queue
	 * @param problem whether it has a problem
	 * @param unreadable whether a figure is missing because a store or the source did not
	 * tell it
	 */
	public record ShardFigures(@Nullable LagReport lag, @Nullable Long deadLetters, @Nullable Long retries,
			boolean problem, boolean unreadable) {

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
