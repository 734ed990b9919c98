package io.github.shardkeeper.coordination;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LoopThreadsTests {

	private static final Duration STALL_LIMIT = Duration.ofMillis(200);

	private final BlockingQueue<String> metered = new LinkedBlockingQueue<>();

	private final LoopThreads loops = new LoopThreads(MonotonicClock.SYSTEM, new LoopMeters() {

		@Override
		public void failed(String loop) {
			LoopThreadsTests.this.metered.add(loop + " failed");
		}

		@Override
		public void stalled(String loop) {
			LoopThreadsTests.this.metered.add(loop + " stalled");
		}

	}, STALL_LIMIT);

	private Loops.Loop loop;

	@AfterEach
	void close() {
		this.loop.close();
	}

	@Test
	void aStepRunsAgainWhenItSaidOrWhenWoken() throws InterruptedException {
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
	void aWakeDuringAStepMakesAnotherFollow() throws InterruptedException {
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
	void aStepThatThrowsIsCountedAndRepeated() throws InterruptedException {
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
	void aStepThatHangsIsReportedAndInterruptedAndRepeated() throws InterruptedException {
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
	void aStepThatIgnoresTheInterruptStaysAProblem() throws InterruptedException {
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

}
