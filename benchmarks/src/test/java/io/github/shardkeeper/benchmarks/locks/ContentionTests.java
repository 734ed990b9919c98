package io.github.shardkeeper.benchmarks.locks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.benchmarks.locks.Trace.Acquisition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Figures follow from the acquisitions that were written down.
 */
class ContentionTests {

	/** One, two, two again, one. */
	private static final List<Acquisition> TRACE = List.of(new Acquisition(1, 0, 1_000, 2_000),
			new Acquisition(2, 500, 5_000, 6_000), new Acquisition(2, 6_500, 8_000, 9_000),
			new Acquisition(1, 2_500, 16_000, 17_000));

	@Test
	void handOverIsFromUnlockToAnAcquisitionByAnotherThread() {
		Contention figures = Contention.of(TRACE, 4, 0, 1_000_000_000);

		assertThat(figures.handOverMicros().values()).containsExactly(3.0, 7.0);
		assertThat(figures.perSecond()).isEqualTo(3);
		assertThat(figures.longestWaitMillis()).isEqualTo(0.0135);
	}

	@Test
	void onlyTheTimeThatIsMeasuredCounts() {
		assertThat(Contention.of(TRACE, 4, 3_000, 10_000).handOverMicros().values()).isEmpty();
	}

	@Test
	void lockThatTwoThreadsHoldIsNotMeasured() {
		List<Acquisition> overlapping = List.of(new Acquisition(1, 0, 1_000, 3_000),
				new Acquisition(2, 500, 2_000, 4_000));

		assertThatIllegalStateException().isThrownBy(() -> Contention.of(overlapping, 2, 0, 10_000))
			.withMessageContaining("Two threads held one lock");
		// One has overwritten what the other wrote.
		assertThatIllegalStateException().isThrownBy(() -> Contention.of(TRACE, 5, 0, 10_000))
			.withMessageContaining("Two threads held one lock");
	}

	@Test
	void acquisitionsAreReadAsTheyWereWritten(@TempDir Path directory) throws Exception {
		Path file = Files.createFile(directory.resolve("trace"));
		try (Trace writer = Trace.open(file); Trace reader = Trace.open(file)) {
			for (Acquisition each : TRACE) {
				writer.add(each.thread(), each.askedAt(), each.acquiredAt(), each.unlockAt());
			}

			assertThat(reader.read()).isEqualTo(TRACE);
		}
	}

}
