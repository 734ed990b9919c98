package io.github.shardkeeper.time;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

@Promise("One consumer")
class StoreClockTests {

	private static final Duration MARGIN = Duration.ofMillis(300);

	/** Steps of one direction. */
	private static final int BORNE = 120;

	private static final long LEASE = 3_000;

	/** And clocks that may run apart. */
	private static final int ROUNDING = 8;

	private static final long STORE_START = 1_700_000_000_000L;

	private final StoreClock clock = new StoreClock(MARGIN);

	private long now = 5_000;

	private long step;

	@Test
	void nothingIsKnownBeforeTheFirstAnswer() {
		assertThat(this.clock.earliestMillis(at(this.now))).isZero();
	}

	@Test
	void toleranceIsTwoFifthsOfTheMargin() {
		assertThat(this.clock.tolerance()).hasMillis(BORNE);
	}

	@Test
	void storeClockIsAtLeastAtItsLastAnswer() {
		answered(40, 60);

		assertThat(this.clock.earliestMillis(at(this.now))).isEqualTo(STORE_START + this.now - 60);
	}

	@Test
	void lateAnswerIsLessPrecise() {
		answered(1, 1);
		this.now += 500;
		answered(0, 400);

		assertThat(this.clock.earliestMillis(at(this.now))).isBetween(STORE_START + this.now - 4,
				STORE_START + this.now - 1);
	}

	/** A pause between sending and reply is no step, however long it is. */
	@Test
	void pausesAreNotSteps() {
		answered(1, 1);
		SplittableRandom random = new SplittableRandom(1);
		for (int i = 0; i < 1000; i++) {
			this.now += 500;
			boolean paused = random.nextInt(3) == 0;
			assertThat(answered(paused ? random.nextInt(5000) : 1, paused ? random.nextInt(5000) : 1)).isFalse();
		}
	}

	@Test
	void smallStepIsToleratedAndLargerOneIsNoticed() {
		answered(1, 1);
		this.step = BORNE - 10;
		assertThat(answered(1, 1)).isFalse();
		this.step = -5;
		assertThat(answered(1, 1)).as("back, and further").isFalse();
		this.step = BORNE + 10;
		assertThat(answered(1, 1)).isTrue();
		this.step = 0;
		assertThat(answered(1, 1)).isTrue();
		assertThat(answered(1, 1)).isFalse();
	}

	@Test
	void stepsAddUp() {
		answered(1, 1);
		for (int i = 0; i < 3; i++) {
			this.now += 500;
			this.step += 38;
			assertThat(answered(1, 1)).isFalse();
		}
		this.now += 500;
		this.step += 38;
		assertThat(answered(1, 1)).isTrue();
	}

	/**
	 * However steps are hidden by pauses: whoever is heard while none is told, or is
	 * judged from the last one that is, loses no more than what is borne.
	 */
	@Test
	void unnoticedStepsStayWithinTheTolerance() {
		for (int seed = 0; seed < 2000; seed++) {
			SplittableRandom random = new SplittableRandom(seed);
			StoreClock tried = new StoreClock(MARGIN);
			List<Heard> heard = new ArrayList<>();
			long time = 1000;
			long ahead = 0;
			for (int i = 0; i < 60; i++) {
				long sent = time;
				time += random.nextInt(4) == 0 ? random.nextInt(1000) : 1;
				heard.add(new Heard(time, ahead));
				ahead += random.nextInt(3) == 0 ? random.nextInt(400) : 0;
				Heard own = new Heard(time, ahead);
				heard.add(own);
				time += random.nextInt(4) == 0 ? random.nextInt(1000) : 1;
				if (tried.answered(at(sent), own.shown(), at(time)) || i == 0) {
					heard.removeIf((one) -> one.ahead < own.ahead);
				}
				long reckoned = tried.earliestMillis(at(time));
				long now = time;
				heard.removeIf((one) -> one.at < now - LEASE);
				for (Heard one : heard) {
					long early = reckoned - one.shown() - (time - one.at);
					assertThat(early).as("seed %d", seed).isLessThanOrEqualTo(BORNE + ROUNDING);
				}
				time += 500 - random.nextInt(300);
			}
		}
	}

	@Test
	void clockDriftIsNotAStep() {
		for (double speed : new double[] { 0.999, 1.001 }) {
			StoreClock apart = new StoreClock(MARGIN);
			apart.answered(at(0), STORE_START, at(1));
			for (long time = 500; time < 3_600_000; time += 500) {
				long shown = STORE_START + (long) (time * speed);
				assertThat(apart.answered(at(time), shown, at(time + 1))).isFalse();
				assertThat(apart.earliestMillis(at(time + 250))).isBetween(shown + 240, shown + 251);
			}
		}
	}

	@Test
	void reachesReturnsTheLatestPossibleTime() {
		answered(1, 1);
		long due = STORE_START + this.now + 3_000;

		MonotonicTime reached = this.clock.reaches(due);

		assertThat(this.clock.earliestMillis(reached)).isEqualTo(due);
		assertThat(at(this.now).until(reached)).isBetween(Duration.ofMillis(3_000), Duration.ofMillis(3_010));
	}

	/** A reply that was so long on its ways, and is here now. */
	private boolean answered(int uplink, int downlink) {
		return this.clock.answered(at(this.now - uplink - downlink), STORE_START + this.now - downlink + this.step,
				at(this.now));
	}

	private static MonotonicTime at(long millis) {
		return new MonotonicTime(millis * 1_000_000);
	}

	/** A heartbeat was stored with the store's time. */
	private record Heard(long at, long ahead) {

		long shown() {
			return STORE_START + this.at + this.ahead;
		}

	}

}
