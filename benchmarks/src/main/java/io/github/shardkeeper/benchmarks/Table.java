package io.github.shardkeeper.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A table in Markdown. Not thread-safe.
 */
public final class Table {

	private static final String NOTHING = "–";

	private final List<String> lines = new ArrayList<>();

	/** Begins a table, with an empty line before it. */
	public Table(List<String> columns) {
		this.lines.add("");
		this.lines.add("| " + String.join(" | ", columns) + " |");
		this.lines.add("|---|" + "---:|".repeat(columns.size() - 1));
	}

	/** Begins a table, with an empty line before it. */
	public Table(String... columns) {
		this(List.of(columns));
	}

	/**
	 * Adds a row.
	 * @param cells texts, numbers, and {@link Samples}, which are shown with their spread
	 */
	public Table row(Object... cells) {
		return row(Stream.of(cells));
	}

	/** Adds a row that begins with a name. */
	public Table row(String name, List<?> cells) {
		return row(Stream.concat(Stream.of(name), cells.stream()));
	}

	private Table row(Stream<?> cells) {
		this.lines.add(cells.map(Table::text).collect(Collectors.joining(" | ", "| ", " |")));
		return this;
	}

	public List<String> lines() {
		return this.lines;
	}

	private static String text(Object cell) {
		if (cell instanceof Samples samples) {
			return samples.values().isEmpty() ? NOTHING
					: (samples.values().size() == 1) ? number(samples.median()) : number(samples.median()) + " ("
							+ number(samples.lowest()) + "-" + number(samples.highest()) + ")";
		}
		return (cell instanceof Number number) ? number(number.doubleValue()) : cell.toString();
	}

	/** Formats a number; the smaller it is, the more digits it has. */
	public static String number(double number) {
		if (Double.isNaN(number)) {
			return NOTHING;
		}
		if (number == Math.rint(number) || Math.abs(number) >= 100) {
			return String.format(Locale.ROOT, "%,.0f", number);
		}
		return String.format(Locale.ROOT, (Math.abs(number) < 10) ? "%.2f" : "%.1f", number);
	}

	/** Formats median, 99th percentile and maximum. */
	public static String quantiles(Samples samples) {
		return samples.values().isEmpty() ? NOTHING : String.format(Locale.ROOT, "%,.0f / %,.0f / %,.0f",
				samples.median(), samples.quantile(0.99), samples.highest());
	}

}
