package io.github.shardkeeper.endtoend;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.github.shardkeeper.testsupport.TimersInForce;
import io.github.shardkeeper.testsupport.TimersInForce.End;

/**
 * Checks that every timer of a shard has ended once, and that nothing of it has expired
 * and is still there. Has no state.
 */
final class ReminderOutcomes {

	private ReminderOutcomes() {
	}

	/**
	 * Checks a shard of {@link Reminders} at its end.
	 * @param fed how many numbers it was fed with, beginning at 1
	 * @param state its stored state
	 * @return the violations
	 */
	static List<String> check(String shard, long fed, Map<String, String> state) {
		List<String> wrong = new ArrayList<>(TimersInForce.wrong(state));
		wrong.addAll(TimersInForce.left(state));
		state.keySet()
			.stream()
			.filter((key) -> key.startsWith(Reminders.WRONG) || key.startsWith(Reminders.EXPIRING))
			.forEach(wrong::add);
		long set = LongStream.rangeClosed(1, fed).filter(TimersInForce::sets).count();
		long ended = Stream.of(End.values()).mapToLong((end) -> TimersInForce.count(state, end)).sum();
		if (ended != set) {
			wrong.add("%d timers were set, and %d have ended".formatted(set, ended));
		}
		return wrong.stream().map((what) -> shard + ": " + what).toList();
	}

	/** Returns how often each thing has happened. */
	static Map<String, Long> counts(Map<String, String> state) {
		Map<String, Long> counts = new TreeMap<>();
		for (End end : End.values()) {
			counts.put(end.name(), TimersInForce.count(state, end));
		}
		counts.put("EXPIRED", Long.parseLong(state.getOrDefault(Reminders.EXPIRED, "0")));
		return counts;
	}

}
