package io.github.shardkeeper.benchmarks.assignment;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jmh.annotations.Param;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * All contenders plan the same group, and what they answer is a plan.
 */
class ContenderTests {

	@ParameterizedTest
	@MethodSource("all")
	void everyContenderPlansEveryShard(String contender, String event) {
		Scenario scenario = Scenario.of("10x1000", event, contender);
		Contender planner = Contender.of(contender, scenario);

		int[] owners = planner.owners(planner.plan());

		// Fails where a shard has no owner.
		int moves = scenario.moves(owners);
		if (contender.contains("sticky") || contender.equals(Contender.UNIFORM)) {
			int[] loads = new int[11];
			Arrays.stream(owners).forEach((owner) -> loads[owner]++);
			int least = scenario.members().stream().mapToInt((member) -> loads[member]).min().orElseThrow();
			int most = Arrays.stream(loads).max().orElseThrow();
			assertThat(most - least).as("unevenness").isLessThanOrEqualTo(1);
			assertThat(moves).as("moves").isEqualTo(scenario.fewestMoves());
		}
	}

	static Stream<Arguments> all() throws NoSuchFieldException {
		List<String> events = params("event");
		return Stream.concat(params("contender").stream(), Stream.of(AssignmentBenchmarks.OTHERS))
			.flatMap((contender) -> events.stream().map((event) -> Arguments.of(contender, event)));
	}

	private static List<String> params(String field) throws NoSuchFieldException {
		return List.of(AssignmentBenchmark.class.getField(field).getAnnotation(Param.class).value());
	}

}
