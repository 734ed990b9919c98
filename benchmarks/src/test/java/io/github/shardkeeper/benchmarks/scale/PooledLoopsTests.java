package io.github.shardkeeper.benchmarks.scale;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.shardkeeper.loop.Loops.Loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A step that fails is tried again, and not forgotten.
 */
@Timeout(60)
class PooledLoopsTests {

	private static final long PATIENCE_SECONDS = 30;

	private final PooledLoops loops = new PooledLoops(1);

	@AfterEach
	void close() {
		this.loops.close();
	}

	@Test
	void stepsThatGoWellAreNoFailure() throws Exception {
		CountDownLatch steps = new CountDownLatch(1);
		Loop loop = this.loops.start("well", () -> {
			steps.countDown();
			return null;
		});

		assertThat(steps.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
		loop.close();
		assertThatCode(this.loops::verify).doesNotThrowAnyException();
	}

	@Test
	void errorIsCountedAndItsLoopContinues() throws Exception {
		AtomicInteger steps = new AtomicInteger();
		CountDownLatch wentOn = new CountDownLatch(1);
		Loop loop = this.loops.start("badly", () -> {
			switch (steps.incrementAndGet()) {
				case 1 -> throw new StackOverflowError("deep");
				case 2 -> throw new IllegalArgumentException("wrong");
				default -> wentOn.countDown();
			}
			return null;
		});

		assertThat(wentOn.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
		loop.close();
		assertThatIllegalStateException().isThrownBy(this.loops::verify)
			.withMessage("2 steps of members failed, the first with java.lang.StackOverflowError: deep")
			.withCauseInstanceOf(StackOverflowError.class);
	}

	@Test
	void failedStepOfAClosedLoopIsNoFailure() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch interrupted = new CountDownLatch(1);
		Loop loop = this.loops.start("closed", () -> {
			begun.countDown();
			try {
				new CountDownLatch(1).await();
			}
			finally {
				interrupted.countDown();
			}
			return null;
		});
		assertThat(begun.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();

		Thread.currentThread().interrupt();
		// Does not wait for the step, because it is interrupted itself.
		loop.close();
		assertThat(Thread.interrupted()).isTrue();
		this.loops.close();

		assertThat(interrupted.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
		// Waits for the end of the step, which is after its failure was looked at.
		loop.close();
		assertThatCode(this.loops::verify).doesNotThrowAnyException();
	}

}
