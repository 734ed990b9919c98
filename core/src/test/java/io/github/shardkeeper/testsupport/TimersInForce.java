package io.github.shardkeeper.testsupport;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;

/**
 * Timers of the keys of records. The state has those that are in force, so that in it
 * each has fired once, unless it was replaced or cancelled. A call for another one, or
 * one at another time or place than it should be, is in the state, too, if it counts. Has
 * no state itself.
 */
public final class TimersInForce {

	/** Part of the texts about timers in the wrong order. */
	public static final String OVERTAKES = " fires before ";

	private static final String IN_FORCE = "timer ";

	private static final String WRONG = "wrong timer: ";

	/** Entry that counts what was set. */
	private static final String SETS = "timers set";

	private static final List<String> NAMES = List.of("one", "other");

	private TimersInForce() {
	}

	/**
	 * Returns whether a number sets a timer; the others cancel one, if it is in force.
	 */
	public static boolean sets(long number) {
		return number % 4 != 3;
	}

	/** Sets, replaces or cancels a timer of a key, as the number says. */
	public static void handle(String key, long number, ShardState state, ShardTimers timers, Instant now) {
		String name = NAMES.get((int) (number / 3 % NAMES.size()));
		if (sets(number)) {
			Instant due = Instant.ofEpochMilli(now.plus(Duration.ofMillis(number * 7919 % 4000)).toEpochMilli());
			timers.set(key, name, due);
			end(id(key, name), End.REPLACED, state);
			state.put(IN_FORCE + id(key, name), new Timer(state.increment(SETS, 1), due.toEpochMilli()));
		}
		else {
			timers.cancel(key, name);
			end(id(key, name), End.CANCELLED, state);
		}
	}

	/**
	 * Processes a call for a timer.
	 * @param inOrder whether the calls for a key are in order
	 * @param now the time by the clock of the owner
	 */
	public static void fire(ShardTimer timer, boolean inOrder, ShardState state, Instant now) {
		String id = id(timer.key(), timer.name());
		Timer fired = state.get(IN_FORCE + id, Timer.class).orElse(null);
		if (fired == null || fired.dueAt != timer.dueAt().toEpochMilli()) {
			wrong(state, "%s fires, and %s is in force", timer, fired);
			return;
		}
		if (now.isBefore(timer.dueAt())) {
			wrong(state, "%s fires at %s", timer, now);
		}
		if (inOrder) {
			// One that was set later may have come when this one was taken already.
			NAMES.stream()
				.flatMap((name) -> state.get(IN_FORCE + id(timer.key(), name), Timer.class).stream())
				.filter((other) -> other.dueAt < fired.dueAt && other.place < fired.place)
				.forEach((other) -> wrong(state, "%s" + OVERTAKES + "%s", timer, other));
		}
		end(id, End.FIRED, state);
	}

	private static String id(String key, String name) {
		return key + " " + name;
	}

	private static void end(String id, End end, ShardState state) {
		if (state.get(IN_FORCE + id, Timer.class).isPresent()) {
			state.remove(IN_FORCE + id);
			state.increment(end.entry(id), 1);
		}
	}

	private static void wrong(ShardState state, String what, Object... arguments) {
		state.put(WRONG + what.formatted(arguments), true);
	}

	/** Returns whether a change of the state belongs to the call of a timer. */
	public static boolean isFired(Map<String, String> changes, String key, String name) {
		return changes.containsKey(End.FIRED.entry(id(key, name)));
	}

	/** Returns what calls should not have met. */
	public static List<String> wrong(Map<String, String> stored) {
		return entries(stored, WRONG);
	}

	/** Returns what has not ended yet. */
	public static List<String> left(Map<String, String> stored) {
		return entries(stored, IN_FORCE);
	}

	private static List<String> entries(Map<String, String> stored, String prefix) {
		List<String> found = new ArrayList<>();
		stored.forEach((key, value) -> {
			if (key.startsWith(prefix)) {
				found.add(key + "=" + value);
			}
		});
		return found;
	}

	/** Returns how many timers have ended in a way. */
	public static long count(Map<String, String> stored, End end) {
		return stored.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().startsWith(end.entry("")))
			.mapToLong((entry) -> Long.parseLong(entry.getValue()))
			.sum();
	}

	/** What becomes of a timer that is in force. */
	public enum End {

		FIRED, REPLACED, CANCELLED;

		private String entry(String id) {
			return name().toLowerCase(Locale.ROOT) + " " + id;
		}

	}

	/**
	 * A timer that is in force.
	 *
	 * @param place its place among all that were set
	 * @param dueAt when it is due, in milliseconds since 1970
	 */
	record Timer(long place, long dueAt) {

	}

}
