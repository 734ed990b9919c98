package io.github.shardkeeper.worker.timer;

import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.checkpoint.TimerId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.entry;

class TimerBufferTests {

	private static final Instant AT = Instant.parse("2026-11-29T12:00:00Z");

	private final TimerBuffer timers = new TimerBuffer();

	@Test
	void lastChangeOfATimerCounts() {
		this.timers.set("ann", "remind", AT);
		this.timers.set("ann", "close", AT);
		this.timers.set("ann", "remind", AT.plusSeconds(1));
		this.timers.cancel("ann", "close");

		assertThat(this.timers.changes()).containsOnly(entry(new TimerId("ann", "remind"), AT.plusSeconds(1)),
				entry(new TimerId("ann", "close"), null));
	}

	@Test
	void timesAreRoundedUpToWholeMilliseconds() {
		this.timers.set("ann", "remind", AT.plusNanos(1));
		this.timers.set("bob", "remind", AT.plusMillis(7));

		assertThat(this.timers.changes().values()).containsExactlyInAnyOrder(AT.plusMillis(1), AT.plusMillis(7));
	}

	@Test
	void timesThatAreLongPastAreDueAtOnceAndThoseOfTheFarFutureAreRejected() {
		this.timers.set("ann", "remind", Instant.MIN);
		assertThat(this.timers.changes().values()).containsExactly(Instant.EPOCH);
		assertThatIllegalArgumentException().isThrownBy(() -> this.timers.set("ann", "remind", Instant.MAX))
			.withMessageContaining("'remind'")
			.withMessageContaining("9999");
	}

	@Test
	void keyAndNameMustNotBeEmpty() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.timers.set("", "remind", AT))
			.withMessageContaining("key");
		assertThatIllegalArgumentException().isThrownBy(() -> this.timers.cancel("ann", ""))
			.withMessageContaining("name");
	}

	@Test
	void oneCallChangesTenThousandTimersAtMost() {
		for (int i = 0; i < 10_000; i++) {
			this.timers.set("key" + i, "remind", AT);
		}
		this.timers.cancel("key0", "remind");

		assertThatIllegalArgumentException().isThrownBy(() -> this.timers.set("more", "remind", AT))
			.withMessageContaining("10,000")
			.withMessageContaining("batch-size");
	}

	@Test
	void savepointTakesBackWhatCameAfterIt() {
		this.timers.set("ann", "remind", AT);
		Runnable savepoint = this.timers.savepoint();
		this.timers.cancel("ann", "remind");
		this.timers.set("bob", "remind", AT);
		savepoint.run();

		assertThat(this.timers.changes()).containsOnly(entry(new TimerId("ann", "remind"), AT));
	}

	@Test
	void isConfinedToTheCallAndItsThread() {
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(CompletableFuture.runAsync(() -> this.timers.cancel("ann", "remind"))::join)
			.withMessageContaining("on that call's thread");
		this.timers.close();

		assertThatIllegalStateException().isThrownBy(() -> this.timers.set("ann", "remind", AT))
			.withMessageContaining("inside the call");
	}

}
