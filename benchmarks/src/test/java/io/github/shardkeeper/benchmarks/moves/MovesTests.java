package io.github.shardkeeper.benchmarks.moves;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.benchmarks.moves.group.Group;
import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The parts of both benchmarks work, on a few shards.
 */
class MovesTests {

	private static final int SHARDS = 4;

	/** Result if a later turn fails. */
	private final List<Integer> kept = new ArrayList<>();

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			users    | Users' application
			default  | Shardkeeper on Kafka
			tightest | Kafka new protocol, session 3 s
			""")
	void joinsAndLeavesAreMeasured(String settings, String name) throws Exception {
		HandoverScenario scenario = new HandoverScenario(EnumSet.of(Event.QUIET, Event.JOIN), 1, 0, 100, 0);
		GroupResults results = run(GroupProtocol.of(settings), name, scenario::run);

		assertThat(results.gaps(Event.JOIN).values()).hasSizeBetween(1, SHARDS).allMatch((gap) -> gap > 0);
		assertThat(results.gaps(Event.LEAVE).values()).isNotEmpty();
		assertThat(results.standstills(Event.QUIET).values()).hasSize(SHARDS);
		assertThat(new HandoverTable(List.of(results)).lines()).anyMatch((line) -> line.startsWith("| " + name));
		assertThat(this.kept).containsExactly(1 + 3 * SHARDS);
	}

	@Test
	void crashesFreezesAndPausesAreMeasured() throws Exception {
		Set<Event> events = EnumSet.of(Event.KILL, Event.FREEZE, Event.REDIS_PAUSE);
		HandoverScenario scenario = new HandoverScenario(events, 1, 1, 100, 500);
		GroupResults results = run(GroupProtocol.of(GroupProtocol.PROFILES), "standard", scenario::run);

		assertThat(results.gaps(Event.KILL).values()).isNotEmpty().allMatch((gap) -> gap > 500);
		assertThat(results.gaps(Event.FREEZE).values()).isEmpty();
		assertThat(results.frozen().values()).hasSize(SHARDS / 2).allMatch((millis) -> millis > 450);
		assertThat(results.standstills(Event.FREEZE).values()).hasSize(SHARDS / 2);
		assertThat(results.standstills(Event.REDIS_PAUSE).values()).hasSize(SHARDS).allMatch((millis) -> millis > 900);
	}

	@Test
	void everyInstanceIsReplaced() throws Exception {
		RollingScenario scenario = new RollingScenario(2, false);
		GroupResults results = run(GroupProtocol.withKeptShards(), "Shardkeeper, keep", scenario::run);

		assertThat(results.windows(Event.ROLLING)).singleElement()
			.satisfies((window) -> assertThat(window.shards()).allMatch((shard) -> shard.moves() == 0));
		assertThat(results.restarts().values()).hasSize(2).allMatch((millis) -> millis > 0);
		assertThat(this.kept).containsExactly(1 + SHARDS + 2 * SHARDS / 2);
	}

	private GroupResults run(List<GroupProtocol> all, String name, Events events) throws Exception {
		GroupProtocol protocol = all.stream().filter((each) -> each.text().equals(name)).findFirst().orElseThrow();
		GroupResults results = Turns
			.run(List.of(protocol), SHARDS, 1, (turn, group, seen) -> events.happen(group, seen),
					(seen) -> this.kept.add(GroupResults.raw(seen).size()))
			.get(0);
		results.verify();
		return results;
	}

	/** What happens to a group. */
	private interface Events {

		void happen(Group group, GroupResults results) throws Exception;

	}

}
