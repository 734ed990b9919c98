package io.github.shardkeeper.benchmarks.moves;

import java.util.EnumSet;
import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.benchmarks.moves.group.GroupProtocol;

import static io.github.shardkeeper.benchmarks.moves.ShortTurn.SHARDS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances join and leave in the benchmark of handovers, on a few shards.
 */
class MovesTests {

	private final ShortTurn turn = new ShortTurn();

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			users    | Users' application
			default  | Shardkeeper on Kafka
			tightest | Kafka new protocol, session 3 s
			""")
	void joinsAndLeavesAreMeasured(String settings, String name) throws Exception {
		HandoverScenario scenario = new HandoverScenario(EnumSet.of(Event.QUIET, Event.JOIN), 1, 0, 100, 0);
		GroupResults results = this.turn.run(GroupProtocol.of(settings), name, scenario::run);

		assertThat(results.gaps(Event.JOIN).values()).hasSizeBetween(1, SHARDS).allMatch((gap) -> gap > 0);
		assertThat(results.gaps(Event.LEAVE).values()).isNotEmpty();
		assertThat(results.standstills(Event.QUIET).values()).hasSize(SHARDS);
		assertThat(new HandoverTable(List.of(results)).lines()).anyMatch((line) -> line.startsWith("| " + name));
		assertThat(this.turn.kept).containsExactly(1 + 3 * SHARDS);
	}

}
