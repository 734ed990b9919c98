package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

import io.github.shardkeeper.benchmarks.Asked;
import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.moves.Exactness.Kind;

/**
 * What was seen of rolling restarts, as Markdown. Immutable.
 *
 * @param all what was seen
 */
record RollingTable(List<Findings> all) {

	private static final int MOST_MOVES = 2;

	private static final double MEAN_MOVES = 1.3;

	List<String> lines() {
		List<String> lines = new ArrayList<>(List
			.of("", "| rolling restart | ms unconsumed, times ours | moves per shard: mean / most "
					+ "| ms unconsumed of a shard: p50 / p99 / max (medians of the rounds) | of that at its moves | at other standstills "
					+ "| longest at once: p50 / p99 / max "
					+ "| handled by another before | lost | out of order | after a later owner's | s for all |",
					"|---|" + "---:|".repeat(11)));
		this.all.forEach((findings) -> lines.add(line(findings)));
		lines.addAll(goals());
		return lines;
	}

	private String line(Findings findings) {
		Samples moves = samples(findings, Window.Shard::moves);
		Samples gaps = samples(findings, Window.Shard::gapsMillis);
		Samples unconsumed = samples(findings, Window.Shard::unconsumedMillis);
		Samples rounds = new Samples();
		findings.windows(Event.ROLLING)
			.forEach((window) -> rounds.add(samples(List.of(window), Window.Shard::unconsumedMillis).median()));
		String times = Findings.ours(this.all)
			.map((ours) -> String.format(Locale.ROOT, "%.1f",
					unconsumed.median() / samples(ours, Window.Shard::unconsumedMillis).median()))
			.orElse("–");
		return String.format(Locale.ROOT,
				"| %s | %s | %.2f / %.0f | %s (%,.0f-%,.0f) | %s | %s | %s | %d | %d | %d | %d | %s |",
				findings.contender().name(), times, moves.mean(), moves.highest(), HandoverTable.figures(unconsumed),
				rounds.lowest(), rounds.highest(), HandoverTable.figures(gaps),
				HandoverTable.figures(samples(findings, Window.Shard::standstillsMillis)),
				HandoverTable.figures(samples(findings, Window.Shard::longestMillis)), findings.count(Kind.TWICE),
				findings.lost(), findings.count(Kind.OUT_OF_ORDER), findings.count(Kind.TWO_OWNERS), seconds(findings));
	}

	private static String seconds(Findings findings) {
		Samples seconds = new Samples();
		findings.windows(Event.ROLLING).forEach((window) -> seconds.add((window.toNanos() - window.fromNanos()) / 1e9));
		return String.format(Locale.ROOT, "%.0f", seconds.median());
	}

	private static Samples samples(Findings findings, ToDoubleFunction<Window.Shard> figure) {
		return samples(findings.windows(Event.ROLLING), figure);
	}

	private static Samples samples(List<Window> windows, ToDoubleFunction<Window.Shard> figure) {
		Samples samples = new Samples();
		windows.forEach((window) -> window.shards().forEach((shard) -> samples.add(figure.applyAsDouble(shard))));
		return samples;
	}

	/**
	 * At most two moves of a shard, fewer than 1.3 on average, and shorter than Kafka's.
	 */
	private List<String> goals() {
		Asked asked = new Asked("seen", "at most");
		OptionalDouble shortest = this.all.stream()
			.filter((findings) -> !findings.contender().isOurs())
			.mapToDouble((findings) -> samples(findings, Window.Shard::unconsumedMillis).median())
			.min();
		this.all.stream().filter((findings) -> findings.contender().isOurs()).forEach((ours) -> {
			String name = ours.contender().name();
			Samples moves = samples(ours, Window.Shard::moves);
			asked.atMost(name + ": most moves of a shard", moves.highest(), MOST_MOVES);
			asked.atMost(name + ": moves per shard", moves.mean(), MEAN_MOVES);
			shortest.ifPresent((kafka) -> asked.atMost(name + ": ms unconsumed, beside Kafka's shortest p50",
					samples(ours, Window.Shard::unconsumedMillis).median(), kafka));
		});
		return asked.lines();
	}

	/** Every shard's figures in every restart. */
	List<String> raw() {
		List<String> lines = new ArrayList<>(List.of("contender,round,shard,moves,gaps_ms,standstills_ms,longest_ms"));
		for (Findings findings : this.all) {
			List<Window> windows = findings.windows(Event.ROLLING);
			for (int round = 0; round < windows.size(); round++) {
				List<Window.Shard> shards = windows.get(round).shards();
				for (int shard = 0; shard < shards.size(); shard++) {
					Window.Shard seen = shards.get(shard);
					lines.add(String.format(Locale.ROOT, "\"%s\",%d,%d,%d,%.3f,%.3f,%.3f", findings.contender().name(),
							round, shard, seen.moves(), seen.gapsMillis(), seen.standstillsMillis(),
							seen.longestMillis()));
				}
			}
		}
		return lines;
	}

}
