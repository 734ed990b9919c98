package io.github.shardkeeper.benchmarks.latency;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.benchmarks.latency.LatencyBenchmark.Sizes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Every contender receives every record once, in one process or in several.
 */
class LatencyBenchmarkTests {

	@Test
	void everyContenderIsMeasured() throws Exception {
		List<String> raw = new ArrayList<>();

		// A contender that loses or repeats a record ends the run.
		List<String> lines = LatencyBenchmark.measure(List.of(Contender.values()), List.of(2),
				new Sizes(4, 200, 1, 0, 1), raw::add);

		assertThat(raw).hasSize(4)
			.allMatch((line) -> line.split(",(?=[^ ])").length == LatencyBenchmark.COLUMNS.size());
		for (Contender contender : Contender.values()) {
			assertThat(lines).anyMatch((line) -> line.startsWith("| " + contender.text() + " | "));
		}
		assertThat(lines).noneMatch((line) -> line.contains("NaN"))
			.filteredOn((line) -> line.startsWith("| 2 instances, "))
			.hasSize(2);
	}

	@Test
	void latencyCountsFromTheIntendedTime(@TempDir Path directory) throws Exception {
		Arrivals here = new Arrivals();
		Arrivals there = new Arrivals();
		long second = 1_000_000_000L;
		here.received(Payloads.of(7, System.nanoTime() - second));
		there.received(Payloads.of(8, System.nanoTime() - 2 * second));

		long[] latencies = read(directory, here, there);

		assertThat(latencies).hasSize(2);
		assertThat(latencies[0]).isGreaterThanOrEqualTo(second);
		assertThat(latencies[1]).isGreaterThanOrEqualTo(2 * second);
		assertThat(LatencyBenchmark.micros(latencies, 0.5)).isEqualTo(latencies[0] / 1e3);
		assertThat(LatencyBenchmark.micros(latencies, 0.99)).isEqualTo(latencies[1] / 1e3);
	}

	@Test
	void recordThatIsMissingOrCameTwiceIsSeen(@TempDir Path directory) {
		Arrivals here = new Arrivals();
		Arrivals there = new Arrivals();
		byte[] payload = Payloads.of(7, System.nanoTime());
		here.received(payload);

		assertThatIllegalStateException().isThrownBy(() -> here.received(payload)).withMessageContaining("twice");
		assertThatIllegalStateException().isThrownBy(() -> read(directory, here, there))
			.withMessageContaining("missing");
		there.received(payload);
		assertThatIllegalStateException().isThrownBy(() -> read(directory, here, there))
			.withMessageContaining("two processes");
	}

	private static long[] read(Path directory, Arrivals here, Arrivals there) throws Exception {
		Path first = directory.resolve("first");
		Path second = directory.resolve("second");
		here.write(first, 7, 9);
		there.write(second, 7, 9);
		return Arrivals.read(List.of(first, second));
	}

}
