package io.github.shardkeeper.protocol;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The problems of a group that its leader publishes, as text that members of different
 * versions understand: a line for each problem, its parts separated by tabs, for example
 * {@code 1 ⇥ unattended ⇥ Nobody owns it: … ⇥ orders/0, orders/1}. Its length is limited,
 * because each reply to a heartbeat contains it: problems that do not fit are counted.
 * Immutable.
 *
 * @param text the text; empty without problems
 */
public record GroupProblems(String text) {

	public static final GroupProblems NONE = new GroupProblems("");

	private static final int MOST_CHARACTERS = 4_000;

	private static final int MOST_CHARACTERS_OF_A_PART = 700;

	/** Serious problems first: they must not be among those that are only counted. */
	private static final Comparator<GroupProblem> ORDER = Comparator.comparing(GroupProblem::serious)
		.reversed()
		.thenComparing(GroupProblem::kind)
		.thenComparing(GroupProblem::sentence)
		.thenComparing(GroupProblem::concerned);

	/** Returns the same text for the same problems in any order. */
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

	/** Returns the problems, serious ones first; without unreadable lines. */
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
	 * The problems in a reply to a heartbeat. Immutable.
	 *
	 * @param epoch the leadership whose leader published them; 0 for none
	 */
	public record GroupStatus(long epoch, GroupProblems problems) {

		public static final GroupStatus NONE = new GroupStatus(0, GroupProblems.NONE);

	}

	/**
	 * A problem of a group, or a detail that people should know. The text stays the same
	 * as long as the problem exists. Immutable.
	 *
	 * @param serious whether shards are not consumed that should be, or would not be
	 * after the next crash; otherwise the problem may be intended
	 * @param kind one word for the kind of problem, under which health reports it
	 * @param sentence the problem and its remedy
	 * @param concerned the affected shards or members; empty for the whole group
	 */
	public record GroupProblem(boolean serious, String kind, String sentence, String concerned) {

	}

}
