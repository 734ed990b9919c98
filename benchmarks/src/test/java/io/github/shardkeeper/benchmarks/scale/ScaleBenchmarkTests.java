package io.github.shardkeeper.benchmarks.scale;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.RedisFigures;
import io.github.shardkeeper.benchmarks.RedisProcess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The group of light members is a group: it shares its shards out, and every change comes
 * to an end that members and Redis agree about.
 */
class ScaleBenchmarkTests {

	private static final long PATIENCE_SECONDS = 60;

	private RedisProcess redis;

	@BeforeEach
	void start() throws Exception {
		this.redis = RedisProcess.start();
	}

	@AfterEach
	void stop() {
		this.redis.close();
	}

	@Test
	void everyChangeComesToAnEnd() throws Exception {
		try (RedisFigures figures = new RedisFigures(this.redis);
				Group group = new Group(this.redis, "few", 2, 30, 30, 10)) {
			for (int i = 0; i < 5; i++) {
				group.join();
			}
			group.board().awaitEven(30, PATIENCE_SECONDS);
			SlowScripts slow = new SlowScripts(figures);
			for (Change.Kind kind : List.of(Change.Kind.JOIN, Change.Kind.LEAVE, Change.Kind.LEADER_LEAVES,
					Change.Kind.CRASH)) {
				Change change = new Change();
				change.happen(kind, group, figures);
				assertThat(change.millis().median()).isPositive();
				assertThat(change.moves().median()).isBetween(5.0, 10.0);
			}
			group.verify();
			slow.read("changes", group.times().takeCalls());
			assertThat(slow.lines()).anyMatch((line) -> line.startsWith("| changes | heartbeat |"));
			assertThat(group.size()).isEqualTo(3);
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

	@Test
	void growingTopicIsMeasured() throws Exception {
		List<String> raw = new ArrayList<>();

		List<String> lines = new GrowingTopic(this.redis, 3, 6, 30, 2, 2).measure(raw::add);

		assertThat(lines).anyMatch((line) -> line.startsWith("| 30 more shards | 2 |"));
		assertThat(lines).anyMatch((line) -> line.startsWith("| 30 more shards: longest, ms |"));
		assertThat(raw).hasSize(2);
	}

	@Test
	void largeGroupHasEveryKindOfChange() throws Exception {
		List<String> raw = new ArrayList<>();
		List<String> lines = new LargeGroup(this.redis, 4, 12, 1, 2).measure(raw::add, 1, 0);

		assertThat(raw).hasSize(10);
		for (Change.Kind kind : Change.Kind.values()) {
			int times = (kind == Change.Kind.JOIN) ? 5 : 1;
			assertThat(lines).anyMatch((line) -> line.startsWith("| " + kind.text() + " | " + times + " |"));
		}
		assertThat(lines)
			.anyMatch((line) -> line.startsWith("| one more joins: longest, ms |") && line.contains("kept"));
		assertThat(lines).anyMatch((line) -> line.startsWith("| Redis' memory per shard, bytes |"));
	}

}
