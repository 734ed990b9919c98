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
 * What was seen of all contenders, as Markdown: first how many times as long as ours
 * their shards stand still, then the figures. Immutable.
 *
 * @param all what was seen
 */
record HandoverTable(List<Findings> all) {

	private static final String NOTHING = "–";

	List<String> lines() {
		List<String> lines = new ArrayList<>();
		table(lines, "moved shards: times as long as with Shardkeeper, p50 (p99)", moving(), this::ratio);
		table(lines, "moved shards: ms from the old owner's last record to the new one's first, p50 / p99 / max "
				+ "(shards; medians of the rounds)", moving(), HandoverTable::gaps);
		table(lines, "other shards: longest ms without a record, p50 / p99 / max", events(),
				(findings, event) -> figures(findings.standstills(event)));
		frozen(lines);
		table(lines, "records handled by another instance before", moving(),
				(findings, event) -> findings.has(event) ? String.valueOf(findings.count(Kind.TWICE, event)) : NOTHING);
		exactness(lines);
		return lines;
	}

	private List<Event> moving() {
		return events().stream()
			.filter((event) -> this.all.stream().anyMatch((findings) -> !findings.gaps(event).values().isEmpty()))
			.toList();
	}

	private List<Event> events() {
		return Arrays.stream(Event.values())
			.filter((event) -> this.all.stream().anyMatch((findings) -> findings.has(event)))
			.toList();
	}

	private void table(List<String> lines, String title, List<Event> events, Cell cell) {
		head(lines, title, events.stream().map(Event::title).toList());
		for (Findings findings : this.all) {
			row(lines, findings, events, (event) -> cell.text(findings, event));
		}
	}

	private static void head(List<String> lines, String title, List<String> columns) {
		lines.add("");
		lines.add("| " + title + " | " + String.join(" | ", columns) + " |");
		lines.add("|---|" + "---:|".repeat(columns.size()));
	}

	private static <T> void row(List<String> lines, Findings findings, List<T> columns, Function<T, String> cell) {
		lines.add("| " + findings.contender().name() + " | "
				+ columns.stream().map(cell).collect(Collectors.joining(" | ")) + " |");
	}

	private String ratio(Findings findings, Event event) {
		Samples gaps = findings.gaps(event);
		Samples ours = Findings.ours(this.all).map((found) -> found.gaps(event)).orElseGet(Samples::new);
		if (gaps.values().isEmpty() || ours.values().isEmpty()) {
			return NOTHING;
		}
		return String.format(Locale.ROOT, "%.1f (%.1f)", gaps.median() / ours.median(),
				gaps.quantile(0.99) / ours.quantile(0.99));
	}

	private static String gaps(Findings findings, Event event) {
		Samples gaps = findings.gaps(event);
		Samples rounds = findings.roundMedians(event);
		return gaps.values().isEmpty() ? NOTHING : figures(gaps) + String.format(Locale.ROOT, " (%d; %,.0f-%,.0f)",
				gaps.values().size(), rounds.lowest(), rounds.highest());
	}

	/** Median, 99 % and the highest. */
	static String figures(Samples samples) {
		if (samples.values().isEmpty()) {
			return NOTHING;
		}
		return String.format(Locale.ROOT, "%,.0f / %,.0f / %,.0f", samples.median(), samples.quantile(0.99),
				samples.highest());
	}

	/** What a process has that does not run, until it runs again or others have it. */
	private void frozen(List<String> lines) {
		if (this.all.stream().noneMatch((findings) -> findings.has(Event.FREEZE))) {
			return;
		}
		Samples ours = Findings.ours(this.all).map(Findings::frozen).orElseGet(Samples::new);
		head(lines, "shards of the frozen process", List.of("ms without a record, times as long as with Shardkeeper",
				"ms without a record, p50 / p99 / max", "how many", "shards that moved"));
		for (Findings findings : this.all) {
			Samples frozen = findings.frozen();
			row(lines, findings, List.of(
					frozen.values().isEmpty() || ours.values().isEmpty() ? NOTHING
							: String.format(Locale.ROOT, "%.2f", frozen.median() / ours.median()),
					figures(frozen), findings.has(Event.FREEZE) ? String.valueOf(frozen.values().size()) : NOTHING,
					findings.has(Event.FREEZE) ? String.valueOf(findings.gaps(Event.FREEZE).values().size()) : NOTHING),
					Function.identity());
		}
	}

	private void exactness(List<String> lines) {
		head(lines, "the whole run", List.of("lost", "out of order", "after a later owner's", "commits refused"));
		for (Findings findings : this.all) {
			row(lines, findings, List.of(findings.lost(), findings.count(Kind.OUT_OF_ORDER),
					findings.count(Kind.TWO_OWNERS), (long) findings.failedCommits()), String::valueOf);
		}
	}

	/** Every shard's figures in every event. */
	List<String> raw() {
		List<String> lines = new ArrayList<>(List.of("contender,event,round,shard,moves,gap_ms,longest_ms,frozen"));
		for (Findings findings : this.all) {
			for (Event event : events()) {
				List<Window> windows = findings.windows(event);
				for (int round = 0; round < windows.size(); round++) {
					raw(lines, findings.contender().name() + "\"," + event.option() + "," + round, windows.get(round));
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

		String text(Findings findings, Event event);

	}

}
