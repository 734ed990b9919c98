package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ConnectionOpenerTests {

	/** More than may be pending at a time. */
	private static final int MANY = 100;

	@Test
	void attemptWithoutAThreadFailsAndIsNotPending() {
		AtomicInteger threads = new AtomicInteger();
		ConnectionOpener opener = new ConnectionOpener(
				(task) -> (threads.incrementAndGet() <= MANY) ? new Refused() : new Thread(task));

		for (int i = 0; i < MANY; i++) {
			assertThatExceptionOfType(RedisException.class).isThrownBy(() -> open(opener))
				.withMessageContaining("unable to create native thread");
		}
		assertThat(open(opener)).isEqualTo("open");
	}

	private static String open(ConnectionOpener opener) {
		return ConnectionOpener.await(opener.begin(() -> "open", (late) -> {
		}), (late) -> {
		}, Duration.ofSeconds(10), RedisException::new);
	}

	/** One that the system does not give. */
	private static final class Refused extends Thread {

		@Override
		public void start() {
			throw new OutOfMemoryError("unable to create native thread, caused by the test");
		}

	}

}
