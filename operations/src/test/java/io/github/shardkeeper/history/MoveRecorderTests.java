package io.github.shardkeeper.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.assignment.Reason;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.coordination.store.GroupDiagnostics;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveHistory.PhaseAges;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.protocol.MoveReason;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

class MoveRecorderTests {

	private static final MemberId TO = MemberId.of("c", "1");

	private final FailingHistory history = new FailingHistory();

	private final ManualLoops loops = new ManualLoops();

	private final GroupDiagnostics diagnostics = new MemoryCoordinationStore().diagnostics();

	private MonotonicTime now = MonotonicClock.SYSTEM.now();

	private final List<ShardMove> announced = new ArrayList<>();

	private final MoveRecorder recorder = recorder(this.history);

	private MoveRecorder recorder(@Nullable MoveHistory store) {
		return new MoveRecorder("group", store, this.diagnostics, 250, this.loops, () -> this.now, this.announced::add,
				0);
	}

	@Test
	void nothingRunsBeforeTheFirstMove() {
		assertThat(this.loops.step).isNull();
	}

	@Test
	void movesAreWrittenAndAnnouncedInTheirOrder() throws Exception {
		this.recorder.found(MoveHistoryContract.moves(0, 2));
		this.recorder.found(MoveHistoryContract.moves(2, 3));

		assertThat(this.loops.run()).isNull();

		assertThat(this.history.written).isEqualTo(MoveHistoryContract.moves(0, 3));
		assertThat(this.announced).isEqualTo(MoveHistoryContract.moves(0, 3));
	}

	@Test
	void movesStayUntilTheStoreTakesThem() throws Exception {
		this.history.failing = true;
		this.recorder.found(MoveHistoryContract.moves(0, 2));
		assertThat(this.loops.run()).isNotNull();
		this.recorder.found(MoveHistoryContract.moves(2, 4));
		assertThat(this.loops.run()).isNotNull();
		this.history.failing = false;

		assertThat(this.loops.run()).isNull();

		assertThat(this.history.written).isEqualTo(MoveHistoryContract.moves(0, 4));
		assertThat(this.announced).isEqualTo(MoveHistoryContract.moves(0, 4));
	}

	@Test
	void onlyTheLastMovesAreKeptWhileTheStoreTakesNone() throws Exception {
		this.history.failing = true;
		this.recorder.found(MoveHistoryContract.moves(0, 1_000));
		this.recorder.found(MoveHistoryContract.moves(1_000, 1_010));
		this.history.failing = false;

		this.loops.run();

		assertThat(this.history.written).isEqualTo(MoveHistoryContract.moves(760, 1_010));
		assertThat(this.history.largestBatch).isLessThanOrEqualTo(100);
	}

	@Test
	void withoutAHistoryMovesAreAnnounced() throws Exception {
		recorder(null).found(MoveHistoryContract.moves(0, 2));

		assertThat(this.loops.run()).isNull();

		assertThat(this.announced).isEqualTo(MoveHistoryContract.moves(0, 2));
	}

	/** The loop reports it and runs the step again. */
	@Test
	void failureOfAListenerLosesNoOtherMove() throws Exception {
		MoveRecorder failing = new MoveRecorder("group", this.history, this.diagnostics, 250, this.loops,
				() -> this.now, (move) -> {
					throw new IllegalStateException("caused by the test");
				}, 0);
		failing.found(MoveHistoryContract.moves(0, 2));

		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(this.loops::run);
		this.loops.run();

		assertThat(this.history.written).isEqualTo(MoveHistoryContract.moves(0, 2));
	}

	@Test
	void closedRecorderTakesNothing() throws Exception {
		this.recorder.close();
		this.recorder.found(MoveHistoryContract.moves(0, 2));

		assertThat(this.loops.step).isNull();
	}

	@Test
	void stopWaitsForTheLastMoves() throws Exception {
		this.recorder.start();
		this.recorder.found(MoveHistoryContract.moves(0, 2));
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
		this.recorder.found(MoveHistoryContract.moves(0, 2));
		this.loops.run();

		long begin = System.nanoTime();
		this.recorder.stop();

		assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofMillis(900));
	}

	@Test
	void phasesOfManyShardsAreWrittenTogether() throws Exception {
		this.recorder.start();
		for (int i = 0; i < 1_000; i++) {
			reached(i, MovePhase.ACQUIRED);
			pass(Duration.ofMillis(1));
		}
		assertThat(this.loops.run()).isNotNull();
		for (int i = 0; i < 900; i++) {
			reached(i, MovePhase.FIRST_RECORD);
		}
		assertThat(this.history.phases).isEmpty();
		pass(Duration.ofSeconds(1));
		this.loops.run();

		assertThat(this.history.phases).hasSize(4)
			.allSatisfy((write) -> assertThat(write).hasSizeLessThanOrEqualTo(250));
		assertThat(this.history.phases.get(0).get(0)).isEqualTo(new PhaseAges(ShardId.of("visits", 0), new Token(7),
				Map.of(MovePhase.ACQUIRED, Duration.ofSeconds(2), MovePhase.FIRST_RECORD, Duration.ofSeconds(1))));
		assertThat(this.loops.wakes).isLessThan(5);
	}

	/** Idle shards cost one entry, with others, and nothing later. */
	@Test
	void firstRecordIsNotAwaitedForLong() throws Exception {
		this.recorder.start();
		MonotonicTime begin = this.now;
		reached(1, MovePhase.ACQUIRED);
		assertThat(this.loops.run()).isEqualTo(begin.plus(PendingPhases.LONGEST_WAIT));
		pass(PendingPhases.LONGEST_WAIT);
		assertThat(this.loops.run()).isNull();
		pass(Duration.ofHours(1));
		reached(1, MovePhase.FIRST_RECORD);

		assertThat(this.loops.run()).isNull();

		assertThat(this.history.phases).singleElement()
			.asInstanceOf(InstanceOfAssertFactories.LIST)
			.containsExactly(new PhaseAges(ShardId.of("visits", 1), new Token(7),
					Map.of(MovePhase.ACQUIRED, PendingPhases.LONGEST_WAIT)));
	}

	@Test
	void phasesStayUntilTheStoreTakesThem() throws Exception {
		this.recorder.start();
		this.history.failing = true;
		reached(1, MovePhase.DRAINED);
		pass(Duration.ofSeconds(1));
		MonotonicTime retry = Objects.requireNonNull(this.loops.run());
		int wakes = this.loops.wakes;
		for (int i = 2; i < 20_000; i++) {
			reached(i, MovePhase.DRAINED);
		}
		assertThat(this.loops.wakes).as("wakes while the store refuses").isEqualTo(wakes);
		this.now = retry;
		this.history.failing = false;

		assertThat(this.loops.run()).isNull();

		assertThat(this.history.phases.stream().mapToInt(List::size).sum()).as("of the last shards").isEqualTo(10_000);
	}

	@Test
	void withoutAHistoryPhasesStartNothing() {
		recorder(null).reached(ShardId.of("visits", 1), new Token(7), MovePhase.DRAINED, this.now);

		assertThat(this.loops.step).isNull();
	}

	@Test
	void stopHasPhasesWrittenAtOnce() throws Exception {
		this.recorder.start();
		reached(1, MovePhase.DRAINED);
		this.loops.run();
		Thread stopping = new Thread(this.recorder::stop);
		stopping.start();
		while (stopping.getState() != Thread.State.TIMED_WAITING) {
			Thread.onSpinWait();
		}

		this.loops.run();
		stopping.join();

		assertThat(this.history.phases).hasSize(1);
	}

	/** The leader before has found it, and ended before it was read. */
	@Test
	void moveThatIsRecordedAlreadyIsNotRecordedAgain() throws Exception {
		ShardMove known = MoveHistoryContract.move(1);
		this.history.append(List.of(known));

		this.recorder.found(List.of(unseen(1, known.token().value()), unseen(2, 90)));
		this.loops.run();

		assertThat(this.announced).extracting(ShardMove::shard).containsExactly(ShardId.of("visits", 2));
		assertThat(this.history.written).extracting(ShardMove::token).containsExactly(known.token(), new Token(90));
	}

	@Test
	void moveThatNoLeaderHasSeenIsExplainedByWhatIsLeft() throws Exception {
		MemberId a = MemberId.of("a", "1");
		this.diagnostics.write(Kind.REASONS, Map.of("visits/1", new MoveReason(Reason.SHARE, TO, a, null).text(),
				"visits/2", new MoveReason(Reason.SHARE, MemberId.of("other", "1"), a, null).text()));
		this.history.append(List.of(MoveHistoryContract.move(1), MoveHistoryContract.move(2)));

		this.history.failing = true;
		this.recorder.found(List.of(unseen(1, 90), unseen(2, 91), unseen(3, 92)));
		assertThat(this.loops.run()).isNotNull();
		this.history.failing = false;
		this.loops.run();

		assertThat(this.announced).extracting(ShardMove::from, ShardMove::cause, ShardMove::why)
			.containsExactly(tuple(a, MoveCause.REBALANCE, Reason.SHARE.text()),
					tuple(MoveHistoryContract.move(2).to(), MoveCause.UNKNOWN, null),
					tuple(null, MoveCause.UNKNOWN, null));
		assertThat(this.history.written).endsWith(this.announced.toArray(ShardMove[]::new));
	}

	@Test
	void withoutAHistoryMovesThatNoLeaderHasSeenAreNotGuessed() throws Exception {
		recorder(null).found(List.of(unseen(1, 90), MoveHistoryContract.move(2)));
		this.loops.run();

		assertThat(this.announced).containsExactly(MoveHistoryContract.move(2));
	}

	private static ShardMove unseen(int shard, long token) {
		return new ShardMove(ShardId.of("visits", shard), null, TO, new Token(token), MoveCause.UNKNOWN, 5, 5, 5);
	}

	private void reached(int shard, MovePhase phase) {
		this.recorder.reached(ShardId.of("visits", shard), new Token(7), phase, this.now);
	}

	private void pass(Duration time) {
		this.now = this.now.plus(time);
	}

	private static final class FailingHistory implements MoveHistory {

		private final List<ShardMove> written = new ArrayList<>();

		/** By write. */
		private final List<List<PhaseAges>> phases = new ArrayList<>();

		private final MoveHistory stored = new MemoryMoveHistory(new Bounds(10_000, Duration.ofDays(1)));

		private int largestBatch;

		private boolean failing;

		@Override
		public void append(List<ShardMove> moves) {
			if (this.failing) {
				throw new StoreUnavailableException("away, as the test wants it", null, true);
			}
			this.largestBatch = Math.max(this.largestBatch, moves.size());
			this.written.addAll(moves);
			this.stored.append(moves);
		}

		@Override
		public void appendPhases(List<PhaseAges> added) {
			if (this.failing) {
				throw new StoreUnavailableException("away, as the test wants it", null, true);
			}
			this.phases.add(added);
		}

		@Override
		public Page read(@Nullable String before, int most) {
			if (this.failing) {
				throw new StoreUnavailableException("away, as the test wants it", null, true);
			}
			return this.stored.read(before, most);
		}

		@Override
		public Page readAfter(@Nullable String after, int most) {
			throw new UnsupportedOperationException();
		}

	}

	/** Runs steps when the test says so. */
	private static final class ManualLoops implements Loops {

		private @Nullable Step step;

		private int wakes;

		@Override
		public Loop start(String name, Step started) {
			this.step = started;
			return new Loop() {
				@Override
				public void wake() {
					ManualLoops.this.wakes++;
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
