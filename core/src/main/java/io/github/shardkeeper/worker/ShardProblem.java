package io.github.shardkeeper.worker;

import java.util.Map;
import java.util.TreeMap;

import io.github.shardkeeper.shard.ShardId;

/**
 * Problem that keeps a shard from being consumed or handed over. Immutable.
 *
 * @param text a sentence
 * @param alarm whether somebody has to look at it now; otherwise it is part of what
 * Shardkeeper does by itself, and only worth knowing
 */
public record ShardProblem(String text, boolean alarm) {

	/**
	 * Creates a problem that somebody has to look at now.
	 * @param text a sentence
	 * @return the problem
	 */
	public static ShardProblem alarm(String text) {
		return new ShardProblem(text, true);
	}

	/**
	 * Returns the sentences alone.
	 * @param problems the problems by shard
	 * @return their texts by shard
	 */
	public static Map<ShardId, String> texts(Map<ShardId, ShardProblem> problems) {
		Map<ShardId, String> texts = new TreeMap<>();
		problems.forEach((shard, problem) -> texts.put(shard, problem.text()));
		return texts;
	}

	@Override
	public String toString() {
		return this.text;
	}

}
