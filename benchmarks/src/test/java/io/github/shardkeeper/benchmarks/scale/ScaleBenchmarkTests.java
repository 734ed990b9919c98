package io.github.shardkeeper.benchmarks.scale;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The group of light members is a group: it shares its shards out, and every change comes
 * to an end that members and Redis agree about.
 */
class ScaleBenchmarkTests {

	private static final long PATIENCE_SECONDS = 60;

	@Test
	void everyChangeComesToAnEnd() throws Exception {
		try (EmbeddedRedis server = EmbeddedRedis.start(); RedisFigures redis = new RedisFigures(server)) {
			Costs costs = new Costs(redis);
			try (Group group = new Group(server.port(), 2, 30, 10, costs)) {
				for (int i = 0; i < 5; i++) {
					group.join();
				}
				group.board().awaitEven(30, PATIENCE_SECONDS);
				for (Change.Kind kind : List.of(Change.Kind.JOIN, Change.Kind.LEAVE, Change.Kind.LEADER_LEAVES,
						Change.Kind.CRASH)) {
					Change change = new Change();
					assertThat(change.happen(kind, group, redis)).isPositive().isEqualTo(change.millis().median());
					assertThat(change.moves().median()).isBetween(5.0, 10.0);
				}
				group.verify();
				costs.end("changes");
				assertThat(costs.table().lines()).anyMatch((line) -> line.startsWith("| changes | "));
				assertThat(group.suspensions()).isZero();
			}
		}
	}

	@Test
	void acquisitionBeforeTheEndOfALeaseFailsTheRun() {
		Change.verifyLate(Change.Kind.CRASH, 0.5);
		assertThatIllegalStateException().isThrownBy(() -> Change.verifyLate(Change.Kind.CRASH, -2500))
			.withMessageContaining("one crashes")
			.withMessageContaining("2500 ms before the end");
		ShardHolders board = new ShardHolders(1, 2);
		board.shardTaken(0, 0);
		board.watch();
		assertThat(board.firstTakenNanos()).isZero();
		board.shardReleased(0, 0);
		long before = System.nanoTime();
		board.shardTaken(0, 1);
		assertThat(board.firstTakenNanos()).isGreaterThanOrEqualTo(before);
	}

}
