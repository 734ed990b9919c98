package io.github.shardkeeper.benchmarks.moves;

import java.util.List;
import java.util.OptionalDouble;

import io.github.shardkeeper.benchmarks.Asked;
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

	private static final double MEDIAN = 0.5;

	private static final double LONG = 0.99;

	/** What may come on top of the lease. */
	private static final double CRASH_MILLIS = 300;

	List<String> lines() {
		Asked asked = new Asked("ms seen", "ms at most");
		this.all.stream().filter((findings) -> findings.contender().isOurs()).forEach((ours) -> add(asked, ours));
		return asked.lines();
	}

	private void add(Asked asked, Findings ours) {
		for (Event event : List.of(Event.JOIN, Event.LEAVE, Event.STALLED_JOIN)) {
			addPlanned(asked, ours, event);
			addUnmoved(asked, ours, event, Event.QUIET);
			addUnmoved(asked, ours, event, Event.BYSTANDER);
		}
		Samples crashes = ours.gaps(Event.KILL);
		if (!crashes.values().isEmpty()) {
			asked.atMost(what(ours, Event.KILL, "longest, beside the lease + 300 ms"), crashes.highest(),
					ours.contender().leaseMillis() + CRASH_MILLIS);
			String part = (this.crashFactor == 1) ? "" : "1/" + this.crashFactor + " of ";
			shortestOfKafka(Event.KILL, MEDIAN).ifPresent(
					(shortest) -> asked.atMost(what(ours, Event.KILL, "p50, beside " + part + "Kafka's shortest p50"),
							crashes.median(), shortest / this.crashFactor));
		}
		addUnmoved(asked, ours, Event.KILL, Event.QUIET);
		if (ours.has(Event.FREEZE)) {
			asked.atMost(what(ours, Event.FREEZE, "shards that moved"), ours.gaps(Event.FREEZE).values().size(), 0);
		}
		addUnmoved(asked, ours, Event.FREEZE, Event.QUIET);
	}

	/** The figures themselves are asked of joins and leaves without anything before. */
	private void addPlanned(Asked asked, Findings ours, Event event) {
		Samples gaps = ours.gaps(event);
		if (gaps.values().isEmpty()) {
			return;
		}
		if (event != Event.STALLED_JOIN) {
			asked.atMost(what(ours, event, "p50"), gaps.median(), PLANNED_MEDIAN_MILLIS);
			asked.atMost(what(ours, event, "p99"), gaps.quantile(LONG), PLANNED_LONG_MILLIS);
		}
		shortestOfKafka(event, MEDIAN).ifPresent((shortest) -> asked
			.atMost(what(ours, event, "p50, beside Kafka's shortest p50"), gaps.median(), shortest));
		shortestOfKafka(event, LONG).ifPresent((shortest) -> asked
			.atMost(what(ours, event, "p99, beside Kafka's shortest p99"), gaps.quantile(LONG), shortest));
	}

	/** Starting a process alone makes the others slower, whether it joins or not. */
	private static void addUnmoved(Asked asked, Findings ours, Event event, Event like) {
		Samples unmoved = ours.standstills(event);
		Samples otherwise = ours.standstills(like);
		if (!unmoved.values().isEmpty() && !otherwise.values().isEmpty()) {
			asked.atMost(what(ours, event, "other shards' p99, beside '" + like.title() + "'"), unmoved.quantile(LONG),
					otherwise.quantile(LONG));
		}
	}

	private OptionalDouble shortestOfKafka(Event event, double part) {
		return this.all.stream()
			.filter((findings) -> !findings.contender().isOurs() && !findings.gaps(event).values().isEmpty())
			.mapToDouble((findings) -> findings.gaps(event).quantile(part))
			.min();
	}

	private static String what(Findings ours, Event event, String figure) {
		return ours.contender().name() + ", " + event.title() + ": " + figure;
	}

}
