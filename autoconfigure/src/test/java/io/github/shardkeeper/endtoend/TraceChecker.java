package io.github.shardkeeper.endtoend;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.shardkeeper.endtoend.Trace.Line;
import io.github.shardkeeper.endtoend.Trace.StoreCall;

/**
 * Checks whether the traces of instances keep the promises. Confined to one thread.
 */
final class TraceChecker {

	/**
	 * Time that a call may need to return after its process was continued: not long, but
	 * the machine may have no time for it.
	 */
	private static final long WAKE_UP_MICROS = 2_000_000;

	/** Shorter than any lease of the traced instances. */
	private static final long SHORTEST_LEASE_MICROS = 900_000;

	private final Map<String, Long> fed;

	private final Trace trace;

	private final List<Freeze> freezes;

	private final List<Violation> violations = new ArrayList<>();

	private final List<Line> overlaps = new ArrayList<>();

	/**
	 * Creates a checker of one run.
	 * @param fed the number of records of each shard, numbered from 1
	 * @param trace the traces of the instances
	 * @param freezes when processes were frozen
	 */
	TraceChecker(Map<String, Long> fed, Trace trace, List<Freeze> freezes) {
		this.fed = fed;
		this.trace = trace;
		this.freezes = freezes;
	}

	/**
	 * Checks everything.
	 * @param states the state of each shard at the end
	 * @return the violations, in no order
	 */
	List<Violation> check(Map<String, State> states) {
		Map<String, List<Line>> handled = this.trace.byShard();
		Map<String, List<Line>> interrupted = byShard(this.trace.interrupted());
		Map<String, List<StoreCall>> storeCalls = storeCalls();
		this.fed.forEach((shard, count) -> {
			List<Line> lines = handled.getOrDefault(shard, List.of());
			nothingIsLost(shard, count, lines);
			TreeMap<Long, List<Line>> byToken = byToken(lines.stream());
			ordered(byToken);
			lines.forEach(this::stateIsExact);
			oneConsumer(byToken(Stream.concat(lines.stream(), interrupted.getOrDefault(shard, List.of()).stream())));
			noZombieWrites(storeCalls.getOrDefault(shard, List.of()));
			State state = states.get(shard);
			if (state == null || state.count() != count || state.sum() != sum(count)) {
				found(Rule.STATE, "shard %s was fed with %d numbers, but its state is %s", shard, count, state);
			}
		});
		return this.violations;
	}

	/**
	 * Checks only callers and writers, not numbers: some are lost with their Redis.
	 * @return the violations, in no order
	 */
	List<Violation> checkOwners() {
		Map<String, List<Line>> interrupted = byShard(this.trace.interrupted());
		Map<String, List<StoreCall>> storeCalls = storeCalls();
		this.trace.byShard().forEach((shard, lines) -> {
			oneConsumer(byToken(Stream.concat(lines.stream(), interrupted.getOrDefault(shard, List.of()).stream())));
			noZombieWrites(storeCalls.getOrDefault(shard, List.of()));
		});
		return this.violations;
	}

	private Map<String, List<StoreCall>> storeCalls() {
		return this.trace.storeCalls().stream().collect(Collectors.groupingBy(StoreCall::shard));
	}

	/** Calls that ended after a newer owner's began, because their process was frozen. */
	List<Line> overlapsWhileFrozen() {
		return this.overlaps;
	}

	private void nothingIsLost(String shard, long count, List<Line> lines) {
		BitSet seen = new BitSet();
		lines.forEach((line) -> seen.set((int) line.number()));
		for (int number = seen.nextClearBit(1); number <= count; number = seen.nextClearBit(number + 1)) {
			found(Rule.LOST, "shard %s: %d was never handled", shard, number);
		}
		if (seen.length() > count + 1) {
			found(Rule.LOST, "shard %s: %d was handled, but is not known as fed", shard, seen.length() - 1);
		}
	}

	/**
	 * Numbers rise one by one under a token, apart from a call that ended after its
	 * lease: it is repeated, on the state before it. Under a newer one they continue at
	 * most after the last that was handled before. That they do not continue too early,
	 * the state tells.
	 */
	private void ordered(TreeMap<Long, List<Line>> byToken) {
		long highest = 0;
		for (List<Line> lines : byToken.values()) {
			Line before = null;
			for (Line line : lines) {
				if (before == null && line.number() > highest + 1) {
					found(Rule.ORDER, "%s, the first under its token, but %d was the last before", line, highest);
				}
				if (before != null && line.number() != before.number() + 1 && !isRepeatedAfterLease(line, before)) {
					found(Rule.ORDER, "%s after %s", line, before);
				}
				if (before != null && !line.instance().equals(before.instance())) {
					found(Rule.TOKEN, "%s and %s", before, line);
				}
				highest = Math.max(highest, line.number());
				before = line;
			}
		}
	}

	/** A machine that had no time for the process looks like a freeze of it. */
	private static boolean isRepeatedAfterLease(Line line, Line before) {
		return line.number() == before.number() && line.count() == before.count() && line.sum() == before.sum()
				&& line.beginMicros() - before.beginMicros() > SHORTEST_LEASE_MICROS;
	}

	/** The state at each number contains all earlier numbers, each once. */
	private void stateIsExact(Line line) {
		if (line.count() != line.number() || line.sum() != sum(line.number())) {
			found(Rule.STATE, "%s: the state has not seen each number once", line);
		}
	}

	/**
	 * All calls of an owner end before a newer owner's first one begins, but for the one
	 * in which its process was frozen.
	 */
	private void oneConsumer(TreeMap<Long, List<Line>> byToken) {
		long newerBegins = Long.MAX_VALUE;
		for (List<Line> lines : byToken.descendingMap().values()) {
			Set<Freeze> excuses = new HashSet<>();
			for (Line line : lines) {
				if (line.endMicros() > newerBegins) {
					overlap(line, newerBegins, excuses);
				}
			}
			newerBegins = Math.min(newerBegins,
					lines.stream().mapToLong(Line::beginMicros).min().orElse(Long.MAX_VALUE));
		}
	}

	private void overlap(Line line, long newerBegins, Set<Freeze> excuses) {
		Freeze excuse = this.freezes.stream()
			.filter((freeze) -> freeze.instance().equals(line.instance()) && freeze.beginMicros() <= newerBegins
					&& line.endMicros() <= freeze.endMicros() + WAKE_UP_MICROS)
			.findFirst()
			.orElse(null);
		if (excuse != null && excuses.add(excuse)) {
			this.overlaps.add(line);
		}
		else {
			found(Rule.OVERLAP, "%s ended %d µs after a newer owner's first call began", line,
					line.endMicros() - newerBegins);
		}
	}

	/** After a newer owner has acquired the shard, no commit is accepted. */
	private void noZombieWrites(List<StoreCall> calls) {
		TreeMap<Long, Long> acquired = new TreeMap<>();
		calls.stream()
			.filter((call) -> call.accepted() && call.what().equals(Trace.ACQUIRE))
			.forEach((call) -> acquired.merge(call.token(), call.endMicros(), Math::min));
		calls.stream().filter((call) -> call.accepted() && call.what().equals(Trace.COMMIT)).forEach((call) -> {
			for (long end : acquired.tailMap(call.token(), false).values()) {
				if (call.beginMicros() > end) {
					found(Rule.ZOMBIE_WRITE, "%s, though a newer owner had the shard for %d µs", call,
							call.beginMicros() - end);
					return;
				}
			}
		});
	}

	private void found(Rule rule, String what, Object... arguments) {
		this.violations.add(new Violation(rule, what.formatted(arguments)));
	}

	private static long sum(long count) {
		return count * (count + 1) / 2;
	}

	private static Map<String, List<Line>> byShard(List<Line> lines) {
		return lines.stream().collect(Collectors.groupingBy(Line::shard));
	}

	private static TreeMap<Long, List<Line>> byToken(Stream<Line> lines) {
		return lines.collect(Collectors.groupingBy(Line::token, TreeMap::new, Collectors.toList()));
	}

	/** Rules that must hold. */
	enum Rule {

		LOST, ORDER, TOKEN, STATE, OVERLAP, ZOMBIE_WRITE

	}

	/**
	 * A promise that was broken.
	 *
	 * @param rule which
	 * @param what by what
	 */
	record Violation(Rule rule, String what) {

	}

	/** The state of a shard, as the handlers keep it. */
	record State(long sum, long count) {

	}

	/** From before a process was stopped until after it was continued. */
	record Freeze(String instance, long beginMicros, long endMicros) {

	}

}
