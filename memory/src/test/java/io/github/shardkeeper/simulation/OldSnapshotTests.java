package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis with occasional snapshots restarts with an old one, perhaps so soon that no
 * heartbeat has failed. The checker sees every call: a second consumer fails the test.
 */
@Tag("proof")
@Promise("One consumer")
class OldSnapshotTests {

	private static final Duration OLD = Duration.ofSeconds(30);

	/** Shorter than the time between two heartbeats. */
	private static final Duration BLINK = Duration.ofMillis(20);

	private static final Duration LONGER_THAN_A_LEASE = SimulatedGroup.LEASE.plusSeconds(2);

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5, 6 })
	void liveMemberIsNotReaped(long seed) {
		try (Story story = new Story(6, seed)) {
			SimulatedInstance a = story.start();
			SimulatedInstance b = story.start();
			SimulatedInstance c = story.start();
			story.settle(a, b, c);
			story.feed();
			story.pass(Duration.ofSeconds(10));
			Map<ShardId, Token> before = story.tokens();
			story.group().restartFromSnapshotOfNow(OLD, BLINK);
			story.pass(OLD.plusSeconds(10));

			assertThat(story.tokens()).as("no shard has moved").isEqualTo(before);
			assertThat(story.ownedBy(a)).hasSize(2);
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 2, 3, 4, 5, 6 })
	void forgottenMemberIsHeardBeforeItsShardsAreAssigned(long seed) {
		try (Story story = new Story(6, seed)) {
			SimulatedInstance first = story.start();
			story.settle(first);
			story.stop(first, Duration.ofSeconds(4));
			story.pass(Duration.ofSeconds(10));
			story.group().restartFromSnapshotOfNow(OLD, BLINK);
			SimulatedInstance a = story.start();
			SimulatedInstance b = story.start();
			story.settle(a, b);
			story.feed();
			story.pass(Duration.ofSeconds(10));
			// So that their heartbeats do not keep step.
			b.process.freeze(Duration.ofMillis(600 + 40 * seed));
			story.pass(Duration.ofSeconds(2));
			Map<ShardId, Token> before = story.tokens();
			Set<ShardId> ofA = story.ownedBy(a);
			story.pass(OLD.plusSeconds(10));

			assertThat(story.tokens()).as("no shard has moved").isEqualTo(before);
			assertThat(story.ownedBy(a)).isEqualTo(ofA);
		}
	}

	@Test
	void shardOwnedUnderAnOldTokenIsConsumedAgain() {
		try (Story story = new Story(4)) {
			SimulatedInstance a = story.start();
			story.settle(a);
			story.group().restartFromSnapshotOfNow(OLD, LONGER_THAN_A_LEASE);
			isConsumedAgain(story, a, OLD.plus(LONGER_THAN_A_LEASE));
		}
	}

	/** No heartbeat of its own has failed then. */
	@Test
	void shardOwnedUnderAnOldTokenIsConsumedAgainAfterAFreeze() {
		try (Story story = new Story(4)) {
			SimulatedInstance a = story.start();
			story.settle(a);
			story.group().restartFromSnapshotOfNow(OLD, BLINK);
			story.group().in(OLD.toMillis() - 600, () -> a.process.freeze(LONGER_THAN_A_LEASE));
			isConsumedAgain(story, a, OLD.plus(LONGER_THAN_A_LEASE));
		}
	}

	private static void isConsumedAgain(Story story, SimulatedInstance a, Duration over) {
		Map<ShardId, Token> old = story.tokens();
		SimulatedInstance b = story.start();
		story.settle(a, b);
		story.stop(b, Duration.ofSeconds(4));
		story.pass(Duration.ofSeconds(10));
		story.settle(a);
		story.feed();
		assertThat(story.tokens()).as("two have come back under newer tokens").isNotEqualTo(old);
		story.pass(over.plusSeconds(10));
		Duration then = story.now();

		story.until(Duration.ofSeconds(5), () -> story.handledSince(then, story.tokens().keySet()));
		assertThat(story.tokens())
			.allSatisfy((shard, token) -> assertThat(token).isGreaterThanOrEqualTo(old.get(shard)));
	}

}
