package io.github.shardkeeper.benchmarks.moves;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The parts of both benchmarks work, on a few shards.
 */
class MovesTests {

	private static final int SHARDS = 4;

	@ParameterizedTest
	@ValueSource(strings = { "Shardkeeper", "Kafka new protocol, session 3 s" })
	void joinsAndLeavesAreMeasured(String name) throws Exception {
		Set<Event> events = EnumSet.of(Event.QUIET, Event.JOIN);
		Findings findings = HandoverBenchmark.measure(contender(name), SHARDS,
				new HandoverCourse(events, 1, 0, 100, 0));

		findings.verify();
		assertThat(findings.gaps(Event.JOIN).values()).hasSizeBetween(1, SHARDS).allMatch((gap) -> gap > 0);
		assertThat(findings.gaps(Event.LEAVE).values()).isNotEmpty();
		assertThat(findings.standstills(Event.QUIET).values()).hasSize(SHARDS);
		assertThat(new HandoverTable(List.of(findings)).lines()).anyMatch((line) -> line.startsWith("| " + name));
		assertThat(new HandoverTable(List.of(findings)).raw()).hasSize(1 + 3 * SHARDS);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void everyInstanceIsReplaced(boolean newFirst) throws Exception {
		Findings findings = RollingBenchmark.measure(contender("Shardkeeper"), SHARDS,
				new RollingCourse(2, 1, newFirst));

		findings.verify();
		assertThat(findings.windows(Event.ROLLING)).singleElement()
			.satisfies((window) -> assertThat(window.shards()).allMatch((shard) -> shard.moves() > 0));
		assertThat(new RollingTable(List.of(findings)).raw()).hasSize(1 + SHARDS);
	}

	private static Contender contender(String name) {
		return Contender.of("tightest")
			.stream()
			.filter((contender) -> contender.name().equals(name))
			.findFirst()
			.orElseThrow();
	}

}
