package io.github.shardkeeper.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Goals for Shardkeeper and whether they were reached, as a Markdown table. Not
 * thread-safe.
 */
public final class GoalTable {

	private final String seen;

	private final String limit;

	private final List<String> lines = new ArrayList<>();

	/**
	 * Begins a table.
	 * @param seen the header of the column of measured figures
	 * @param limit the header of the column of limits
	 */
	public GoalTable(String seen, String limit) {
		this.seen = seen;
		this.limit = limit;
	}

	/**
	 * Adds a figure with an upper limit.
	 * @param what the name of the figure
	 * @param figure the measured figure
	 * @param most the upper limit
	 */
	public void atMost(String what, double figure, double most) {
		add(what, figure, most, figure <= most);
	}

	/**
	 * Adds a figure with a lower limit.
	 * @param what the name of the figure
	 * @param figure the measured figure
	 * @param least the lower limit
	 */
	public void atLeast(String what, double figure, double least) {
		add(what, figure, least, figure >= least);
	}

	private void add(String what, double figure, double asked, boolean reached) {
		// Not a number, if nothing was measured: then the goal counts as missed.
		this.lines.add("| " + what + " | " + text(figure) + " | " + text(asked) + " | "
				+ (reached ? "kept" : "**missed**") + " |");
	}

	/**
	 * Rounds less for small figures, so that a goal missed by little does not look kept.
	 */
	private static String text(double figure) {
		if (figure == Math.rint(figure) || Math.abs(figure) >= 100) {
			return String.format(Locale.ROOT, "%,.0f", figure);
		}
		return String.format(Locale.ROOT, (Math.abs(figure) < 10) ? "%.2f" : "%.1f", figure);
	}

	/**
	 * Returns the table, with an empty line before it.
	 * @return the lines
	 */
	public List<String> lines() {
		List<String> table = new ArrayList<>(List.of("",
				"| goal for Shardkeeper | " + this.seen + " | " + this.limit + " | |", "|---|---:|---:|---|"));
		table.addAll(this.lines);
		return table;
	}

}
