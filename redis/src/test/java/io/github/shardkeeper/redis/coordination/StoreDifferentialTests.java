package io.github.shardkeeper.redis.coordination;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.testsupport.MoreInProof;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.Schedules;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The memory store and Redis do the same, whatever is done to them: everything that is
 * proven on the one holds on the other. To see a failure again, set {@value #SEED} to the
 * seed that it names; {@value #OPERATIONS} makes a run longer.
 */
@MoreInProof
@Promise("Restarts in place")
class StoreDifferentialTests {

	private static final String SEED = "shardkeeper.differential.seed";

	private static final String OPERATIONS = "shardkeeper.differential.operations";

	private static final int LOGGED = 15;

	@Test
	void redisAndMemoryStoreBehaveAlike() {
		long seed = Long.getLong(SEED, ThreadLocalRandom.current().nextLong());
		int operations = Schedules.count(OPERATIONS, 1_000, 10_000);
		Deque<String> log = new ArrayDeque<>();
		try (StorePair stores = new StorePair(UUID.randomUUID().toString())) {
			RandomOperations random = new RandomOperations(seed, stores);
			for (int i = 0; i < operations; i++) {
				try {
					random.next();
				}
				catch (AssertionError | RuntimeException ex) {
					throw new AssertionError("Operation %d of seed %d (-D%s=%d): %s%nbefore it, latest first:%n%s"
						.formatted(i, seed, SEED, seed, random.last(), String.join("\n", log)), ex);
				}
				log.addFirst(random.last());
				while (log.size() > LOGGED) {
					log.removeLast();
				}
			}
			System.out.printf("%d operations on both stores, seed %d: %s%n", operations, seed, random.outcomes());
			if (operations >= 10_000) {
				assertThat(random.outcomes()).containsKeys("Acquired", "Applied", "Deposed", "Refused", "alive",
						"claims DEPOSED", "claims ENDED", "claims OPEN", "claims granted", "claims refused",
						"presentations granted", "presentations refused", "clock set back", "commit COMMITTED",
						"commit GONE", "commit STALE", "completion COMPLETED", "completion GONE", "completion PENDING",
						"completion STALE", "conflicts", "dead", "dropped", "emptied", "expired", "forgotten",
						"load reported", "loads read", "lost", "more to reap", "more to tell", "no leader", "no seek",
						"no timers", "not forgotten", "not forgotten yet", "not sent back: completed", "not subscribed",
						"nothing due", "nudged", "phase COMPLETED", "phase FREE", "phase OWNED", "phase QUIET",
						"phase REVOKING", "published", "release RELEASED", "release STALE", "seek requested",
						"sent back", "slow", "something due", "state lost", "state read", "claim period", "timed out",
						"timers", "writes lost");
			}
		}
	}

}
