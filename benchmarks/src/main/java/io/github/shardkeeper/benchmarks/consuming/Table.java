package io.github.shardkeeper.benchmarks.consuming;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * What was measured, as Markdown: first how each contender compares with those that are
 * not ours, round by round, then the records per second, and the processor time that this
 * process takes for each. Immutable.
 *
 * @param measured the figures by contender
 */
record Table(Map<? extends Contender<?>, Figures> measured) {

	void print() {
		lines().forEach(System.out::println);
	}

	List<String> lines() {
		List<? extends Contender<?>> peers = this.measured.keySet()
			.stream()
			.filter((contender) -> !(contender instanceof Shardkeeper))
			.toList();
		List<String> lines = new ArrayList<>();
		lines.add("");
		lines.add("| times as fast as: median (lowest-highest round) | "
				+ peers.stream().map(Contender::name).collect(Collectors.joining(" | ")) + " |");
		lines.add("|---|" + "---:|".repeat(peers.size()));
		this.measured
			.forEach(
					(contender,
							figures) -> lines.add("| " + contender.name() + " | " + peers.stream()
								.map((peer) -> ratio(figures.rates().dividedBy(this.measured.get(peer).rates())))
								.collect(Collectors.joining(" | ")) + " |"));
		lines.add("");
		lines.add("| contender | records/s (median) | lowest-highest | processor time per record, us |");
		lines.add("|---|---:|---:|---:|");
		this.measured
			.forEach((contender, figures) -> lines.add(line(contender, figures.rates(), figures.processorMicros())));
		lines.addAll(asked(peers));
		return lines;
	}

	/** By the slowest of our shapes: what its user sees. */
	private List<String> asked(List<? extends Contender<?>> peers) {
		GoalTable asked = new GoalTable("times as fast as: median of the slowest shape", "at least");
		for (Contender<?> peer : peers) {
			this.measured.entrySet()
				.stream()
				.filter((ours) -> ours.getKey() instanceof Shardkeeper && peer.isRivalOf(ours.getKey()))
				.min(Comparator.comparingDouble((ours) -> times(ours.getValue(), peer)))
				.ifPresent((slowest) -> asked.atLeast(peer.name() + " (" + slowest.getKey().name() + ")",
						times(slowest.getValue(), peer), peer.asked()));
		}
		return asked.lines();
	}

	private double times(Figures ours, Contender<?> peer) {
		return ours.rates().dividedBy(this.measured.get(peer).rates()).median();
	}

	private static String line(Contender<?> contender, Samples rates, Samples processorMicros) {
		return String.format(Locale.ROOT, "| %s | %,.0f | %,.0f-%,.0f | %.2f |", contender.name(), rates.median(),
				rates.lowest(), rates.highest(), processorMicros.median());
	}

	private static String ratio(Samples ratios) {
		return String.format(Locale.ROOT, "%.2f (%.2f-%.2f)", ratios.median(), ratios.lowest(), ratios.highest());
	}

}
