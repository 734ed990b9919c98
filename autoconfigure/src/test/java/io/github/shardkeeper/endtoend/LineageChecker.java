package io.github.shardkeeper.endtoend;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.endtoend.Trace.Line;
import io.github.shardkeeper.endtoend.TraceChecker.State;

/**
 * Checks whether the traces that instances have written of a shard are possible after
 * Redis has lost writes that it had acknowledged. Records may be gone with it, and what
 * belonged to a dead instance may be handled again, on the state of then. What must hold:
 * each call continues from a state that was there, and from the position that belongs to
 * it; no record that is left is skipped; tokens never repeat or fall; owners do not
 * overlap; and live instances continue where they were. Has no state.
 */
final class LineageChecker {

	private static final Line NOTHING = new Line(0, 0, "", "", 0, 0, 0, 0);

	private LineageChecker() {
	}

	/**
	 * Checks a shard.
	 * @param lines its calls, in the order in which they began
	 * @param left the numbers that its stream still has
	 * @param end the committed state at the end
	 * @param deaths the dead instances: only their shards may be older then
	 * @return the violations
	 */
	static List<String> check(List<Line> lines, List<Long> left, @Nullable State end, List<Death> deaths) {
		List<String> wrong = new ArrayList<>();
		Map<Long, String> owners = new HashMap<>();
		Line before = NOTHING;
		for (int i = 0; i < lines.size(); i++) {
			Line line = lines.get(i);
			if (!owners.computeIfAbsent(line.token(), (token) -> line.instance()).equals(line.instance())) {
				wrong.add("%s: %s has had the same token".formatted(line, owners.get(line.token())));
			}
			if (line.token() < before.token()) {
				wrong.add("%s: its token is below that of %s".formatted(line, before));
			}
			if (line.beginMicros() < before.endMicros()) {
				wrong.add("%s began before %s ended".formatted(line, before));
			}
			Line continued = continued(line, before, lines.subList(0, i), deaths);
			if (continued == null) {
				wrong.add("%s: the state is none that was there; before it was %s".formatted(line, before));
			}
			else {
				if (line.number() <= continued.number()) {
					wrong.add("%s: the state has seen %d already".formatted(line, continued.number()));
				}
				skipped(continued.number(), line.number(), left)
					.forEach((number) -> wrong.add("%s skips %d".formatted(line, number)));
			}
			before = line;
		}
		skipped(before.number(), Long.MAX_VALUE, left)
			.forEach((number) -> wrong.add("%d was never handled".formatted(number)));
		if (end == null || end.count() != before.count() || end.sum() != before.sum()) {
			wrong.add("%s was the last, but the state is %s".formatted(before, end));
		}
		return wrong;
	}

	/**
	 * The call on whose state this one has been made; only after a death an older one.
	 */
	private static @Nullable Line continued(Line line, Line before, List<Line> earlier, List<Death> deaths) {
		if (isBase(before, line)) {
			return before;
		}
		boolean mayBeOlder = line.token() != before.token()
				&& deaths.stream().anyMatch((death) -> death.liesBetween(before, line));
		if (!mayBeOlder) {
			return null;
		}
		for (int i = earlier.size() - 1; i >= 0; i--) {
			if (isBase(earlier.get(i), line)) {
				return earlier.get(i);
			}
		}
		return isBase(NOTHING, line) ? NOTHING : null;
	}

	private static boolean isBase(Line base, Line line) {
		return base.count() == line.count() - 1 && base.sum() == line.sum() - line.number();
	}

	private static List<Long> skipped(long after, long before, List<Long> left) {
		return left.stream().filter((number) -> number > after && number < before).toList();
	}

	/**
	 * An instance has died with data that no other has: not committed, or committed in
	 * writes that Redis lost.
	 *
	 * @param instance who
	 * @param micros when
	 */
	record Death(String instance, long micros) {

		/** It may have gone on for a moment. */
		private static final long GRACE_MICROS = 5_000_000;

		private boolean liesBetween(Line before, Line line) {
			return this.instance.equals(before.instance()) && before.beginMicros() < this.micros + GRACE_MICROS
					&& line.beginMicros() > this.micros;
		}

	}

}
