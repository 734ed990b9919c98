package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

import io.github.shardkeeper.benchmarks.Samples;

/**
 * What is asked of Shardkeeper, and whether it was reached, as Markdown. What was not
 * measured is left out. Immutable.
 *
 * @param all what was seen of all contenders
 * @param crashFactor how many times shorter than Kafka's a crash is to be
 */
record Goals(List<Findings> all, int crashFactor) {

	private static final double PLANNED_MEDIAN_MILLIS = 25;

	private static final double PLANNED_LONG_MILLIS = 60;

	/** What may come on top of the lease. */
	private static final double CRASH_MILLIS = 300;

	List<String> lines() {
		List<String> lines = new ArrayList<>(
				List.of("", "| asked of Shardkeeper | ms seen | ms at most | |", "|---|---:|---:|---|"));
		this.all.stream().filter((findings) -> findings.contender().isOurs()).forEach((ours) -> add(lines, ours));
		return lines;
	}

	private void add(List<String> lines, Findings ours) {
		for (Event event : List.of(Event.JOIN, Event.LEAVE)) {
			Samples gaps = ours.gaps(event);
			if (!gaps.values().isEmpty()) {
				line(lines, ours, event, "p50", gaps.median(), PLANNED_MEDIAN_MILLIS);
				line(lines, ours, event, "p99", gaps.quantile(0.99), PLANNED_LONG_MILLIS);
				shortestOfKafka(event).ifPresent((shortest) -> line(lines, ours, event,
						"p50, beside Kafka's shortest p50", gaps.median(), shortest));
			}
			addUnmoved(lines, ours, event, Event.QUIET);
			addUnmoved(lines, ours, event, Event.BYSTANDER);
		}
		Samples crashes = ours.gaps(Event.KILL);
		if (!crashes.values().isEmpty()) {
			line(lines, ours, Event.KILL, "longest, beside the lease + 300 ms", crashes.highest(),
					ours.contender().leaseMillis() + CRASH_MILLIS);
			shortestOfKafka(Event.KILL).ifPresent((shortest) -> line(lines, ours, Event.KILL, "p50, beside "
					+ ((this.crashFactor == 1) ? "" : "1/" + this.crashFactor + " of ") + "Kafka's shortest p50",
					crashes.median(), shortest / this.crashFactor));
		}
		if (ours.has(Event.FREEZE)) {
			line(lines, ours, Event.FREEZE, "shards that moved", ours.gaps(Event.FREEZE).values().size(), 0);
		}
	}

	/** Starting a process alone makes the others slower, whether it joins or not. */
	private static void addUnmoved(List<String> lines, Findings ours, Event event, Event like) {
		Samples unmoved = ours.standstills(event);
		Samples otherwise = ours.standstills(like);
		if (!unmoved.values().isEmpty() && !otherwise.values().isEmpty()) {
			line(lines, ours, event, "other shards' p99, beside '" + like.title() + "'", unmoved.quantile(0.99),
					otherwise.quantile(0.99));
		}
	}

	private OptionalDouble shortestOfKafka(Event event) {
		return this.all.stream()
			.filter((findings) -> !findings.contender().isOurs() && !findings.gaps(event).values().isEmpty())
			.mapToDouble((findings) -> findings.gaps(event).median())
			.min();
	}

	private static void line(List<String> lines, Findings ours, Event event, String what, double seen, double limit) {
		lines.add(String.format(Locale.ROOT, "| %s, %s: %s | %s | %s | %s |", ours.contender().name(), event.title(),
				what, figure(seen), figure(limit), (seen <= limit) ? "kept" : "**missed**"));
	}

	/** Where it is close, so that what was missed by little does not look kept. */
	private static String figure(double figure) {
		return String.format(Locale.ROOT, (figure < 100 && figure != Math.rint(figure)) ? "%.1f" : "%,.0f", figure);
	}

}
