package io.github.shardkeeper.benchmarks.moves.group;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.benchmarks.moves.group.Exactness.Incident;
import io.github.shardkeeper.benchmarks.moves.group.Exactness.Kind;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Evaluation of traces.
 */
class ExactnessTests {

	private static final List<Handled> MOVED = List.of(handled("a", 1, 1, 10), handled("a", 2, 1, 30),
			handled("b", 3, 2, 65), handled("b", 4, 2, 80));

	@Test
	void moveHasAGapAndLosesNothing() {
		Window window = Window.of(List.of(MOVED), 0, millis(100));
		assertThat(window.shards()).containsExactly(new Window.Shard(1, 35, 35, 35, 0, false));
		assertThat(Exactness.of(List.of(MOVED), 4)).isEqualTo(new Exactness(0, List.of()));
	}

	@Test
	void windowCoversOnlyItsPeriod() {
		assertThat(Window.of(List.of(MOVED), millis(70), millis(100)).shards())
			.containsExactly(new Window.Shard(0, 0, 15, 0, 0, false));
	}

	@Test
	void standstillWithoutAMoveIsDetected() {
		List<Handled> stood = List.of(handled("a", 1, 1, 10), handled("a", 2, 1, 210));
		assertThat(Window.of(List.of(stood), 0, millis(300)).shards())
			.containsExactly(new Window.Shard(0, 0, 200, 0, 200, false));
	}

	@Test
	void openStandstillIsDetected() {
		assertThat(Window.of(List.of(MOVED), millis(70), millis(400)).shards())
			.containsExactly(new Window.Shard(0, 0, 320, 0, 320, false));
	}

	@Test
	void laterRecordDoesNotEndAStandstill() {
		List<Handled> stood = List.of(handled("a", 1, 1, 10), handled("a", 2, 1, 20), handled("a", 3, 1, 500));
		assertThat(Window.of(List.of(stood), 0, millis(400)).shards())
			.containsExactly(new Window.Shard(0, 0, 380, 0, 380, false));
	}

	@Test
	void missingRecordIsLost() {
		assertThat(Exactness.of(List.of(MOVED, List.of()), 5).lost()).isEqualTo(1 + 5);
	}

	@Test
	void recordOfAnotherInstanceIsHandledTwice() {
		Exactness exactness = Exactness.of(List.of(List.of(handled("a", 1, 1, 10), handled("a", 2, 1, 30),
				handled("b", 2, 2, 50), handled("b", 3, 2, 70))), 3);
		assertThat(exactness).isEqualTo(new Exactness(0, List.of(new Incident(Kind.TWICE, millis(50)))));
	}

	@Test
	void ownerAfterALaterOneIsDetected() {
		Exactness exactness = Exactness.of(List.of(List.of(handled("a", 1, 1, 10), handled("b", 2, 2, 30),
				handled("a", 2, 1, 40), handled("b", 3, 2, 50))), 3);
		assertThat(exactness.incidents()).containsExactly(new Incident(Kind.TWICE, millis(40)),
				new Incident(Kind.TWO_OWNERS, millis(40)));
	}

	@Test
	void recordThatIsRepeatedAtOnceIsNotOutOfOrder() {
		Exactness exactness = Exactness.of(List.of(List.of(handled("a", 1, 1, 10), handled("a", 2, 1, 30),
				handled("a", 2, 1, 50), handled("a", 3, 1, 70))), 3);
		assertThat(exactness).isEqualTo(new Exactness(0, List.of(new Incident(Kind.AGAIN, millis(50)))));
	}

	@Test
	void earlierRecordThatIsRepeatedIsOutOfOrder() {
		Exactness exactness = Exactness.of(List.of(List.of(handled("a", 1, 1, 10), handled("a", 2, 1, 30),
				handled("a", 1, 1, 50), handled("a", 2, 1, 70))), 2);
		assertThat(exactness.count(Kind.OUT_OF_ORDER)).isEqualTo(1);
		assertThat(exactness.count(Kind.AGAIN)).isEqualTo(2);
	}

	@Test
	void recordBeforeItsPredecessorIsOutOfOrder() {
		Exactness exactness = Exactness
			.of(List.of(List.of(handled("a", 1, 1, 10), handled("a", 3, 1, 30), handled("a", 2, 1, 50))), 3);
		assertThat(exactness.lost()).isZero();
		assertThat(exactness.count(Kind.OUT_OF_ORDER)).isEqualTo(2);
	}

	private static Handled handled(String instance, long number, long epoch, long millis) {
		return new Handled(instance, 0, number, epoch, 0, millis(millis));
	}

	private static long millis(long millis) {
		return millis * 1_000_000;
	}

}
