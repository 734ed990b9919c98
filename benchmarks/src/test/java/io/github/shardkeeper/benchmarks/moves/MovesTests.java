package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The parts of both benchmarks work, on a few shards.
 */
class MovesTests {

	private static final int SHARDS = 4;

	/** Result if a later turn fails. */
	private final List<Integer> kept = new ArrayList<>();

	@ParameterizedTest
	@ValueSource(strings = { "Shardkeeper", "Users' application", "Shardkeeper on Kafka",
			"Kafka new protocol, session 3 s" })
	void joinsAndLeavesAreMeasured(String name) throws Exception {
		Set<Event> events = EnumSet.of(Event.QUIET, Event.JOIN);
		HandoverScenario scenario = new HandoverScenario(events, 1, 0, 100, 0, 0);
		ContenderResults results = new Rotation(SHARDS, 1)
			.run(List.of(contender(name)), (turn, group, seen) -> scenario.run(group, seen),
					(seen) -> this.kept.add(new HandoverTable(seen).raw().size()))
			.get(0);

		results.verify();
		assertThat(results.gaps(Event.JOIN).values()).hasSizeBetween(1, SHARDS).allMatch((gap) -> gap > 0);
		assertThat(results.gaps(Event.LEAVE).values()).isNotEmpty();
		assertThat(results.standstills(Event.QUIET).values()).hasSize(SHARDS);
		assertThat(new HandoverTable(List.of(results)).lines()).anyMatch((line) -> line.startsWith("| " + name));
		assertThat(this.kept).containsExactly(1 + 3 * SHARDS);
	}

	@Test
	void crashesAndFreezesAreMeasured() throws Exception {
		Set<Event> events = EnumSet.of(Event.BYSTANDER, Event.WARM_JOIN, Event.KILL, Event.FREEZE);
		HandoverScenario scenario = new HandoverScenario(events, 1, 1, 100, 500, 0);
		ContenderResults results = new Rotation(SHARDS, 1).run(List.of(contender("Shardkeeper, lease 1 s")),
				(turn, group, seen) -> scenario.run(group, seen), (seen) -> {
				})
			.get(0);

		results.verify();
		assertThat(results.gaps(Event.WARM_JOIN).values()).hasSizeBetween(1, SHARDS).allMatch((gap) -> gap > 0);
		assertThat(results.gaps(Event.KILL).values()).isNotEmpty().allMatch((gap) -> gap > 500);
		assertThat(results.gaps(Event.FREEZE).values()).isEmpty();
		assertThat(results.frozen().values()).hasSize(SHARDS / 2).allMatch((millis) -> millis > 450);
		assertThat(results.standstills(Event.FREEZE).values()).hasSize(SHARDS / 2);
		assertThat(results.standstills(Event.BYSTANDER).values()).hasSize(SHARDS);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void everyInstanceIsReplaced(boolean newFirst) throws Exception {
		RollingScenario scenario = new RollingScenario(2, newFirst);
		ContenderResults results = new Rotation(SHARDS, 1)
			.run(List.of(contender("Shardkeeper")), (turn, group, seen) -> scenario.run(group, seen),
					(seen) -> this.kept.add(new RollingTable(seen).raw().size()))
			.get(0);

		results.verify();
		assertThat(results.windows(Event.ROLLING)).singleElement()
			.satisfies((window) -> assertThat(window.shards()).allMatch((shard) -> shard.moves() > 0));
		assertThat(this.kept).containsExactly(1 + SHARDS);
	}

	@Test
	void everySecondTurnHasTheReverseOrder() {
		assertThat(Rotation.order(0, List.of("a", "b", "c"))).containsExactly("a", "b", "c");
		assertThat(Rotation.order(1, List.of("a", "b", "c"))).containsExactly("c", "b", "a");
	}

	@Test
	void lapsShareOutWhatHappensMoreThanOnce() {
		HandoverScenario whole = new HandoverScenario(EnumSet.of(Event.QUIET, Event.JOIN, Event.FREEZE), 5, 3, 100, 0,
				0);

		assertThat(whole.part(0, 2)).isEqualTo(new HandoverScenario(whole.events(), 3, 2, 100, 0, 0));
		assertThat(whole.part(1, 2))
			.isEqualTo(new HandoverScenario(EnumSet.of(Event.QUIET, Event.JOIN), 2, 1, 100, 0, 0));
	}

	private static Contender contender(String name) {
		return Stream.concat(Contender.of("tightest").stream(), Contender.of(Contender.USERS).stream())
			.filter((contender) -> contender.name().equals(name))
			.findFirst()
			.orElseThrow();
	}

}
