package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class MoveRecorderTests {

	private final FailingHistory history = new FailingHistory();

	private final ManualLoops loops = new ManualLoops();

	private final List<ShardMove> announced = new ArrayList<>();

	private final MoveRecorder recorder = recorder(this.history);

	private MoveRecorder recorder(@Nullable MoveHistory store) {
		return new MoveRecorder("group", store, 250, this.loops, MonotonicClock.SYSTEM, this.announced::add, 0);
	}

	@Test
	void nothingRunsBeforeTheFirstMove() {
		assertThat(this.loops.step).isNull();
	}

	@Test
	void movesAreWrittenAndAnnouncedInTheirOrder() throws Exception {
		this.recorder.accept(MoveHistoryContract.moves(0, 2));
		this.recorder.accept(MoveHistoryContract.moves(2, 3));

		assertThat(this.loops.run()).isNull();

		assertThat(this.history.written).isEqualTo(MoveHistoryContract.moves(0, 3));
		assertThat(this.announced).isEqualTo(MoveHistoryContract.moves(0, 3));
	}

	@Test
	void movesStayUntilTheStoreTakesThem() throws Exception {
		this.history.failing = true;
		this.recorder.accept(MoveHistoryContract.moves(0, 2));
		assertThat(this.loops.run()).isNotNull();
		this.recorder.accept(MoveHistoryContract.moves(2, 4));
		assertThat(this.loops.run()).isNotNull();
		this.history.failing = false;

		assertThat(this.loops.run()).isNull();

		assertThat(this.history.written).isEqualTo(MoveHistoryContract.moves(0, 4));
		assertThat(this.announced).isEqualTo(MoveHistoryContract.moves(0, 4));
	}

	@Test
	void onlyTheLastMovesAreKeptWhileTheStoreTakesNone() throws Exception {
		this.history.failing = true;
		this.recorder.accept(MoveHistoryContract.moves(0, 1_000));
		this.recorder.accept(MoveHistoryContract.moves(1_000, 1_010));
		this.history.failing = false;

		this.loops.run();

		assertThat(this.history.written).isEqualTo(MoveHistoryContract.moves(760, 1_010));
		assertThat(this.history.largestBatch).isLessThanOrEqualTo(100);
	}

	@Test
	void withoutAHistoryMovesAreAnnounced() throws Exception {
		recorder(null).accept(MoveHistoryContract.moves(0, 2));

		assertThat(this.loops.run()).isNull();

		assertThat(this.announced).isEqualTo(MoveHistoryContract.moves(0, 2));
	}

	/** The loop reports it and runs the step again. */
	@Test
	void failureOfAListenerLosesNoOtherMove() throws Exception {
		MoveRecorder failing = new MoveRecorder("group", this.history, 250, this.loops, MonotonicClock.SYSTEM,
				(move) -> {
					throw new IllegalStateException("caused by the test");
				}, 0);
		failing.accept(MoveHistoryContract.moves(0, 2));

		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(this.loops::run);
		this.loops.run();

		assertThat(this.history.written).isEqualTo(MoveHistoryContract.moves(0, 2));
	}

	@Test
	void closedRecorderTakesNothing() throws Exception {
		this.recorder.close();
		this.recorder.accept(MoveHistoryContract.moves(0, 2));

		assertThat(this.loops.step).isNull();
	}

	@Test
	void stopWaitsForTheLastMoves() throws Exception {
		this.recorder.start();
		this.recorder.accept(MoveHistoryContract.moves(0, 2));
		Thread stopping = new Thread(this.recorder::stop);
		stopping.start();
		while (stopping.getState() != Thread.State.TIMED_WAITING) {
			Thread.onSpinWait();
		}

		this.loops.run();
		stopping.join();

		assertThat(this.history.written).isEqualTo(MoveHistoryContract.moves(0, 2));
		assertThat(this.recorder.isRunning()).isFalse();
	}

	@Test
	void stopDoesNotWaitForAStoreThatRefusesMoves() throws Exception {
		this.history.failing = true;
		this.recorder.accept(MoveHistoryContract.moves(0, 2));
		this.loops.run();

		long begin = System.nanoTime();
		this.recorder.stop();

		assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofMillis(900));
	}

	private static final class FailingHistory implements MoveHistory {

		private final List<ShardMove> written = new ArrayList<>();

		private int largestBatch;

		private boolean failing;

		@Override
		public void append(List<ShardMove> moves) {
			if (this.failing) {
				throw new StoreUnavailableException("away, as the test wants it", null, true);
			}
			this.largestBatch = Math.max(this.largestBatch, moves.size());
			this.written.addAll(moves);
		}

		@Override
		public Page read(@Nullable String before, int most) {
			throw new UnsupportedOperationException();
		}

	}

	/** Runs steps when the test says so. */
	private static final class ManualLoops implements Loops {

		private @Nullable Step step;

		@Override
		public Loop start(String name, Step started) {
			this.step = started;
			return new Loop() {
				@Override
				public void wake() {
				}

				@Override
				public void close() {
				}
			};
		}

		@Override
		public Loop startForeground(String name, Step started) {
			return start(name, started);
		}

		@Nullable MonotonicTime run() throws InterruptedException {
			return Objects.requireNonNull(this.step).run();
		}

	}

}
