package io.github.shardkeeper.benchmarks.locks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

import io.github.shardkeeper.benchmarks.ChildProcess;
import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Machine;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.locks.LockProcess.Turns;

/**
 * Threads of two processes that want one lock, one more of them than wait for it.
 * Confined to its thread.
 */
final class Contended {

	/** Time until all threads have asked once. */
	private static final long BEGIN_NANOS = 200_000_000;

	private static final double LONG = 0.99;

	private final String part;

	private final Turns turns;

	private final SortedMap<Integer, Map<Contender, List<Contention>>> measured = new TreeMap<>();

	private int locks;

	/**
	 * Creates one without figures.
	 * @param part its name in the raw figures
	 * @param turns what each thread does
	 */
	Contended(String part, Turns turns) {
		this.part = part;
		this.turns = turns;
	}

	/**
	 * Measures it.
	 * @param waiters the number of threads that wait
	 * @param millis the duration of a round
	 * @param raw receives the figures of each round
	 */
	void measure(List<Contender> contenders, Processes processes, int waiters, int millis, int warmUp, int rounds,
			Consumer<String> raw) throws Exception {
		Processes.alternate(contenders, warmUp, rounds, (contender, round) -> {
			Contention figures = once(processes.first(contender), processes.second(contender), waiters, millis);
			if (round > 0) {
				add(contender, waiters, figures);
				raw.accept(String.format(Locale.ROOT, "%s,\"%s\",%d,%d,%.1f,%.1f,%.0f,%.4f,%.1f,,,%.2f", this.part,
						contender.text(), waiters, round, figures.handOverMicros().median(),
						figures.handOverMicros().quantile(LONG), figures.perSecond(), figures.againPart(),
						figures.longestWaitMillis(), Machine.load()));
			}
		});
	}

	private Contention once(ChildProcess first, ChildProcess second, int waiters, int millis) throws Exception {
		Path file = Trace.create();
		try (Trace trace = Trace.open(file)) {
			String lock = this.part + ++this.locks;
			long begin = System.nanoTime() + BEGIN_NANOS;
			long end = begin + millis * 1_000_000L;
			int inFirst = (waiters + 2) / 2;
			first.request(LockProcess.contendedRequest(lock, 0, inFirst, this.turns, end, file));
			second.request(LockProcess.contendedRequest(lock, inFirst, waiters + 1 - inFirst, this.turns, end, file));
			double acquired = first.await().get("acquired") + second.await().get("acquired");
			return Contention.of(trace.read(), (long) acquired, begin, end);
		}
		finally {
			Files.delete(file);
		}
	}

	void add(Contender contender, int waiters, Contention figures) {
		this.measured.computeIfAbsent(waiters, (unseen) -> new TreeMap<>())
			.computeIfAbsent(contender, (unseen) -> new ArrayList<>())
			.add(figures);
	}

	/** Returns a table of hand-overs, and one of waits. */
	List<String> lines() {
		List<String> lines = table("us from unlock() to the return of lock() in another thread, p50 (p99)",
				(rounds) -> String.format(Locale.ROOT, "%,.0f (%,.0f)", handOver(rounds),
						median(rounds, (round) -> round.handOverMicros().quantile(LONG))));
		lines.addAll(longestWaits());
		return lines;
	}

	/** Returns a table of rates, and one of waits. */
	List<String> ratesAndWaits() {
		List<String> lines = table("hand-overs to another thread per second (all acquisitions)",
				(rounds) -> String.format(Locale.ROOT, "%,.0f (%,.0f)",
						median(rounds, (round) -> round.perSecond() * (1 - round.againPart())),
						median(rounds, Contention::perSecond)));
		lines.addAll(longestWaits());
		return lines;
	}

	private List<String> longestWaits() {
		return table("longest wait for the lock, ms: median of the rounds (longest)",
				(rounds) -> String.format(Locale.ROOT, "%,.0f (%,.0f)", median(rounds, Contention::longestWaitMillis),
						rounds.stream().mapToDouble(Contention::longestWaitMillis).max().orElseThrow()));
	}

	private List<String> table(String title, Function<List<Contention>, String> cell) {
		List<String> lines = new ArrayList<>(List.of("",
				"| " + title + " | "
						+ this.measured.keySet()
							.stream()
							.map((waiters) -> waiters + " waiters |")
							.collect(Collectors.joining(" ")),
				"|---|" + "---:|".repeat(this.measured.size())));
		for (Contender contender : Contender.values()) {
			if (this.measured.values().stream().allMatch((by) -> by.containsKey(contender))) {
				lines.add("| " + contender.text() + " | "
						+ this.measured.values()
							.stream()
							.map((by) -> cell.apply(by.get(contender)) + " |")
							.collect(Collectors.joining(" ")));
			}
		}
		return lines;
	}

	void addGoals(GoalTable goals) {
		this.measured.forEach((waiters, by) -> Fastest.of(new EnumMap<>(by), Contended::handOver)
			.ifPresent((fastest) -> goals.atMost(
					"hand-over, %d waiters: us, p50, beside %s".formatted(waiters, fastest.peer().text()),
					fastest.ours(), fastest.figure())));
	}

	private static double handOver(List<Contention> rounds) {
		return median(rounds, (round) -> round.handOverMicros().median());
	}

	private static double median(List<Contention> rounds, ToDoubleFunction<Contention> figure) {
		Samples samples = new Samples();
		rounds.forEach((round) -> samples.add(figure.applyAsDouble(round)));
		return samples.median();
	}

}
