package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis without persistence that restarts after a while, when leases may have ended:
 * the lost data is in the memory of its consumers. The checker sees every commit. A
 * commit behind the state of a live member fails the test, and so does a second consumer,
 * or a state that does not contain each record once.
 */
@Tag("proof")
@Promise("State exactly once")
class EmptiedStoreTests {

	private static final Duration AWAY = Duration.ofSeconds(5);

	/** Until who was frozen for longer than this is out of the group. */
	private static final Duration REAPED = SimulatedGroup.TIMEOUT.plusSeconds(2);

	static Stream<Arguments> outages() {
		return Stream.of(500, 2500, 4000, 6000, 20_000)
			.flatMap((millis) -> Stream.of(1L, 2L, 3L).map((seed) -> Arguments.of(millis, seed)));
	}

	@ParameterizedTest
	@MethodSource("outages")
	void liveMembersRestoreTheirShards(int millis, long seed) {
		try (Story story = new Story(6, seed)) {
			settle(story, 3);
			Map<ShardId, Token> before = story.tokens();
			story.group().storeRestartsEmpty(Duration.ofMillis(millis));
			consumedAgain(story, Duration.ofMillis(millis));

			assertThat(story.tokens()).as("no shard has moved").isEqualTo(before);
			assertThat(story.group().checker().restored()).isEqualTo(6);
		}
	}

	@ParameterizedTest
	@MethodSource("outages")
	void noShardMovesWhenOnlyTheKeysOfTheGroupAreLost(int millis, long seed) {
		try (Story story = new Story(6, seed)) {
			settle(story, 3);
			Map<ShardId, Token> before = story.tokens();
			story.group().controlPlaneRestartsEmpty(Duration.ofMillis(millis));
			consumedAgain(story, Duration.ofMillis(millis));

			assertThat(story.tokens()).as("no shard has moved").isEqualTo(before);
		}
	}

	@ParameterizedTest
	@MethodSource("outages")
	void orOnlyOffsetsAndStates(int millis, long seed) {
		try (Story story = new Story(6, seed)) {
			settle(story, 3);
			Map<ShardId, Token> before = story.tokens();
			story.group().dataPlaneRestartsEmpty(Duration.ofMillis(millis));
			consumedAgain(story, Duration.ofMillis(millis));

			assertThat(story.tokens()).as("no shard has moved").isEqualTo(before);
			assertThat(story.group().checker().restored()).isEqualTo(6);
		}
	}

	@Test
	void storeEmptiedTwiceIsRestoredTwice() {
		try (Story story = new Story(6)) {
			settle(story, 3);
			Map<ShardId, Token> before = story.tokens();
			story.group().storeRestartsEmpty(AWAY);
			// In the claim period, when some have presented.
			story.pass(AWAY.plusMillis(1500));
			story.group().storeRestartsEmpty(AWAY);
			consumedAgain(story, AWAY);

			assertThat(story.tokens()).as("no shard has moved").isEqualTo(before);
			assertThat(story.group().checker().restored()).isEqualTo(6);
		}
	}

	/** The new owner has handled more records, and is back only after it. */
	@ParameterizedTest
	@MethodSource("outages")
	void reapedMemberGivesWayToTheNewOwner(int millis, long seed) {
		Duration away = Duration.ofMillis(millis);
		try (Story story = new Story(4, seed)) {
			SimulatedInstance[] both = settle(story, 2);
			SimulatedInstance old = both[0];
			SimulatedInstance heir = both[1];
			old.process.freeze(REAPED);
			story.until(REAPED, () -> story.ownedBy(heir).size() == 4);
			story.pass(Duration.ofMillis(500));
			assertThat(story.lastHandledBy(heir)).hasSize(4);
			story.group().checker().allInstancesRestore();
			story.group().storeRestartsEmpty(away);
			// So that the older one comes first.
			heir.process.freeze(away.plusMillis(2500));
			consumedAgain(story, away);

			assertThat(story.group().checker().restored()).isEqualTo(4);
		}
	}

	/** Nothing but its own state is lost, which nobody has. */
	@Test
	void memberThatDiesDuringClaimsLosesOnlyItsOwnShards() {
		try (Story story = new Story(6)) {
			SimulatedInstance[] all = settle(story, 3);
			Set<ShardId> lost = story.ownedBy(all[0]);
			Map<ShardId, Token> before = story.tokens();
			story.group().storeRestartsEmpty(AWAY);
			story.pass(AWAY.plusMillis(1500));
			assertThat(story.ownedBy(all[0])).as("presented").isEqualTo(lost);
			all[0].die();
			consumedAgain(story, AWAY);

			assertThat(story.group().checker().restored()).isEqualTo(4);
			story.tokens()
				.forEach((shard, token) -> assertThat(token.equals(before.get(shard))).as("%s", shard)
					.isEqualTo(!lost.contains(shard)));
		}
	}

	/** As during a rolling restart. */
	@Test
	void memberThatLeavesDuringClaimsHandsOverItsShards() {
		try (Story story = new Story(6)) {
			SimulatedInstance[] all = settle(story, 3);
			story.group().checker().allInstancesRestore();
			story.group().storeRestartsEmpty(AWAY);
			story.pass(AWAY.plusMillis(1500));
			story.stop(all[0], Duration.ofSeconds(20));
			consumedAgain(story, AWAY);
			story.settle(all[1], all[2]);

			assertThat(story.group().checker().restored()).isEqualTo(6);
		}
	}

	private static SimulatedInstance[] settle(Story story, int instances) {
		SimulatedInstance[] started = Stream.generate(story::start).limit(instances).toArray(SimulatedInstance[]::new);
		story.settle(started);
		story.feed();
		story.pass(Duration.ofSeconds(5));
		return started;
	}

	private static void consumedAgain(Story story, Duration away) {
		story.pass(away);
		Duration back = story.now();
		story.until(SimulatedGroup.LEASE.multipliedBy(3), () -> story.handledSince(back, story.tokens().keySet())
				&& story.tokens().size() == story.group().topic().ends().size());
		story.pass(Duration.ofSeconds(5));
	}

}
