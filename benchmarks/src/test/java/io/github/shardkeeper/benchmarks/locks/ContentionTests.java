package io.github.shardkeeper.benchmarks.locks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.benchmarks.GoalTable;
import io.github.shardkeeper.benchmarks.locks.LockProcess.Turns;
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
		assertThat(figures.againPart()).isEqualTo(1 / 3.0);
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

	@Test
	void goalIsTheFastestPeer() {
		Contended contended = new Contended("hand-over", new Turns(0, 0));
		contended.add(Contender.SHARDKEEPER, 2, handOver(5_000));
		contended.add(Contender.REDISSON, 2, handOver(9_000));
		contended.add(Contender.REGISTRY, 2, handOver(4_000));
		GoalTable goals = new GoalTable("seen", "at most");

		contended.addGoals(goals);

		assertThat(goals.lines()).contains(
				"| hand-over, 2 waiters: us, p50, beside " + Contender.REGISTRY.text() + " | 5 | 4 | **missed** |");
		assertThat(contended.lines()).contains("| Redisson RLock | 9 (9) |");
	}

	@Test
	void goalsNeedBoth() {
		GoalTable goals = new GoalTable("seen", "at most");
		Uncontended peers = new Uncontended();
		peers.add(Contender.REDISSON, 100, 90, 20);

		peers.addGoals(goals);

		assertThat(goals.lines()).hasSize(3);
		assertThat(peers.lines()).contains("| Redisson RLock | – | 100 | 100-100 | 90 | 20 |");
	}

	private static Contention handOver(long nanos) {
		return Contention.of(List.of(new Acquisition(1, 0, 0, 0), new Acquisition(2, 0, nanos, nanos)), 2, 0,
				1_000_000);
	}

}
