package io.github.shardkeeper.benchmarks.moves;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Samples;

/**
 * Goals for Shardkeeper and whether they were reached, as Markdown, without those that
 * were not measured. Immutable.
 *
 * @param all the results of all contenders
 * @param crashFactor the factor by which a crash is to be shorter than Kafka's
 */
record Goals(List<ContenderResults> all, int crashFactor) {

	private static final double PLANNED_MEDIAN_MILLIS = 25;

	private static final double PLANNED_LONG_MILLIS = 60;

	private static final double MEDIAN = 0.5;

	private static final double LONG = 0.99;

	/** Allowance on top of Redis Streams: a fetch under way waits for the next record. */
	private static final double FETCH_MILLIS = Feeder.INTERVAL_MILLIS;

	/** Allowance on top of the lease. */
	private static final double CRASH_MILLIS = 300;

	List<String> lines() {
		GoalTable goals = new GoalTable("ms seen", "ms at most");
		this.all.stream()
			.filter((results) -> results.contender().isShardkeeper())
			.forEach((shardkeeper) -> add(goals, shardkeeper));
		return goals.lines();
	}

	private void add(GoalTable goals, ContenderResults shardkeeper) {
		for (Event event : List.of(Event.JOIN, Event.LEAVE, Event.STALLED_JOIN)) {
			addPlanned(goals, shardkeeper, event);
			addUnmoved(goals, shardkeeper, event, Event.QUIET);
			addUnmoved(goals, shardkeeper, event, Event.BYSTANDER);
		}
		Samples crashes = shardkeeper.gaps(Event.KILL);
		if (!crashes.values().isEmpty()) {
			goals.atMost(what(shardkeeper, Event.KILL, "longest, beside the lease + 300 ms"), crashes.highest(),
					shardkeeper.contender().leaseMillis() + CRASH_MILLIS);
			String part = (this.crashFactor == 1) ? "" : "1/" + this.crashFactor + " of ";
			shortestOfKafka(Event.KILL, MEDIAN).ifPresent((shortest) -> goals.atMost(
					what(shardkeeper, Event.KILL, "p50, beside " + part + "Kafka's shortest p50"), crashes.median(),
					shortest / this.crashFactor));
		}
		addUnmoved(goals, shardkeeper, Event.KILL, Event.QUIET);
		if (shardkeeper.has(Event.FREEZE)) {
			goals.atMost(what(shardkeeper, Event.FREEZE, "shards that moved"),
					shardkeeper.gaps(Event.FREEZE).values().size(), 0);
		}
		addUnmoved(goals, shardkeeper, Event.FREEZE, Event.QUIET);
	}

	/** The absolute goals apply to joins and leaves without an earlier event. */
	private void addPlanned(GoalTable goals, ContenderResults shardkeeper, Event event) {
		Samples gaps = shardkeeper.gaps(event);
		if (gaps.values().isEmpty()) {
			return;
		}
		if (shardkeeper.contender().isOnKafka()) {
			onRedisStreams(event).ifPresent((redis) -> goals.atMost(
					what(shardkeeper, event, "p50, beside Redis Streams + %.0f ms".formatted(FETCH_MILLIS)),
					gaps.median(), redis.median() + FETCH_MILLIS));
		}
		else if (event != Event.STALLED_JOIN) {
			goals.atMost(what(shardkeeper, event, "p50"), gaps.median(), PLANNED_MEDIAN_MILLIS);
			goals.atMost(what(shardkeeper, event, "p99"), gaps.quantile(LONG), PLANNED_LONG_MILLIS);
		}
		shortestOfKafka(event, MEDIAN).ifPresent((shortest) -> goals
			.atMost(what(shardkeeper, event, "p50, beside Kafka's shortest p50"), gaps.median(), shortest));
		shortestOfKafka(event, LONG).ifPresent((shortest) -> goals
			.atMost(what(shardkeeper, event, "p99, beside Kafka's shortest p99"), gaps.quantile(LONG), shortest));
	}

	/** Starting a process alone makes the others slower, whether it joins or not. */
	private static void addUnmoved(GoalTable goals, ContenderResults shardkeeper, Event event, Event like) {
		Samples unmoved = shardkeeper.standstills(event);
		Samples otherwise = shardkeeper.standstills(like);
		if (!unmoved.values().isEmpty() && !otherwise.values().isEmpty()) {
			goals.atMost(what(shardkeeper, event, "other shards' p99, beside '" + like.title() + "'"),
					unmoved.quantile(LONG), otherwise.quantile(LONG));
		}
	}

	private Optional<Samples> onRedisStreams(Event event) {
		return this.all.stream()
			.filter((results) -> results.contender().isShardkeeper() && !results.contender().isOnKafka())
			.map((results) -> results.gaps(event))
			.filter((gaps) -> !gaps.values().isEmpty())
			.findFirst();
	}

	private OptionalDouble shortestOfKafka(Event event, double part) {
		return this.all.stream()
			.filter((results) -> !results.contender().isShardkeeper() && !results.gaps(event).values().isEmpty())
			.mapToDouble((results) -> results.gaps(event).quantile(part))
			.min();
	}

	private static String what(ContenderResults shardkeeper, Event event, String figure) {
		return shardkeeper.contender().name() + ", " + event.title() + ": " + figure;
	}

}
