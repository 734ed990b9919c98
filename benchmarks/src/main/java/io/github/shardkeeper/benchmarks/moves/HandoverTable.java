package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.moves.Exactness.Kind;

/**
 * Results of all contenders, as Markdown: first the pauses of their shards as multiples
 * of Shardkeeper's, then the figures. Immutable.
 *
 * @param all the results of all contenders
 */
record HandoverTable(List<ContenderResults> all) {

	private static final String NOTHING = "–";

	List<String> lines() {
		List<String> lines = new ArrayList<>();
		table(lines, "moved shards: times as long as with Shardkeeper, p50 (p99)", moving(), this::ratio);
		table(lines, "moved shards: ms from the old owner's last record to the new one's first, p50 / p99 / max "
				+ "(shards; medians of the rounds)", moving(), HandoverTable::gaps);
		table(lines, "other shards: longest ms without a record, p50 / p99 / max", events(),
				(results, event) -> figures(results.standstills(event)));
		frozen(lines);
		table(lines, "records handled by another instance before", moving(),
				(results, event) -> results.has(event) ? String.valueOf(results.count(Kind.TWICE, event)) : NOTHING);
		exactness(lines);
		return lines;
	}

	private List<Event> moving() {
		return events().stream()
			.filter((event) -> this.all.stream().anyMatch((results) -> !results.gaps(event).values().isEmpty()))
			.toList();
	}

	private List<Event> events() {
		return Arrays.stream(Event.values())
			.filter((event) -> this.all.stream().anyMatch((results) -> results.has(event)))
			.toList();
	}

	private void table(List<String> lines, String title, List<Event> events, Cell cell) {
		head(lines, title, events.stream().map(Event::title).toList());
		for (ContenderResults results : this.all) {
			row(lines, results, events, (event) -> cell.text(results, event));
		}
	}

	private static void head(List<String> lines, String title, List<String> columns) {
		lines.add("");
		lines.add("| " + title + " | " + String.join(" | ", columns) + " |");
		lines.add("|---|" + "---:|".repeat(columns.size()));
	}

	private static <T> void row(List<String> lines, ContenderResults results, List<T> columns,
			Function<T, String> cell) {
		lines.add("| " + results.contender().name() + " | "
				+ columns.stream().map(cell).collect(Collectors.joining(" | ")) + " |");
	}

	private String ratio(ContenderResults results, Event event) {
		Samples gaps = results.gaps(event);
		Samples shardkeeper = ContenderResults.ofShardkeeper(this.all)
			.map((found) -> found.gaps(event))
			.orElseGet(Samples::new);
		if (gaps.values().isEmpty() || shardkeeper.values().isEmpty()) {
			return NOTHING;
		}
		return String.format(Locale.ROOT, "%.1f (%.1f)", gaps.median() / shardkeeper.median(),
				gaps.quantile(0.99) / shardkeeper.quantile(0.99));
	}

	private static String gaps(ContenderResults results, Event event) {
		Samples gaps = results.gaps(event);
		Samples rounds = results.roundMedians(event);
		return gaps.values().isEmpty() ? NOTHING : figures(gaps) + String.format(Locale.ROOT, " (%d; %,.0f-%,.0f)",
				gaps.values().size(), rounds.lowest(), rounds.highest());
	}

	/** Returns median, 99 % quantile and maximum. */
	static String figures(Samples samples) {
		if (samples.values().isEmpty()) {
			return NOTHING;
		}
		return String.format(Locale.ROOT, "%,.0f / %,.0f / %,.0f", samples.median(), samples.quantile(0.99),
				samples.highest());
	}

	/** Adds the shards of a frozen process, until it runs again or others have them. */
	private void frozen(List<String> lines) {
		if (this.all.stream().noneMatch((results) -> results.has(Event.FREEZE))) {
			return;
		}
		Samples shardkeeper = ContenderResults.ofShardkeeper(this.all)
			.map(ContenderResults::frozen)
			.orElseGet(Samples::new);
		head(lines, "shards of the frozen process", List.of("ms without a record, times as long as with Shardkeeper",
				"ms without a record, p50 / p99 / max", "how many", "shards that moved"));
		for (ContenderResults results : this.all) {
			Samples frozen = results.frozen();
			row(lines, results, List.of(
					frozen.values().isEmpty() || shardkeeper.values().isEmpty() ? NOTHING
							: String.format(Locale.ROOT, "%.2f", frozen.median() / shardkeeper.median()),
					figures(frozen), results.has(Event.FREEZE) ? String.valueOf(frozen.values().size()) : NOTHING,
					results.has(Event.FREEZE) ? String.valueOf(results.gaps(Event.FREEZE).values().size()) : NOTHING),
					Function.identity());
		}
	}

	private void exactness(List<String> lines) {
		head(lines, "the whole run", List.of("lost", "out of order", "after a later owner's", "commits refused"));
		for (ContenderResults results : this.all) {
			row(lines, results, List.of(results.lost(), results.count(Kind.OUT_OF_ORDER),
					results.count(Kind.TWO_OWNERS), (long) results.failedCommits()), String::valueOf);
		}
	}

	/** Returns the figures of every shard in every event. */
	List<String> raw() {
		List<String> lines = new ArrayList<>(List.of("contender,event,round,shard,moves,gap_ms,longest_ms,frozen"));
		for (ContenderResults results : this.all) {
			for (Event event : events()) {
				List<Window> windows = results.windows(event);
				for (int round = 0; round < windows.size(); round++) {
					raw(lines, results.contender().name() + "\"," + event.option() + "," + round, windows.get(round));
				}
			}
		}
		return lines;
	}

	private static void raw(List<String> lines, String prefix, Window window) {
		for (int shard = 0; shard < window.shards().size(); shard++) {
			Window.Shard seen = window.shards().get(shard);
			lines.add(String.format(Locale.ROOT, "\"%s,%d,%d,%.3f,%.3f,%b", prefix, shard, seen.moves(),
					seen.gapMillis(), seen.longestMillis(), seen.frozen()));
		}
	}

	private interface Cell {

		String text(ContenderResults results, Event event);

	}

}
