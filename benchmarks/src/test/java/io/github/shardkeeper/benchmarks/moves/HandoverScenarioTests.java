package io.github.shardkeeper.benchmarks.moves;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which events are measured.
 */
class HandoverScenarioTests {

	private static final GroupProtocol OURS = named("Shardkeeper");

	private static final GroupProtocol ON_KAFKA = named(GroupProtocol.SHARDKEEPER_ON_KAFKA);

	private static final GroupProtocol KAFKA = named("Kafka range");

	@Test
	void withoutTheOptionEventsDependOnSettingsAndProtocol() {
		assertThat(events(KAFKA, GroupProtocol.DEFAULT)).containsExactlyInAnyOrder(Event.QUIET, Event.JOIN, Event.KILL);
		assertThat(events(OURS, GroupProtocol.DEFAULT)).contains(Event.FREEZE);
		assertThat(events(ON_KAFKA, GroupProtocol.DEFAULT)).isEqualTo(events(OURS, GroupProtocol.DEFAULT));
		assertThat(events(KAFKA, GroupProtocol.TIGHTEST)).contains(Event.FREEZE);
		assertThat(events(OURS, GroupProtocol.USERS)).containsExactlyInAnyOrder(Event.QUIET, Event.JOIN);
		assertThat(events(OURS, GroupProtocol.PROFILES)).contains(Event.PROCESS_PAUSE, Event.REDIS_PAUSE);
	}

	@Test
	void requestedEventsAreMeasured() {
		assertThat(events(KAFKA, GroupProtocol.DEFAULT, "--events=freeze,Process-Pause"))
			.containsExactlyInAnyOrder(Event.FREEZE, Event.PROCESS_PAUSE);
	}

	@Test
	void shardkeeperOnKafkaIsMeasuredIfItIsAskedFor() {
		List<GroupProtocol> all = List.of(OURS, ON_KAFKA, KAFKA);
		assertThat(GroupProtocol.chosen(Options.parse(), all)).containsExactly(OURS, KAFKA);
		assertThat(GroupProtocol.chosen(Options.parse("--contenders=Kafka"), all)).containsExactly(ON_KAFKA, KAFKA);
	}

	@Test
	void shortCrashesAreRepeated() {
		assertThat(scenario(KAFKA, GroupProtocol.DEFAULT).kills()).isOne();
		assertThat(scenario(KAFKA, GroupProtocol.TIGHTEST).kills()).isEqualTo(3);
	}

	@Test
	void turnsShareOutWhatHappensMoreThanOnce() {
		HandoverScenario whole = new HandoverScenario(EnumSet.of(Event.QUIET, Event.JOIN, Event.FREEZE), 5, 3, 100, 0);

		assertThat(whole.part(0, 2)).isEqualTo(new HandoverScenario(whole.events(), 3, 2, 100, 0));
		assertThat(whole.part(1, 2)).isEqualTo(new HandoverScenario(EnumSet.of(Event.QUIET, Event.JOIN), 2, 1, 100, 0));
	}

	@Test
	void partOfARunKeepsTheResultOfTheWhole() {
		assertThat(HandoverBenchmark.rawFigures("handover-tightest", Options.parse("--rounds=2")))
			.hasToString("handover-tightest.csv");
		assertThat(HandoverBenchmark.rawFigures("handover-tightest", Options.parse("--events=join")))
			.hasToString("handover-tightest-part.csv");
		assertThat(HandoverBenchmark.rawFigures("rolling-tightest", Options.parse("--contenders=Kafka")))
			.hasToString("rolling-tightest-part.csv");
	}

	private static GroupProtocol named(String name) {
		return GroupProtocol.of(GroupProtocol.DEFAULT)
			.stream()
			.filter((protocol) -> protocol.text().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private static Set<Event> events(GroupProtocol protocol, String settings, String... arguments) {
		return scenario(protocol, settings, arguments).events();
	}

	private static HandoverScenario scenario(GroupProtocol protocol, String settings, String... arguments) {
		return HandoverBenchmark.scenario(protocol, settings, Options.parse(arguments));
	}

}
