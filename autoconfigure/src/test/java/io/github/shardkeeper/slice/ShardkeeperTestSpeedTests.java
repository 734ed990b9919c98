package io.github.shardkeeper.slice;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.function.IntConsumer;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.slice.ShardkeeperTest;
import io.github.shardkeeper.test.slice.TestShards;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many cases in one context: what each allocates is limited, because it depends neither
 * on the machine nor on what else that does. The time of the processor is only printed:
 * it falls for thousands of cases, until the JVM has compiled what they run.
 * {@code tests.slice-rounds} sets how many rounds there are.
 */
@Tag("proof")
@ShardkeeperTest(value = VisitCounter.class,
		properties = { "shardkeeper.topics.visits.shards=4", "shardkeeper.topics.reports.shards=1" })
@Import(Pages.class)
class ShardkeeperTestSpeedTests {

	private static final int CASES = 200;

	private static final int ROUNDS = Integer.getInteger("tests.slice-rounds", 3);

	@Autowired
	private TestShards shards;

	@Test
	void caseWithThreeRecords() {
		runRounds("three records", 200, this::handled);
	}

	@Test
	void caseWithACrash() {
		runRounds("three records, a crash and a start", 450, this::crashed);
	}

	private void runRounds(String name, long mostKilobytes, IntConsumer one) {
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		long kilobytes = 0;
		for (int round = 0; round < ROUNDS; round++) {
			long cpu = threads.getCurrentThreadCpuTime();
			long bytes = threads.getCurrentThreadAllocatedBytes();
			for (int i = 0; i < CASES; i++) {
				one.accept(round * CASES + i);
			}
			Duration each = Duration.ofNanos((threads.getCurrentThreadCpuTime() - cpu) / CASES);
			kilobytes = (threads.getCurrentThreadAllocatedBytes() - bytes) / CASES / 1024;
			System.out.printf("%s: %,d us and %d kB each, %,d cases per second of the processor%n", name,
					each.toNanos() / 1000, kilobytes, Duration.ofSeconds(1).dividedBy(each));
		}
		// Of the last round: the first one loads classes.
		assertThat(kilobytes).as("kB that a case allocates").isBetween(1L, mostKilobytes);
	}

	private void handled(int number) {
		String client = "client-" + number;
		check(begin(client), client);
	}

	private void crashed(int number) {
		String client = "client-" + number;
		this.shards.crashBeforeNextCommit();
		ShardId shard = begin(client);
		this.shards.start();
		this.shards.step();
		check(shard, client);
	}

	private ShardId begin(String client) {
		ShardId shard = this.shards.send("visits", client, "/").shard();
		this.shards.send("visits", client, "/shop");
		this.shards.send("visits", client, "/");
		this.shards.step();
		return shard;
	}

	private void check(ShardId shard, String client) {
		Map<String, Object> state = this.shards.state(shard, Object.class);
		assertThat(state).containsEntry(client, 3).containsEntry("last/" + client, "/");
		assertThat(this.shards.payloads("reports", String.class)).hasSize(3);
		this.shards.reset();
	}

}
