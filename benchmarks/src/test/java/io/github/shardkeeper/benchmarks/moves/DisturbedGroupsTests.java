package io.github.shardkeeper.benchmarks.moves;

import java.util.EnumSet;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;

import static io.github.shardkeeper.benchmarks.moves.ShortTurn.SHARDS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances crash, freeze and are replaced in both benchmarks, on a few shards.
 */
class DisturbedGroupsTests {

	private final ShortTurn turn = new ShortTurn();

	@Test
	void crashesFreezesAndPausesAreMeasured() throws Exception {
		Set<Event> events = EnumSet.of(Event.KILL, Event.FREEZE, Event.REDIS_PAUSE);
		HandoverScenario scenario = new HandoverScenario(events, 1, 1, 100, 500);
		GroupResults results = this.turn.run(GroupProtocol.of(GroupProtocol.PROFILES), "standard", scenario::run);

		assertThat(results.gaps(Event.KILL).values()).isNotEmpty().allMatch((gap) -> gap > 500);
		assertThat(results.gaps(Event.FREEZE).values()).isEmpty();
		assertThat(results.frozen().values()).hasSize(SHARDS / 2).allMatch((millis) -> millis > 450);
		assertThat(results.standstills(Event.FREEZE).values()).hasSize(SHARDS / 2);
		assertThat(results.standstills(Event.REDIS_PAUSE).values()).hasSize(SHARDS).allMatch((millis) -> millis > 900);
	}

	@Test
	void everyInstanceIsReplaced() throws Exception {
		RollingScenario scenario = new RollingScenario(2, false);
		GroupResults results = this.turn.run(GroupProtocol.withKeptShards(), "Shardkeeper, keep", scenario::run);

		assertThat(results.windows(Event.ROLLING)).singleElement()
			.satisfies((window) -> assertThat(window.shards()).allMatch((shard) -> shard.moves() == 0));
		assertThat(results.restarts().values()).hasSize(2).allMatch((millis) -> millis > 0);
		assertThat(this.turn.kept).containsExactly(1 + SHARDS + 2 * SHARDS / 2);
	}

}
