package io.github.shardkeeper.loop;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Promise("Automatic recovery")
class LoopThreadsTests {

	private static final Duration STALL_LIMIT = Duration.ofMillis(200);

	private final BlockingQueue<String> metered = new LinkedBlockingQueue<>();

	/** Exception of the counter, {@code null} for none. */
	private volatile @Nullable Throwable failsWith;

	private final LoopThreads loops = new LoopThreads(MonotonicClock.SYSTEM, new LoopMeters() {

		@Override
		public void failed(String loop) {
			count(loop + " failed");
		}

		@Override
		public void stalled(String loop) {
			count(loop + " stalled");
		}

		private void count(String what) {
			LoopThreadsTests.this.metered.add(what);
			if (LoopThreadsTests.this.failsWith instanceof RuntimeException failure) {
				throw failure;
			}
			if (LoopThreadsTests.this.failsWith instanceof Error failure) {
				throw failure;
			}
		}

	}, STALL_LIMIT);

	private Loops.Loop loop;

	@AfterEach
	void close() {
		this.loop.close();
	}

	@Test
	void stepRunsAtItsDueTimeOrWhenWoken() throws InterruptedException {
		BlockingQueue<Integer> steps = new LinkedBlockingQueue<>();
		AtomicInteger count = new AtomicInteger();
		this.loop = this.loops.start("loop", () -> {
			int step = count.incrementAndGet();
			steps.add(step);
			return (step == 1) ? MonotonicClock.SYSTEM.now().plus(Duration.ofMillis(50)) : null;
		});

		assertThat(steps.poll(10, TimeUnit.SECONDS)).isEqualTo(1);
		assertThat(steps.poll(10, TimeUnit.SECONDS)).isEqualTo(2);
		assertThat(steps.poll(100, TimeUnit.MILLISECONDS)).isNull();
		this.loop.wake();
		assertThat(steps.poll(10, TimeUnit.SECONDS)).isEqualTo(3);
	}

	@Test
	void wakeDuringAStepCausesAnother() throws InterruptedException {
		BlockingQueue<Integer> steps = new LinkedBlockingQueue<>();
		CountDownLatch goOn = new CountDownLatch(1);
		this.loop = this.loops.start("loop", () -> {
			steps.add(1);
			goOn.await();
			return null;
		});
		assertThat(steps.poll(10, TimeUnit.SECONDS)).isEqualTo(1);

		this.loop.wake();
		goOn.countDown();

		assertThat(steps.poll(10, TimeUnit.SECONDS)).isEqualTo(1);
	}

	@Test
	void failedStepIsCountedAndRepeated() throws InterruptedException {
		AtomicInteger count = new AtomicInteger();
		CountDownLatch wellAgain = new CountDownLatch(1);
		this.loop = this.loops.start("loop", () -> {
			if (count.incrementAndGet() <= 2) {
				throw new AssertionError("made up");
			}
			assertThat(this.loops.problems()).containsKey("loop");
			wellAgain.countDown();
			return null;
		});

		assertThat(wellAgain.await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(this.metered).containsExactly("loop failed", "loop failed");
		Awaitility.await().until(() -> this.loops.problems().isEmpty());
	}

	@Test
	void failedStepIsRepeatedEvenIfItCannotBeCounted() throws InterruptedException {
		this.failsWith = new InternalError("caused by the test");
		assertIsRepeatedAfterPauses(new AssertionError("made up"));
		assertThat(this.metered).contains("loop failed", "loop failed", "loop failed");
	}

	@Test
	void failedStepIsRepeatedEvenIfItCannotBeLogged() throws InterruptedException {
		assertIsRepeatedAfterPauses(new Unprintable());
	}

	private void assertIsRepeatedAfterPauses(Error failure) throws InterruptedException {
		BlockingQueue<MonotonicTime> steps = new LinkedBlockingQueue<>();
		this.loop = this.loops.start("loop", () -> {
			steps.add(MonotonicClock.SYSTEM.now());
			throw failure;
		});

		MonotonicTime last = steps.poll(10, TimeUnit.SECONDS);
		for (long pauseMillis : new long[] { 50, 100, 200 }) {
			MonotonicTime next = steps.poll(10, TimeUnit.SECONDS);
			assertThat(next).as("the step after %d ms", pauseMillis).isNotNull();
			assertThat(last.until(next)).isGreaterThanOrEqualTo(Duration.ofMillis(pauseMillis));
			last = next;
		}
	}

	@Test
	void hangingStepIsReportedInterruptedAndRepeated() throws InterruptedException {
		AtomicInteger count = new AtomicInteger();
		CountDownLatch again = new CountDownLatch(1);
		this.loop = this.loops.start("loop", () -> {
			if (count.incrementAndGet() == 1) {
				new CountDownLatch(1).await();
			}
			again.countDown();
			return null;
		});

		assertThat(this.metered.poll(10, TimeUnit.SECONDS)).isEqualTo("loop stalled");
		assertThat(again.await(10, TimeUnit.SECONDS)).isTrue();
		Awaitility.await().until(() -> this.loops.problems().isEmpty());
	}

	@Test
	void hangingStepIsInterruptedEvenIfItCannotBeCounted() throws InterruptedException {
		this.failsWith = new InternalError("caused by the test");
		CountDownLatch interrupted = new CountDownLatch(1);
		this.loop = this.loops.start("loop", () -> {
			try {
				new CountDownLatch(1).await();
				return null;
			}
			finally {
				interrupted.countDown();
			}
		});

		assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void failingMetersEndNeitherALoopNorTheWatchdog() throws InterruptedException {
		this.failsWith = new IllegalArgumentException("There is a meter of another type, caused by the test");
		AtomicInteger count = new AtomicInteger();
		CountDownLatch wellAgain = new CountDownLatch(1);
		this.loop = this.loops.start("loop", () -> {
			switch (count.incrementAndGet()) {
				case 1 -> throw new AssertionError("made up");
				case 2, 3 -> new CountDownLatch(1).await();
				default -> wellAgain.countDown();
			}
			return null;
		});

		assertThat(wellAgain.await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(this.metered).startsWith("loop failed", "loop stalled");
	}

	@Test
	void stepThatIgnoresTheInterruptRemainsAProblem() throws InterruptedException {
		CountDownLatch stubborn = new CountDownLatch(1);
		this.loop = this.loops.start("loop", () -> {
			while (stubborn.getCount() > 0) {
				try {
					stubborn.await();
				}
				catch (InterruptedException ex) {
					this.metered.add("interrupted");
				}
			}
			return null;
		});

		assertThat(this.metered.poll(10, TimeUnit.SECONDS)).isEqualTo("loop stalled");
		assertThat(this.metered.poll(10, TimeUnit.SECONDS)).isEqualTo("interrupted");
		assertThat(this.loops.problems()).containsKey("loop");
		assertThat(this.metered.poll(10, TimeUnit.SECONDS)).as("again after another limit").isEqualTo("loop stalled");
		stubborn.countDown();
		Awaitility.await().until(() -> this.loops.problems().isEmpty());
	}

	@Test
	void watchdogWithoutAThreadIsStartedWithTheNextLoop() throws InterruptedException {
		AtomicInteger threads = new AtomicInteger();
		LoopThreads starved = new LoopThreads(MonotonicClock.SYSTEM, new LoopMeters() {

			@Override
			public void failed(String name) {
			}

			@Override
			public void stalled(String name) {
				LoopThreadsTests.this.metered.add(name + " stalled");
			}

		}, STALL_LIMIT, (task) -> (threads.incrementAndGet() > 1) ? new Thread(task) : new Thread(task) {

			@Override
			public synchronized void start() {
				throw new OutOfMemoryError("unable to create native thread, caused by the test");
			}

		});
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> starved.start("loop", () -> null));
		assertThat(starved.problems()).isEmpty();
		this.loop = starved.start("loop", () -> {
			new CountDownLatch(1).await();
			return null;
		});

		assertThat(this.metered.poll(10, TimeUnit.SECONDS)).isEqualTo("loop stalled");
	}

	/** Cannot be logged. */
	private static final class Unprintable extends Error {

		@Override
		public String getMessage() {
			throw new InternalError("caused by the test");
		}

	}

}
