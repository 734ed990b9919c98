package io.github.shardkeeper.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What is asked of Shardkeeper, and whether it was reached, as a Markdown table. Not
 * thread-safe.
 */
public final class Asked {

	private final String seen;

	private final String limit;

	private final List<String> lines = new ArrayList<>();

	/**
	 * Begins a table.
	 * @param seen the head of the column with what was seen
	 * @param limit the head of the column with what was asked for
	 */
	public Asked(String seen, String limit) {
		this.seen = seen;
		this.limit = limit;
	}

	/**
	 * Adds a figure that is not to exceed another one.
	 * @param what it is
	 * @param figure what was seen
	 * @param most what was asked for
	 */
	public void atMost(String what, double figure, double most) {
		add(what, figure, most, figure <= most);
	}

	/**
	 * Adds a figure that is to reach another one.
	 * @param what it is
	 * @param figure what was seen
	 * @param least what was asked for
	 */
	public void atLeast(String what, double figure, double least) {
		add(what, figure, least, figure >= least);
	}

	private void add(String what, double figure, double asked, boolean reached) {
		// What was not measured is not reached either: comparing says so.
		this.lines.add("| " + what + " | " + text(figure) + " | " + text(asked) + " | "
				+ (reached ? "kept" : "**missed**") + " |");
	}

	/** Where it is close, so that what was missed by little does not look kept. */
	private static String text(double figure) {
		if (figure == Math.rint(figure) || Math.abs(figure) >= 100) {
			return String.format(Locale.ROOT, "%,.0f", figure);
		}
		return String.format(Locale.ROOT, (Math.abs(figure) < 10) ? "%.2f" : "%.1f", figure);
	}

	/**
	 * The table, with an empty line before it.
	 * @return its lines
	 */
	public List<String> lines() {
		List<String> table = new ArrayList<>(List.of("",
				"| asked of Shardkeeper | " + this.seen + " | " + this.limit + " | |", "|---|---:|---:|---|"));
		table.addAll(this.lines);
		return table;
	}

}
