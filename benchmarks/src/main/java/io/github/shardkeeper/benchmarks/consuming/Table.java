package io.github.shardkeeper.benchmarks.consuming;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.shardkeeper.benchmarks.Samples;

/**
 * What was measured, as Markdown: first how each contender compares with those that are
 * not ours, round by round, then the records per second. Immutable.
 *
 * @param measured records per second by contender
 */
record Table(Map<Contender, Samples> measured) {

	void print() {
		lines().forEach(System.out::println);
	}

	List<String> lines() {
		List<Contender> peers = this.measured.keySet()
			.stream()
			.filter((contender) -> !(contender instanceof Shardkeeper))
			.toList();
		List<String> lines = new ArrayList<>();
		lines.add("");
		lines.add("| times as fast as: median (lowest-highest round) | "
				+ peers.stream().map(Contender::name).collect(Collectors.joining(" | ")) + " |");
		lines.add("|---|" + "---:|".repeat(peers.size()));
		this.measured.forEach((contender,
				samples) -> lines.add("| " + contender.name() + " | "
						+ peers.stream()
							.map((peer) -> ratio(samples.dividedBy(this.measured.get(peer))))
							.collect(Collectors.joining(" | "))
						+ " |"));
		lines.add("");
		lines.add("| contender | records/s (median) | lowest-highest |");
		lines.add("|---|---:|---:|");
		this.measured
			.forEach((contender, samples) -> lines.add(String.format(Locale.ROOT, "| %s | %,.0f | %,.0f-%,.0f |",
					contender.name(), samples.median(), samples.lowest(), samples.highest())));
		return lines;
	}

	private static String ratio(Samples ratios) {
		return String.format(Locale.ROOT, "%.2f (%.2f-%.2f)", ratios.median(), ratios.lowest(), ratios.highest());
	}

}
