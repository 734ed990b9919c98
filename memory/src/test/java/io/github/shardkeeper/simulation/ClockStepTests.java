package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.simulation.SimulatedNetwork.Way;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The store's clock steps by less than a second, or by an hour at the worst moment, while
 * a member is cut off and its subscription is closed: nothing but its lease keeps it from
 * consuming beside its heir. Each schedule is a seed; the checker sees every call.
 * {@code -Dshardkeeper.simulation.clock-steps=…} is the number of schedules of each kind.
 */
@Tag("proof")
@Promise("One consumer")
class ClockStepTests {

	private static final int SEEDS = Integer.getInteger("shardkeeper.simulation.clock-steps", 20);

	/** Long enough to run at the end of the lease, if nobody interrupts it. */
	private static final Duration CALL = Duration.ofMillis(1900);

	@Test
	void stepAheadGivesNoSecondOwner() {
		inEverySchedule((story, random, cutOff) -> {
			cutOff.now();
			in(story, random.nextInt(2000), () -> step(story, random.nextInt(100, 1000)));
		});
	}

	@Test
	void stepsThatAddUpGiveNoSecondOwner() {
		inEverySchedule((story, random, cutOff) -> {
			cutOff.now();
			for (int i = 0; i < 10; i++) {
				in(story, 200 * i + random.nextInt(200), () -> step(story, random.nextInt(20, 180)));
			}
		});
	}

	/** Only who beats in between is written down at another time. */
	@Test
	void stepBackAndAheadBetweenHeartbeatsGivesNoSecondOwner() {
		inEverySchedule((story, random, cutOff) -> {
			int back = random.nextInt(100, 1000);
			int length = random.nextInt(20, 500);
			step(story, -back);
			in(story, random.nextInt(length), cutOff::now);
			in(story, length, () -> step(story, back));
		});
	}

	@Test
	void stepBackMovesNothing() {
		SplittableRandom seeds = new SplittableRandom(1);
		for (int seed = 0; seed < SEEDS / 4; seed++) {
			SplittableRandom random = seeds.split();
			try (Story story = new Story(6, seed)) {
				story.settle(story.start(), story.start(), story.start());
				story.feed();
				var before = story.tokens();
				for (int i = 0; i < 4; i++) {
					story.pass(Duration.ofMillis(random.nextInt(3000)));
					step(story, -random.nextInt(20, 1000));
				}
				story.pass(Duration.ofSeconds(6));
				assertThat(story.tokens()).isEqualTo(before);
			}
		}
	}

	/**
	 * Time at which a member is about to be reaped, between two heartbeats of the leader.
	 */
	@Test
	void stepJustBeforeASearchReapsNobodyElse() {
		inEverySchedule((story, random, cutOff) -> {
			SimulatedInstance dead = story.start();
			story.pass(Duration.ofSeconds(8));
			dead.die();
			in(story, random.nextInt(1200, 2600), cutOff::now);
			in(story, random.nextInt(2500, 3000), () -> step(story, random.nextInt(300, 2400)));
		});
	}

	/** Dead members are found within a lease, even if the leader has stood still. */
	@Test
	void shortPauseOfTheLeaderDelaysNothing() {
		SplittableRandom seeds = new SplittableRandom(1);
		for (int seed = 0; seed < SEEDS / 4; seed++) {
			SplittableRandom random = seeds.split();
			try (Story story = new Story(6, seed)) {
				SimulatedInstance leader = story.start();
				story.settle(leader);
				SimulatedInstance victim = story.start();
				story.settle(leader, victim);
				story.feed();
				story.pass(Duration.ofSeconds(5).plusMillis(random.nextInt(500)));
				assertThat(leader.isLeader()).isTrue();
				var shards = story.ownedBy(victim);
				Duration died = story.now();
				victim.die();
				in(story, random.nextInt(2400), () -> leader.process.freeze(Duration.ofMillis(random.nextInt(400))));
				story.until(SimulatedGroup.LEASE.plusMillis(100), () -> story.handledSince(died, shards));
			}
		}
	}

	private static void inEverySchedule(Steps steps) {
		SplittableRandom seeds = new SplittableRandom(1);
		for (int seed = 0; seed < SEEDS; seed++) {
			SplittableRandom random = seeds.split();
			try (Story story = new Story(6, seed)) {
				SimulatedInstance first = story.start();
				SimulatedInstance second = story.start();
				SimulatedInstance third = story.start();
				story.settle(first, second, third);
				SimulatedInstance victim = first.isLeader() ? second : first;
				story.callsTake(victim, CALL);
				story.feed();
				story.pass(Duration.ofSeconds(4).plusMillis(random.nextInt(1000)));
				steps.run(story, random, () -> {
					victim.link.cut(Way.CONTROL, Duration.ofSeconds(9));
					victim.link.cut(Way.EVENTS, Duration.ofSeconds(9));
				});
				story.pass(Duration.ofSeconds(7));
			}
			catch (AssertionError ex) {
				throw new AssertionError("Seed " + seed + ": " + ex.getMessage(), ex);
			}
		}
	}

	private static void step(Story story, int millis) {
		story.group().storeClockJumps(Duration.ofMillis(millis));
	}

	private static void in(Story story, int millis, Runnable event) {
		story.group().in(millis, event);
	}

	/** Events in a group of three whose shards are all moving. */
	@FunctionalInterface
	private interface Steps {

		void run(Story story, RandomGenerator random, CutOff cutOff);

	}

	/** Takes heartbeats and subscription from one that does not lead. */
	@FunctionalInterface
	private interface CutOff {

		void now();

	}

}
