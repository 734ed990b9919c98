package io.github.shardkeeper.source;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.SettableClock;

import static org.assertj.core.api.Assertions.assertThat;

class HeldPositionsTests {

	private static final ShardId ZERO = ShardId.of("visits", 0);

	private static final ShardId ONE = ShardId.of("visits", 1);

	private static final Duration DELAY = Duration.ofSeconds(3);

	private static final Duration REFRESH = Duration.ofMinutes(1);

	private final SettableClock clock = new SettableClock();

	private final AtomicBoolean held = new AtomicBoolean(true);

	private final HeldPositions<String> positions = new HeldPositions<>(DELAY, REFRESH);

	@Test
	void acquiredPositionIsWrittenAfterTheDelay() {
		start(ZERO, "a");
		assertThat(due()).isEmpty();
		this.clock.advance(DELAY);

		assertThat(due()).containsExactly("visits/0=a");
		assertThat(due()).isEmpty();
	}

	@Test
	void shardWithoutPositionIsWrittenAfterItsFirstCommit() {
		start(ZERO, null);
		assertThat(this.positions.nextDue()).isNull();
		commit(ZERO, "a");
		this.clock.advance(DELAY);

		assertThat(due()).containsExactly("visits/0=a");
	}

	@Test
	void commitsWithinTheDelayAreWrittenOnce() {
		start(ZERO, null);
		commit(ZERO, "a");
		this.clock.advance(Duration.ofSeconds(2));
		commit(ZERO, "b");
		assertThat(due()).isEmpty();
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(due()).as("the first commit decides when").containsExactly("visits/0=b");
		commit(ZERO, "b");
		this.clock.advance(DELAY);

		assertThat(due()).as("nothing has changed").isEmpty();
	}

	@Test
	void positionThatDoesNotChangeIsWrittenAgainNowAndThen() {
		start(ZERO, "a");
		this.clock.advance(DELAY);
		assertThat(due()).hasSize(1);
		this.clock.advance(REFRESH.minusSeconds(1));
		assertThat(due()).isEmpty();
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(due()).containsExactly("visits/0=a");
		this.clock.advance(REFRESH);

		assertThat(due()).containsExactly("visits/0=a");
	}

	@Test
	void positionOfAFrozenOwnerIsDropped() {
		start(ZERO, "a");
		commit(ZERO, "b");
		this.held.set(false);
		this.clock.advance(Duration.ofHours(1));
		assertThat(due()).isEmpty();
		this.positions.stopped(ZERO, this.clock.now());
		assertThat(due()).isEmpty();

		assertThat(this.positions.nextDue()).isNull();
	}

	@Test
	void ownerWhoseLeaseIsHeldAgainContinues() {
		start(ZERO, "a");
		this.held.set(false);
		this.clock.advance(DELAY);
		assertThat(due()).isEmpty();
		this.held.set(true);
		commit(ZERO, "b");
		this.clock.advance(DELAY);

		assertThat(due()).containsExactly("visits/0=b");
	}

	@Test
	void releaseWritesAtOnceAlsoTheLastCommit() {
		start(ZERO, null);
		commit(ZERO, "a");
		this.positions.stopped(ZERO, this.clock.now());
		assertThat(due()).containsExactly("visits/0=a");
		this.clock.advance(Duration.ofMinutes(10));
		commit(ZERO, "b");
		// Released, so that another instance may hold it.
		this.held.set(false);

		assertThat(due()).containsExactly("visits/0=b");
		assertThat(this.positions.nextDue()).as("not refreshed").isNull();
	}

	/** The next owner writes after the delay, so it comes later. */
	@Test
	void lastPositionIsWrittenWithinTheDelayOrNotAtAll() {
		start(ZERO, null);
		start(ONE, null);
		this.positions.stopped(ZERO, this.clock.now());
		this.positions.stopped(ONE, this.clock.now());
		commit(ZERO, "a");
		commit(ONE, "b");
		HeldPositions.Due<String> first = this.positions.next(this.clock.now());
		assertThat(first).isNotNull();
		this.positions.failed(first, this.clock.now().plus(Duration.ofSeconds(1)));
		this.clock.advance(DELAY.plusMillis(1));

		assertThat(due()).isEmpty();
		assertThat(this.positions.nextDue()).isNull();
	}

	@Test
	void nothingIsLeftToWriteForAShardThatWasWrittenBeforeItsRelease() {
		start(ZERO, "a");
		this.clock.advance(DELAY);
		due();
		this.positions.stopped(ZERO, this.clock.now());
		assertThat(due()).isEmpty();
		commit(ZERO, "a");

		assertThat(due()).isEmpty();
	}

	@Test
	void failedPositionIsDueAgainAndTheNewerOneCounts() {
		start(ZERO, "a");
		this.clock.advance(DELAY);
		HeldPositions.Due<String> due = this.positions.next(this.clock.now());
		assertThat(due).isEqualTo(new HeldPositions.Due<>(ZERO, "a"));
		commit(ZERO, "b");
		this.positions.failed(due, this.clock.now().plus(Duration.ofSeconds(1)));
		assertThat(due()).isEmpty();
		this.clock.advance(Duration.ofSeconds(1));

		assertThat(due()).containsExactly("visits/0=b");
	}

	@Test
	void commitOfAShardThatIsNotReadIsIgnored() {
		commit(ZERO, "a");

		assertThat(due()).isEmpty();
	}

	/** Nobody owns the shards of a broadcast topic. */
	@Test
	void shardThatIsNeverHeldIsNeverWritten() {
		this.held.set(false);
		start(ZERO, "a");
		commit(ZERO, "b");
		this.clock.advance(REFRESH);
		assertThat(due()).isEmpty();
		this.positions.stoppedAll(this.clock.now());
		commit(ZERO, "c");
		this.clock.advance(REFRESH);

		assertThat(due()).isEmpty();
	}

	@Test
	void stopOfAllShardsMakesWhatIsLeftDue() {
		start(ZERO, null);
		start(ONE, null);
		commit(ONE, "b");
		commit(ZERO, "a");
		this.positions.stoppedAll(this.clock.now());

		assertThat(due()).containsExactlyInAnyOrder("visits/0=a", "visits/1=b");
	}

	private void start(ShardId shard, @Nullable String position) {
		this.positions.started(shard, position, this.held::get, this.clock.now());
	}

	private void commit(ShardId shard, String position) {
		this.positions.committed(shard, position, this.clock.now());
	}

	private List<String> due() {
		List<String> due = new ArrayList<>();
		for (HeldPositions.Due<String> next = this.positions.next(this.clock.now()); next != null; next = this.positions
			.next(this.clock.now())) {
			due.add(next.shard() + "=" + next.position());
		}
		return due;
	}

}
