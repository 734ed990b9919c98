package io.github.shardkeeper.slice;

import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.slice.ShardkeeperTest;
import io.github.shardkeeper.test.slice.TestShards;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many cases in one context: each resets the group, starts an instance, and has some
 * records handled.
 */
@RunAlone
@ShardkeeperTest(value = VisitCounter.class,
		properties = { "shardkeeper.topics.visits.shards=4", "shardkeeper.topics.reports.shards=1" })
@Import(Pages.class)
class ShardkeeperTestSpeedTests {

	private static final int CASES = 2_000;

	@Autowired
	private TestShards shards;

	@Test
	void manyCasesRunInOneContext() {
		runCases();
		long begin = System.nanoTime();
		runCases();
		Duration taken = Duration.ofNanos(System.nanoTime() - begin);
		System.out.printf("%,d cases in %d ms: %,d per second%n", CASES, taken.toMillis(),
				CASES * 1_000L / taken.toMillis());

		assertThat(taken).isLessThan(Duration.ofSeconds(CASES / 100));
	}

	private void runCases() {
		for (int i = 0; i < CASES; i++) {
			this.shards.reset();
			String client = "client-" + i;
			ShardId shard = this.shards.send("visits", client, "/").shard();
			this.shards.send("visits", client, "/shop");
			this.shards.send("visits", client, "/");
			this.shards.step();

			Map<String, Object> state = this.shards.state(shard, Object.class);
			assertThat(state).containsEntry(client, 3).containsEntry("last/" + client, "/");
			assertThat(this.shards.payloads("reports", String.class)).hasSize(3);
		}
	}

}
