package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.moves.Exactness.Kind;

/**
 * Results of rolling restarts, as Markdown. Immutable.
 *
 * @param all the results of all contenders
 */
record RollingTable(List<ContenderResults> all) {

	private static final int MOST_MOVES = 2;

	private static final double MEAN_MOVES = 1.3;

	private static final double RESTART_FACTOR = 1.1;

	List<String> lines() {
		List<String> lines = new ArrayList<>(List
			.of("", "| rolling restart | ms unconsumed, times shardkeeper | moves per shard: mean / most "
					+ "| ms unconsumed of a shard: p50 / p99 / max (medians of the rounds) | of that at its moves | at other standstills "
					+ "| longest at once: p50 / p99 / max "
					+ "| handled by another before | lost | out of order | after a later owner's | s for all |",
					"|---|" + "---:|".repeat(11)));
		this.all.forEach((results) -> lines.add(line(results)));
		lines.addAll(restarts());
		lines.addAll(goals());
		return lines;
	}

	private List<String> restarts() {
		List<ContenderResults> restarted = this.all.stream().filter((results) -> results.has(Event.RESTART)).toList();
		if (restarted.isEmpty()) {
			return List.of();
		}
		List<String> lines = new ArrayList<>(List.of("",
				"| restart in place | moves per restarted instance: mean / most "
						+ "| ms unconsumed of its shards: p50 / p99 / max "
						+ "| ms from SIGTERM until its successor has started: p50 / p99 / max |",
				"|---|" + "---:|".repeat(3)));
		restarted.forEach((results) -> lines.add(String.format(Locale.ROOT, "| %s | %.2f / %.0f | %s | %s |",
				results.contender().name(), results.movesByRestart().mean(), results.movesByRestart().highest(),
				HandoverTable.figures(restartGaps(results)), HandoverTable.figures(results.restarts()))));
		return lines;
	}

	private static Samples restartGaps(ContenderResults results) {
		return samples(results.windows(Event.RESTART), Window.Shard::unconsumedMillis);
	}

	private String line(ContenderResults results) {
		Samples moves = samples(results, Window.Shard::moves);
		Samples gaps = samples(results, Window.Shard::gapsMillis);
		Samples unconsumed = samples(results, Window.Shard::unconsumedMillis);
		Samples rounds = new Samples();
		results.windows(Event.ROLLING)
			.forEach((window) -> rounds.add(samples(List.of(window), Window.Shard::unconsumedMillis).median()));
		String times = ContenderResults.ofShardkeeper(this.all)
			.map((shardkeeper) -> String.format(Locale.ROOT, "%.1f",
					unconsumed.median() / samples(shardkeeper, Window.Shard::unconsumedMillis).median()))
			.orElse("–");
		return String.format(Locale.ROOT,
				"| %s | %s | %.2f / %.0f | %s (%,.0f-%,.0f) | %s | %s | %s | %d | %d | %d | %d | %s |",
				results.contender().name(), times, moves.mean(), moves.highest(), HandoverTable.figures(unconsumed),
				rounds.lowest(), rounds.highest(), HandoverTable.figures(gaps),
				HandoverTable.figures(samples(results, Window.Shard::standstillsMillis)),
				HandoverTable.figures(samples(results, Window.Shard::longestMillis)), results.count(Kind.TWICE),
				results.lost(), results.count(Kind.OUT_OF_ORDER), results.count(Kind.TWO_OWNERS), seconds(results));
	}

	private static String seconds(ContenderResults results) {
		Samples seconds = new Samples();
		results.windows(Event.ROLLING).forEach((window) -> seconds.add((window.toNanos() - window.fromNanos()) / 1e9));
		return String.format(Locale.ROOT, "%.0f", seconds.median());
	}

	private static Samples samples(ContenderResults results, ToDoubleFunction<Window.Shard> figure) {
		return samples(results.windows(Event.ROLLING), figure);
	}

	private static Samples samples(List<Window> windows, ToDoubleFunction<Window.Shard> figure) {
		Samples samples = new Samples();
		windows.forEach((window) -> window.shards().forEach((shard) -> samples.add(figure.applyAsDouble(shard))));
		return samples;
	}

	/**
	 * At most two moves of a shard, fewer than 1.3 on average, and shorter than Kafka's.
	 * Where shards are kept for an instance, no move at all and, however long a process
	 * needs to start, no longer a gap than the restart itself.
	 */
	private List<String> goals() {
		GoalTable goals = new GoalTable("seen", "at most");
		OptionalDouble shortest = this.all.stream()
			.filter((results) -> !results.contender().isShardkeeper())
			.mapToDouble((results) -> samples(results, Window.Shard::unconsumedMillis).median())
			.min();
		this.all.stream().filter((results) -> results.contender().isShardkeeper()).forEach((shardkeeper) -> {
			String name = shardkeeper.contender().name();
			Samples moves = samples(shardkeeper, Window.Shard::moves);
			goals.atMost(name + ": most moves of a shard", moves.highest(), MOST_MOVES);
			goals.atMost(name + ": moves per shard", moves.mean(), MEAN_MOVES);
			if (!shardkeeper.contender().keepsShards()) {
				shortest.ifPresent((kafka) -> goals.atMost(name + ": ms unconsumed, beside Kafka's shortest p50",
						samples(shardkeeper, Window.Shard::unconsumedMillis).median(), kafka));
			}
			if (shardkeeper.has(Event.RESTART)) {
				goals.atMost(name + ": moves per restarted instance", shardkeeper.movesByRestart().highest(), 0);
				goals.atMost(name + ": ms unconsumed p50, beside %.1f of the restart".formatted(RESTART_FACTOR),
						restartGaps(shardkeeper).median(), shardkeeper.restarts().median() * RESTART_FACTOR);
			}
		});
		return goals.lines();
	}

	/** Returns the figures of every shard in every restart. */
	List<String> raw() {
		List<String> lines = new ArrayList<>(List.of("contender,round,shard,moves,gaps_ms,standstills_ms,longest_ms"));
		for (ContenderResults results : this.all) {
			List<Window> windows = results.windows(Event.ROLLING);
			for (int round = 0; round < windows.size(); round++) {
				List<Window.Shard> shards = windows.get(round).shards();
				for (int shard = 0; shard < shards.size(); shard++) {
					Window.Shard seen = shards.get(shard);
					lines.add(String.format(Locale.ROOT, "\"%s\",%d,%d,%d,%.3f,%.3f,%.3f", results.contender().name(),
							round, shard, seen.moves(), seen.gapsMillis(), seen.standstillsMillis(),
							seen.longestMillis()));
				}
			}
		}
		return lines;
	}

}
