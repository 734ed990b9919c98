package io.github.shardkeeper.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Figures of contenders that take turns, in every second round in the reverse order, so
 * that changes of the machine over time affect all of them. Ratios are those of the
 * rounds: a disturbance of a round disturbs both contenders. Not thread-safe.
 *
 * @param <C> the contenders
 */
public final class Rounds<C extends Contender> {

	private final String part;

	private final Map<C, Map<String, Samples>> figures = new LinkedHashMap<>();

	private Rounds(String part) {
		this.part = part;
	}

	/**
	 * Measures all contenders.
	 * @param part the name of this part of the benchmark
	 * @param contenders the contenders, in the order of the tables
	 * @param warmUp the number of rounds before those that count
	 * @param number the number of rounds that count
	 * @param raw receives each figure as soon as it is known
	 * @param measurement returns the figures of a round by their names
	 */
	public static <C extends Contender> Rounds<C> run(String part, List<C> contenders, int warmUp, int number,
			RawFigures raw, Measurement<C> measurement) throws Exception {
		Rounds<C> rounds = new Rounds<>(part);
		contenders.forEach((contender) -> rounds.figures.put(contender, new LinkedHashMap<>()));
		alternate(contenders, 1 - warmUp, number, (contender, round) -> {
			Map<String, Double> measured = measurement.measure(contender, round);
			System.out.printf("  %s, round %d, %s: %s%n", part, round, contender.text(),
					measured.entrySet()
						.stream()
						.map((figure) -> figure.getKey() + " " + Table.number(figure.getValue()))
						.collect(Collectors.joining(", ")));
			if (round > 0) {
				measured.forEach((figure, value) -> {
					rounds.samples(contender, figure).add(value);
					raw.add(part, contender, round, figure, value);
				});
			}
		});
		return rounds;
	}

	/**
	 * Lets contenders take turns.
	 * @param first the number of the first round
	 * @param last the number of the last round
	 */
	public static <C> void alternate(List<C> contenders, int first, int last, Turn<C> turn) throws Exception {
		List<C> order = new ArrayList<>(contenders);
		for (int round = first; round <= last; round++) {
			for (C contender : order) {
				turn.take(contender, round);
			}
			Collections.reverse(order);
		}
	}

	private Samples samples(C contender, String figure) {
		return this.figures.get(contender).computeIfAbsent(figure, (unseen) -> new Samples());
	}

	/** Returns a figure of a contender, round by round; empty if it was not measured. */
	public Samples of(C contender, String figure) {
		return this.figures.getOrDefault(contender, Map.of()).getOrDefault(figure, new Samples());
	}

	/** Returns a table of all figures: median (lowest-highest round). */
	public List<String> table() {
		List<String> names = this.figures.values().stream().flatMap((by) -> by.keySet().stream()).distinct().toList();
		List<String> columns = new ArrayList<>(List.of(this.part + ": median (lowest-highest round)"));
		columns.addAll(names);
		Table table = new Table(columns);
		this.figures.keySet()
			.forEach((contender) -> table.row(contender.text(),
					names.stream().map((name) -> of(contender, name)).toList()));
		return table.lines();
	}

	/**
	 * Returns a table with the ratios of all contenders to some of them, without those
	 * that were not measured: median (lowest-highest round).
	 */
	public List<String> ratios(String figure, List<? extends C> bases) {
		List<? extends C> measured = bases.stream().filter((base) -> !of(base, figure).values().isEmpty()).toList();
		if (measured.isEmpty()) {
			return List.of();
		}
		List<String> columns = new ArrayList<>(List.of(this.part + ", " + figure + ": times as much as"));
		measured.forEach((base) -> columns.add(base.text()));
		Table table = new Table(columns);
		this.figures.keySet()
			.forEach((contender) -> table.row(contender.text(),
					measured.stream().map((base) -> of(contender, figure).dividedBy(of(base, figure))).toList()));
		return table.lines();
	}

	/** A measurement of one contender. */
	@FunctionalInterface
	public interface Measurement<C> {

		Map<String, Double> measure(C contender, int round) throws Exception;

	}

	/** The turn of one contender in a round. */
	@FunctionalInterface
	public interface Turn<C> {

		void take(C contender, int round) throws Exception;

	}

}
