package io.github.shardkeeper.protocol;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The problems of a group that its leader tells all members, as a text that members of
 * different versions understand: a line for each problem, its parts separated by tabs,
 * for example {@code 1 ⇥ unattended ⇥ Nobody owns it: … ⇥ orders/0, orders/1}. Each
 * heartbeat is answered with it, so it is short: what does not fit is counted. Immutable.
 *
 * @param text the text, empty for no problem
 */
public record GroupProblems(String text) {

	/** None. */
	public static final GroupProblems NONE = new GroupProblems("");

	private static final int MOST_CHARACTERS = 4_000;

	private static final int MOST_CHARACTERS_OF_A_PART = 700;

	/** The serious ones first: they must not be among those that are only counted. */
	private static final Comparator<GroupProblem> ORDER = Comparator.comparing(GroupProblem::serious)
		.reversed()
		.thenComparing(GroupProblem::kind)
		.thenComparing(GroupProblem::sentence)
		.thenComparing(GroupProblem::concerned);

	/**
	 * Writes problems.
	 * @param problems the problems in any order
	 * @return the same text for the same problems
	 */
	public static GroupProblems of(List<GroupProblem> problems) {
		List<GroupProblem> ordered = problems.stream().sorted(ORDER).distinct().toList();
		StringBuilder text = new StringBuilder();
		for (int i = 0; i < ordered.size(); i++) {
			String line = line(ordered.get(i));
			if (text.length() + line.length() > MOST_CHARACTERS) {
				GroupProblem rest = new GroupProblem(ordered.get(i).serious(), "more",
						(ordered.size() - i) + " more problems; correct the others first", "");
				return new GroupProblems(text.append(line(rest)).toString());
			}
			text.append(line);
		}
		return new GroupProblems(text.toString());
	}

	private static String line(GroupProblem problem) {
		return (problem.serious() ? "1" : "0") + '\t' + part(problem.kind()) + '\t' + part(problem.sentence()) + '\t'
				+ part(problem.concerned()) + '\n';
	}

	private static String part(String part) {
		String line = part.replaceAll("\\s+", " ").strip();
		return (line.length() > MOST_CHARACTERS_OF_A_PART) ? line.substring(0, MOST_CHARACTERS_OF_A_PART) + "…" : line;
	}

	/**
	 * Reads the problems.
	 * @return the problems, the serious ones first; lines that cannot be read are left
	 * out
	 */
	public List<GroupProblem> problems() {
		List<GroupProblem> problems = new ArrayList<>();
		for (String line : this.text.split("\n")) {
			String[] parts = line.split("\t", -1);
			if (parts.length >= 4) {
				problems.add(new GroupProblem(parts[0].equals("1"), parts[1], parts[2], parts[3]));
			}
		}
		return problems;
	}

	/**
	 * The state of a group as every heartbeat's answer tells it. Immutable.
	 *
	 * @param epoch the leadership whose leader told the problems, 0 for none
	 * @param problems what that leader has found
	 */
	public record GroupStatus(long epoch, GroupProblems problems) {

		/** No leader has told anything yet. */
		public static final GroupStatus NONE = new GroupStatus(0, GroupProblems.NONE);

	}

	/**
	 * Something that is wrong with a group, or that people should know of it. The text
	 * stays the same as long as the problem does. Immutable.
	 *
	 * @param serious whether shards that should be consumed are not, or would not be
	 * after the next crash; otherwise somebody may want it so
	 * @param kind one word for what the problem is about, under which health shows it
	 * @param sentence what is wrong and what to do
	 * @param concerned the shards or members that the problem is about, empty for the
	 * whole group
	 */
	public record GroupProblem(boolean serious, String kind, String sentence, String concerned) {

	}

}
