package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.Table;
import io.github.shardkeeper.benchmarks.moves.group.Exactness.Kind;
import io.github.shardkeeper.benchmarks.moves.group.Window;

/**
 * Results of rolling restarts, as Markdown. Immutable.
 *
 * @param all the results of all protocols
 */
record RollingTable(List<GroupResults> all) {

	List<String> lines() {
		Table rolling = new Table("rolling restart", "moves per shard: mean / most",
				"ms unconsumed of a shard: p50 / p99 / max", "of that at its moves", "at other standstills",
				"longest at once: p50 / p99 / max", "handled by another before", "lost", "out of order",
				"after a later owner's", "s for all");
		Table restarts = new Table("restart in place", "moves per restarted instance",
				"ms unconsumed of its shards: p50 / p99 / max",
				"ms from SIGTERM until its successor has started: p50 / p99 / max");
		for (GroupResults results : this.all) {
			String name = results.protocol().text();
			Samples moves = samples(results, Event.ROLLING, Window.Shard::moves);
			rolling.row(name, String.format(Locale.ROOT, "%.2f / %.0f", moves.mean(), moves.highest()),
					quantiles(results, Event.ROLLING, Window.Shard::unconsumedMillis),
					quantiles(results, Event.ROLLING, Window.Shard::gapsMillis),
					quantiles(results, Event.ROLLING, Window.Shard::standstillsMillis),
					quantiles(results, Event.ROLLING, Window.Shard::longestMillis), results.count(Kind.TWICE),
					results.lost(), results.count(Kind.OUT_OF_ORDER), results.count(Kind.TWO_OWNERS),
					String.format(Locale.ROOT, "%.0f", results.seconds(Event.ROLLING).median()));
			if (results.has(Event.RESTART)) {
				double moved = samples(results, Event.RESTART, Window.Shard::moves).values()
					.stream()
					.mapToDouble(Double::doubleValue)
					.sum();
				restarts.row(name, moved / results.windows(Event.RESTART).size(),
						quantiles(results, Event.RESTART, Window.Shard::unconsumedMillis),
						Table.quantiles(results.restarts()));
			}
		}
		List<String> lines = new ArrayList<>(rolling.lines());
		if (this.all.stream().anyMatch((results) -> results.has(Event.RESTART))) {
			lines.addAll(restarts.lines());
		}
		return lines;
	}

	private static String quantiles(GroupResults results, Event event, ToDoubleFunction<Window.Shard> figure) {
		return Table.quantiles(samples(results, event, figure));
	}

	private static Samples samples(GroupResults results, Event event, ToDoubleFunction<Window.Shard> figure) {
		Samples samples = new Samples();
		results.windows(event)
			.forEach((window) -> window.shards().forEach((shard) -> samples.add(figure.applyAsDouble(shard))));
		return samples;
	}

}
