package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.awaitility.Awaitility.await;

/**
 * Sends with retries and with ids while Redis is killed, started again on its data, and
 * frozen. The chaos run has them, too.
 */
@Tag("proof")
@Promise("Sent once")
class SentOnceTests {

	private static final Duration PATIENCE = Duration.ofSeconds(120);

	@TempDir
	private Path data;

	@Test
	void eachNumberIsInItsStreamOnceWhateverHappensToRedis() {
		try (EmbeddedRedis redis = EmbeddedRedis.start("--appendonly", "yes", "--appendfsync", "no", "--dir",
				this.data.toString()); SentOnce sends = new SentOnce(redis)) {
			for (int i = 0; i < 3; i++) {
				awaitMoreRounds(sends);
				redis.kill();
				redis.restart();
				awaitMoreRounds(sends);
			}
			redis.freeze();
			try {
				long before = sends.rounds();
				await().during(Duration.ofSeconds(6)).atMost(PATIENCE).until(() -> sends.rounds() <= before + 1);
			}
			finally {
				redis.thaw();
			}
			awaitMoreRounds(sends);

			System.out.println(sends.stopAndCheck(PATIENCE));
		}
	}

	private static void awaitMoreRounds(SentOnce sends) {
		long before = sends.rounds();
		await().atMost(PATIENCE).until(() -> sends.rounds() >= before + 12);
	}

}
