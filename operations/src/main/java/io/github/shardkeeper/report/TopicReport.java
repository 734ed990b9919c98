package io.github.shardkeeper.report;

import java.util.SortedMap;

import org.jspecify.annotations.Nullable;

/**
 * Summary of the shards of a topic in a group. Immutable.
 *
 * @param topic the name of the topic
 * @param shards the number of shards that have had an owner
 * @param states the number of shards in each state that occurs
 * @param problems the number of shards with a problem
 * @param paused the pause of the whole topic by an operator; {@code null} without one
 */
public record TopicReport(String topic, int shards, SortedMap<String, Integer> states, int problems,
		@Nullable PauseReport paused) {

}
