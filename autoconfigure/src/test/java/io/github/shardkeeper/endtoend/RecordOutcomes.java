package io.github.shardkeeper.endtoend;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks that every record of a shard is either counted in its state once, or is one dead
 * letter. Has no state.
 */
final class RecordOutcomes {

	private RecordOutcomes() {
	}

	/**
	 * Checks a shard.
	 * @param fed how many numbers it was fed with, beginning at 1
	 * @param state its committed state, which counts each number under its key
	 * @param deadLetters the numbers that are dead letters
	 * @return the violations
	 */
	static List<String> check(String shard, long fed, Map<String, String> state, List<Long> deadLetters) {
		Map<Long, Integer> dead = new HashMap<>();
		deadLetters.forEach((number) -> dead.merge(number, 1, Integer::sum));
		List<String> wrong = new ArrayList<>();
		for (long number = 1; number <= fed; number++) {
			int handled = Integer.parseInt(state.getOrDefault(UnreliableHandlers.key(number), "0"));
			int letters = dead.getOrDefault(number, 0);
			if (handled + letters != 1 || UnreliableHandlers.isPoison(number) && handled > 0) {
				wrong.add("%s: %d was handled %d times, and is %d dead letters".formatted(shard, number, handled,
						letters));
			}
		}
		return wrong;
	}

	/** Returns how many numbers have an outcome, right or wrong. */
	static long count(Map<String, String> state, List<Long> deadLetters) {
		return state.keySet().stream().filter((key) -> key.startsWith("n")).count()
				+ deadLetters.stream().distinct().count();
	}

}
