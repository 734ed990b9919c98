package io.github.shardkeeper.benchmarks.memory;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.Options;
import io.github.shardkeeper.benchmarks.RedisProcess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Each part runs, small, and fills its table.
 */
class MemoryBenchmarkTests {

	private final List<String> raw = new ArrayList<>();

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
	void largeState() throws Exception {
		assertIsTable(new LargeState(this.redis, 1500).measure(this.raw::add, 20), 8);
		assertThat(this.raw).hasSize(2 * (9 + 20)).allMatch((line) -> line.matches("\"[^\"]+\",\\d+,\\d+\\.\\d{3}"));
	}

	@Test
	void manyCommits() throws Exception {
		assertIsTable(new ManyCommits(this.redis, 5, 3).measure(this.raw::add, 1), 4);
		assertThat(this.raw).anyMatch((line) -> line.startsWith("\"commit in the background"))
			.filteredOn((line) -> line.startsWith("\"commit one after the other"))
			.hasSize(5);
	}

	@Test
	void slowHandler() throws Exception {
		assertIsTable(new SlowHandler(this.redis, 3, 4).measure(this.raw::add, 0), 6);
		assertThat(this.raw).hasSize(2);
	}

	@Test
	void refusesAPartThatThereIsNot() {
		assertThatIllegalArgumentException().isThrownBy(() -> MemoryBenchmark.part("all", Options.parse()))
			.withMessageContaining("'all'");
	}

	private static void assertIsTable(List<String> table, int lines) {
		assertThat(table).hasSize(lines).allMatch((line) -> line.startsWith("|") && line.endsWith("|"));
		assertThat(table.get(1)).startsWith("|---|");
	}

}
