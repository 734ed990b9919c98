package io.github.shardkeeper.history;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.history.MoveHistory.Bounds;
import io.github.shardkeeper.history.MoveHistory.PhaseAges;
import io.github.shardkeeper.report.MovePhaseReport;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.MoveCause;
import io.github.shardkeeper.shard.MovePhase;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardMove;
import io.github.shardkeeper.shard.Token;

import static org.assertj.core.api.Assertions.assertThat;

class MoveFollowerTests {

	private static final ShardMove MOVE = new ShardMove(ShardId.of("visits", 3), MemberId.of("a", "1"),
			MemberId.of("b", "1"), new Token(20), new Token(10), MoveCause.JOIN, 1_000, 1_070, 1_100, null, null);

	private final MoveHistory history = new MemoryMoveHistory(new Bounds(100_000, Duration.ofDays(1)),
			() -> Instant.ofEpochMilli(2_000));

	private final MoveFollower follower = new MoveFollower(new MoveReporter(this.history));

	@BeforeEach
	void begin() {
		assertThat(this.follower.next(true)).isEmpty();
	}

	@Test
	void everyPhaseIsFoundOnce() {
		this.history.append(List.of(MOVE));
		phase(10, MovePhase.DRAINED, 1_050);
		assertThat(this.follower.next(true)).containsExactly(found("flushed", 20));
		phase(20, MovePhase.ACQUIRED, 1_110);
		phase(20, MovePhase.FIRST_RECORD, 1_300);

		assertThat(this.follower.next(true)).containsExactly(found("acquired", 10), found("firstRecord", 190));
		assertThat(this.follower.next(true)).isEmpty();
	}

	@Test
	void phaseThatComesLaterIsFoundWithItsMove() {
		this.history.append(List.of(MOVE));
		assertThat(this.follower.next(true)).isEmpty();
		phase(20, MovePhase.ACQUIRED, 1_110);

		assertThat(this.follower.next(true)).containsExactly(found("acquired", 10));
	}

	/** The leader of that time has found them. */
	@Test
	void phasesOfOtherLeadershipsAreNotFound() {
		assertThat(this.follower.next(false)).isEmpty();
		this.history.append(List.of(MOVE));
		phase(20, MovePhase.ACQUIRED, 1_110);

		assertThat(this.follower.next(false)).isEmpty();
		assertThat(this.follower.next(true)).isEmpty();
		assertThat(this.follower.next(true)).isEmpty();
	}

	/** An instance looks at intervals, and much moves when a leader ends. */
	@Test
	void newLeaderFindsWhatHasHappenedSinceItLookedLast() {
		assertThat(this.follower.next(false)).isEmpty();
		this.history.append(List.of(MOVE));
		phase(20, MovePhase.ACQUIRED, 1_110);

		assertThat(this.follower.next(true)).containsExactly(found("acquired", 10));
	}

	@Test
	void manyMovesAreFoundInOneCall() {
		for (int number = 0; number < 2_500; number++) {
			this.history.append(List.of(new ShardMove(ShardId.of("visits", number), MOVE.from(), MOVE.to(),
					new Token(number + 20), MoveCause.JOIN, 1_000, 1_070, 1_100)));
			this.history.appendPhases(List.of(new PhaseAges(ShardId.of("visits", number), new Token(number + 20),
					Map.of(MovePhase.ACQUIRED, Duration.ofMillis(890)))));
		}

		assertThat(this.follower.next(true)).hasSize(2_500).containsOnly(found("acquired", 10));
	}

	private static MovePhaseReport found(String phase, long millis) {
		return new MovePhaseReport("visits", "JOIN", phase, Duration.ofMillis(millis));
	}

	private void phase(long token, MovePhase phase, long atMillis) {
		this.history.appendPhases(List
			.of(new PhaseAges(MOVE.shard(), new Token(token), Map.of(phase, Duration.ofMillis(2_000 - atMillis)))));
	}

}
