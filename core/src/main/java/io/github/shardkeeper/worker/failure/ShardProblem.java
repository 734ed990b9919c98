package io.github.shardkeeper.worker.failure;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Problem that keeps a shard from being consumed or handed over. Immutable.
 *
 * @param alarm whether somebody has to look at it now; otherwise Shardkeeper recovers
 * automatically
 * @param outage time for which a store or a source has not answered, as it may for some
 * time; {@code null} for another problem
 */
public record ShardProblem(String text, boolean alarm, @Nullable Duration outage) {

	/** Returns a problem that somebody has to look at now. */
	public static ShardProblem alarm(String text) {
		return new ShardProblem(text, true, null);
	}

	/** Returns a problem that is an alarm only if the outage takes too long. */
	public static ShardProblem outage(String text, Duration lasts) {
		return new ShardProblem(text, false, lasts);
	}

	/** Returns the texts of problems by shard. */
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
