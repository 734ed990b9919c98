package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.moves.Exactness.Kind;

/**
 * What was seen of rolling restarts, as Markdown. Immutable.
 *
 * @param all what was seen, ours first
 */
record RollingTable(List<Findings> all) {

	List<String> lines() {
		List<String> lines = new ArrayList<>(List.of("",
				"| rolling restart | ms unconsumed, times ours | moves per shard: mean / most "
						+ "| ms unconsumed of a shard: p50 / p99 / max | of that at its moves | at other standstills "
						+ "| longest at once: p50 / p99 / max "
						+ "| handled by another before | lost | out of order | after a later owner's | s for all |",
				"|---|" + "---:|".repeat(11)));
		this.all.forEach((findings) -> lines.add(line(findings)));
		return lines;
	}

	private String line(Findings findings) {
		Samples moves = samples(findings, Window.Shard::moves);
		Samples gaps = samples(findings, Window.Shard::gapsMillis);
		Samples unconsumed = samples(findings, Window.Shard::unconsumedMillis);
		double ours = samples(this.all.get(0), Window.Shard::unconsumedMillis).median();
		return String.format(Locale.ROOT, "| %s | %.1f | %.2f / %.0f | %s | %s | %s | %s | %d | %d | %d | %d | %s |",
				findings.contender().name(), unconsumed.median() / ours, moves.mean(), moves.highest(),
				HandoverTable.figures(unconsumed), HandoverTable.figures(gaps),
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
		Samples samples = new Samples();
		findings.windows(Event.ROLLING)
			.forEach((window) -> window.shards().forEach((shard) -> samples.add(figure.applyAsDouble(shard))));
		return samples;
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
