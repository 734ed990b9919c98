package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import io.github.shardkeeper.benchmarks.Samples;
import io.github.shardkeeper.benchmarks.Table;
import io.github.shardkeeper.benchmarks.moves.group.Exactness.Kind;

/**
 * Results of all protocols, as Markdown: first the pauses of their shards as multiples of
 * Shardkeeper's, then the figures. Immutable.
 *
 * @param all the results of all protocols
 */
record HandoverTable(List<GroupResults> all) {

	private static final String NOTHING = "–";

	List<String> lines() {
		List<String> lines = new ArrayList<>();
		lines.addAll(table("moved shards: times as long as with Shardkeeper, p50 (p99)", moving(), this::ratio));
		lines.addAll(table("moved shards: ms from the old owner's last record to the new one's first, p50 / p99 / max "
				+ "(shards; medians of the rounds)", moving(), HandoverTable::gaps));
		lines.addAll(table("other shards: longest ms without a record, p50 / p99 / max", events(),
				(results, event) -> Table.quantiles(results.standstills(event))));
		lines.addAll(frozen());
		lines.addAll(table("records handled by another instance before", moving(),
				(results, event) -> results.has(event) ? String.valueOf(results.count(Kind.TWICE, event)) : NOTHING));
		Table run = new Table("the whole run", "lost", "out of order", "after a later owner's", "commits rejected",
				"leases ended");
		this.all
			.forEach((results) -> run.row(results.protocol().text(), results.lost(), results.count(Kind.OUT_OF_ORDER),
					results.count(Kind.TWO_OWNERS), results.failedCommits(), results.endedLeases()));
		lines.addAll(run.lines());
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

	private List<String> table(String title, List<Event> events, Cell cell) {
		List<String> columns = new ArrayList<>(List.of(title));
		events.forEach((event) -> columns.add(event.title()));
		Table table = new Table(columns);
		this.all.forEach((results) -> table.row(results.protocol().text(),
				events.stream().map((event) -> cell.text(results, event)).toList()));
		return table.lines();
	}

	private String ratio(GroupResults results, Event event) {
		Samples gaps = results.gaps(event);
		Samples first = this.all.get(0).gaps(event);
		if (gaps.values().isEmpty() || first.values().isEmpty() || !this.all.get(0).protocol().isShardkeeper()) {
			return NOTHING;
		}
		return String.format(Locale.ROOT, "%.1f (%.1f)", gaps.median() / first.median(),
				gaps.quantile(0.99) / first.quantile(0.99));
	}

	private static String gaps(GroupResults results, Event event) {
		Samples gaps = results.gaps(event);
		Samples rounds = results.roundMedians(event);
		return gaps.values().isEmpty() ? NOTHING : String.format(Locale.ROOT, "%s (%d; %,.0f-%,.0f)",
				Table.quantiles(gaps), gaps.values().size(), rounds.lowest(), rounds.highest());
	}

	/**
	 * Returns the shards of a frozen process, until it runs again or others have them.
	 */
	private List<String> frozen() {
		Table table = new Table("shards of the frozen process", "ms without a record, p50 / p99 / max",
				"shards that moved");
		List<GroupResults> measured = this.all.stream().filter((results) -> results.has(Event.FREEZE)).toList();
		measured.forEach((results) -> table.row(results.protocol().text(), Table.quantiles(results.frozen()),
				results.gaps(Event.FREEZE).values().size()));
		return measured.isEmpty() ? List.of() : table.lines();
	}

	private interface Cell {

		String text(GroupResults results, Event event);

	}

}
