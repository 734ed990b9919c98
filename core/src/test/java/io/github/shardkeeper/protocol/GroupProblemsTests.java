package io.github.shardkeeper.protocol;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.protocol.GroupProblems.GroupProblem;

import static org.assertj.core.api.Assertions.assertThat;

class GroupProblemsTests {

	private static final GroupProblem SERIOUS = new GroupProblem(true, "unattended", "Nobody owns it", "orders/0");

	private static final GroupProblem DETAIL = new GroupProblem(false, "retired", "Nobody wants it", "'old': old/0");

	@Test
	void noProblemsAreAnEmptyText() {
		assertThat(GroupProblems.of(List.of())).isEqualTo(GroupProblems.NONE);
		assertThat(GroupProblems.NONE.problems()).isEmpty();
	}

	@Test
	void problemsAreReadAsWrittenSeriousOnesFirst() {
		assertThat(GroupProblems.of(List.of(DETAIL, SERIOUS)).problems()).containsExactly(SERIOUS, DETAIL);
	}

	@Test
	void orderOfProblemsDoesNotMatter() {
		assertThat(GroupProblems.of(List.of(DETAIL, SERIOUS))).isEqualTo(GroupProblems.of(List.of(SERIOUS, DETAIL)));
	}

	@Test
	void multiLineMessageBecomesOneLine() {
		GroupProblem problem = new GroupProblem(true, "planning", "java.lang.Error: one\n\ttwo", "");

		assertThat(GroupProblems.of(List.of(problem)).problems()).singleElement()
			.satisfies((read) -> assertThat(read.sentence()).isEqualTo("java.lang.Error: one two"));
	}

	@Test
	void textIsBoundedAndCountsOmittedProblems() {
		List<GroupProblem> many = IntStream.range(0, 1_000)
			.mapToObj((i) -> new GroupProblem(i == 500, "kind", i + "x".repeat(5_000), ""))
			.toList();

		GroupProblems written = GroupProblems.of(many);

		assertThat(written.text().length()).isLessThan(5_000);
		assertThat(written.problems().get(0).serious()).as("is not among those that are only counted").isTrue();
		assertThat(written.problems().get(written.problems().size() - 1).sentence())
			.isEqualTo((1_001 - written.problems().size()) + " more problems; correct the others first");
	}

	@Test
	void linesOfOtherVersionsAreReadAsFarAsKnownOrOmitted() {
		assertThat(new GroupProblems("what is this\n1\tkind\tsentence\tconcerned\tmore\n").problems())
			.containsExactly(new GroupProblem(true, "kind", "sentence", "concerned"));
	}

}
