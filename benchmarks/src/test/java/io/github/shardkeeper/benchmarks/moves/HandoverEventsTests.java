package io.github.shardkeeper.benchmarks.moves;

import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.Options;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which events are measured.
 */
class HandoverEventsTests {

	private static final Contender OURS = named("Shardkeeper");

	private static final Contender ON_KAFKA = named(Contender.SHARDKEEPER_ON_KAFKA);

	private static final Contender KAFKA = named("Kafka range");

	@Test
	void withoutTheOptionItDependsOnSettingsAndContender() {
		assertThat(events(KAFKA, true)).containsExactlyInAnyOrder(Event.QUIET, Event.JOIN, Event.KILL,
				Event.STALLED_JOIN);
		assertThat(events(OURS, true)).contains(Event.BYSTANDER, Event.FREEZE, Event.STALLED_JOIN);
		assertThat(events(ON_KAFKA, true)).isEqualTo(events(OURS, true));
		assertThat(events(named("Kafka cooperative-sticky"), true)).doesNotContain(Event.STALLED_JOIN);
		assertThat(events(KAFKA, false)).contains(Event.FREEZE).doesNotContain(Event.STALLED_JOIN);
	}

	@Test
	void requestedEventsAreMeasured() {
		assertThat(events(KAFKA, true, "--events=freeze,Stalled-Join")).containsExactlyInAnyOrder(Event.FREEZE,
				Event.STALLED_JOIN);
	}

	@Test
	void shardkeeperOnKafkaIsMeasuredIfItIsAskedFor() {
		List<Contender> all = List.of(OURS, ON_KAFKA, KAFKA);
		assertThat(Contender.chosen(Options.parse(), all)).containsExactly(OURS, KAFKA);
		assertThat(Contender.chosen(Options.parse("--contenders=Kafka"), all)).containsExactly(ON_KAFKA, KAFKA);
	}

	@Test
	void leaveNeedsAJoin() {
		assertThat(events(OURS, true, "--events=leave")).containsExactlyInAnyOrder(Event.JOIN, Event.LEAVE);
	}

	@Test
	void onlyOursCanBeWarmedUp() {
		assertThat(events(OURS, true, "--events=warm-join")).containsExactly(Event.WARM_JOIN);
		assertThat(events(KAFKA, true, "--events=warm-join,quiet")).containsExactly(Event.QUIET);
	}

	@Test
	void usersApplicationJoinsColdAndWarm() {
		Contender users = Contender.of(Contender.USERS).get(0);
		assertThat(HandoverBenchmark.usersScenario(users, Options.parse()).events()).contains(Event.BYSTANDER,
				Event.JOIN, Event.WARM_JOIN);
		assertThat(HandoverBenchmark.usersScenario(users, Options.parse("--events=kill")).events())
			.containsExactly(Event.KILL);
	}

	@Test
	void shortCrashesAreRepeated() {
		assertThat(HandoverBenchmark.scenario(KAFKA, true, Options.parse()).kills()).isOne();
		assertThat(HandoverBenchmark.scenario(KAFKA, false, Options.parse()).kills()).isEqualTo(3);
	}

	@Test
	void partOfARunKeepsTheResultOfTheWhole() {
		assertThat(HandoverBenchmark.rawFigures("handover-6s", Options.parse("--rounds=2")))
			.hasToString("handover-6s.csv");
		assertThat(HandoverBenchmark.rawFigures("handover-6s", Options.parse("--events=join")))
			.hasToString("handover-6s-part.csv");
		assertThat(HandoverBenchmark.rawFigures("rolling-6s", Options.parse("--contenders=Kafka")))
			.hasToString("rolling-6s-part.csv");
	}

	private static Contender named(String name) {
		return Contender.of(Contender.DEFAULT)
			.stream()
			.filter((contender) -> contender.name().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private static Set<Event> events(Contender contender, boolean defaults, String... arguments) {
		return HandoverBenchmark.scenario(contender, defaults, Options.parse(arguments)).events();
	}

}
