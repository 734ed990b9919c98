package io.github.shardkeeper.consumer;

import java.util.Map;
import java.util.TreeMap;

import io.github.shardkeeper.shard.ShardId;

/**
 * What keeps a shard from being consumed, or from being handed over. Whoever finds it
 * says whether somebody has to look at it; nobody else decides that. Immutable.
 *
 * @param text a sentence
 * @param alarm whether somebody has to look at it now; otherwise it is part of what
 * Shardkeeper does by itself, and only worth knowing
 */
public record ShardProblem(String text, boolean alarm) {

	static ShardProblem alarm(String text) {
		return new ShardProblem(text, true);
	}

	static ShardProblem detail(String text) {
		return new ShardProblem(text, false);
	}

	static Map<ShardId, String> texts(Map<ShardId, ShardProblem> problems) {
		Map<ShardId, String> texts = new TreeMap<>();
		problems.forEach((shard, problem) -> texts.put(shard, problem.text()));
		return texts;
	}

	@Override
	public String toString() {
		return this.text;
	}

}
