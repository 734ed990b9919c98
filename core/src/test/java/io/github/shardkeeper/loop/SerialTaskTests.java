package io.github.shardkeeper.loop;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@Promise("Automatic recovery")
class SerialTaskTests {

	private static final int WAKERS = 4;

	private static final int WAKES = 50_000;

	private final Deque<Runnable> submitted = new ArrayDeque<>();

	@Test
	void manyWakesCauseOneTurn() {
		AtomicInteger turns = new AtomicInteger();
		SerialTask task = new SerialTask(this.submitted::add, () -> {
			turns.incrementAndGet();
			return false;
		}, SerialTaskTests::unexpected);
		assertThat(this.submitted).isEmpty();
		task.wake();
		task.wake();

		assertThat(this.submitted).hasSize(1);
		this.submitted.remove().run();
		assertThat(turns).hasValue(1);
		assertThat(this.submitted).isEmpty();
		task.wake();
		assertThat(this.submitted).hasSize(1);
	}

	@Test
	void taskSleepsFromItsLastTurnToTheNextWake() {
		Long[] during = { 0L };
		SerialTask[] task = new SerialTask[1];
		task[0] = new SerialTask(this.submitted::add, () -> {
			during[0] = task[0].sleep();
			return false;
		}, SerialTaskTests::unexpected);
		Long first = task[0].sleep();
		assertThat(first).isNotNull();

		task[0].wake();
		assertThat(task[0].sleep()).as("a turn is requested").isNull();
		this.submitted.remove().run();

		assertThat(during[0]).as("a turn runs").isNull();
		assertThat(task[0].sleep()).isNotNull().isNotEqualTo(first).isEqualTo(task[0].sleep());
	}

	@Test
	void threadIsReleasedBetweenTurns() {
		AtomicInteger left = new AtomicInteger(3);
		SerialTask task = new SerialTask(this.submitted::add, () -> left.decrementAndGet() > 0,
				SerialTaskTests::unexpected);
		task.wake();

		for (int turn = 1; turn <= 3; turn++) {
			assertThat(this.submitted).hasSize(1);
			this.submitted.remove().run();
			assertThat(left).hasValue(3 - turn);
		}
		assertThat(this.submitted).isEmpty();
	}

	@Test
	void wakeDuringATurnCausesAnother() {
		AtomicInteger turns = new AtomicInteger();
		SerialTask[] task = new SerialTask[1];
		task[0] = new SerialTask(this.submitted::add, () -> {
			if (turns.incrementAndGet() == 1) {
				task[0].wake();
			}
			return false;
		}, SerialTaskTests::unexpected);
		task[0].wake();
		this.submitted.remove().run();

		assertThat(this.submitted).hasSize(1);
		this.submitted.remove().run();
		assertThat(this.submitted).isEmpty();
		assertThat(turns).hasValue(2);
	}

	@Test
	@Promise("Order")
	void neverRunsConcurrentlyAndLosesNoWake() throws InterruptedException {
		ExecutorService pool = Executors.newFixedThreadPool(WAKERS);
		ExecutorService wakers = Executors.newFixedThreadPool(WAKERS);
		AtomicInteger work = new AtomicInteger();
		AtomicInteger running = new AtomicInteger();
		AtomicInteger mostAtATime = new AtomicInteger();
		// Without synchronization: turns must see what earlier turns wrote.
		int[] done = { 0 };
		SerialTask task = new SerialTask(pool, () -> {
			mostAtATime.accumulateAndGet(running.incrementAndGet(), Math::max);
			done[0] += work.getAndSet(0);
			running.decrementAndGet();
			return false;
		}, SerialTaskTests::unexpected);
		CountDownLatch finished = new CountDownLatch(WAKERS);
		for (int i = 0; i < WAKERS; i++) {
			wakers.execute(() -> {
				for (int wake = 0; wake < WAKES; wake++) {
					work.incrementAndGet();
					task.wake();
				}
				finished.countDown();
			});
		}
		assertThat(finished.await(30, TimeUnit.SECONDS)).isTrue();
		await().until(() -> work.get() == 0 && running.get() == 0);
		pool.shutdown();
		wakers.shutdown();

		assertThat(pool.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
		assertThat(done[0]).isEqualTo(WAKERS * WAKES);
		assertThat(mostAtATime).hasValue(1);
	}

	@Test
	void refusalIsReportedAndTheNextWakeTriesAgain() {
		AtomicInteger turns = new AtomicInteger();
		AtomicInteger refusals = new AtomicInteger();
		AtomicInteger attempts = new AtomicInteger();
		SerialTask task = new SerialTask((turn) -> {
			if (attempts.incrementAndGet() <= 2) {
				throw new RejectedExecutionException("no thread");
			}
			turn.run();
		}, () -> turns.incrementAndGet() < 0, (refusal) -> refusals.incrementAndGet());
		task.wake();
		task.wake();
		assertThat(refusals).hasValue(2);
		assertThat(turns).hasValue(0);

		task.wake();
		assertThat(turns).hasValue(1);
	}

	@Test
	void turnContinuesOnItsThreadWhenNoOtherIsAvailable() {
		AtomicInteger left = new AtomicInteger(3);
		AtomicInteger attempts = new AtomicInteger();
		SerialTask task = new SerialTask((turn) -> {
			if (attempts.incrementAndGet() > 1) {
				throw new RejectedExecutionException("shut down");
			}
			this.submitted.add(turn);
		}, () -> left.decrementAndGet() > 0, SerialTaskTests::unexpected);
		task.wake();
		this.submitted.remove().run();

		assertThat(left).hasValue(0);
	}

	/** Also out of whatever the turn does about its failures. */
	@Test
	void failedTurnIsFollowedByOthers() {
		AtomicInteger turns = new AtomicInteger();
		SerialTask task = new SerialTask(this.submitted::add, () -> {
			if (turns.incrementAndGet() == 1) {
				throw new InternalError("unable to create native thread, caused by the test");
			}
			return false;
		}, SerialTaskTests::unexpected);
		task.wake();
		this.submitted.remove().run();
		assertThat(this.submitted).isEmpty();

		task.wake();
		assertThat(this.submitted).hasSize(1);
		this.submitted.remove().run();
		assertThat(turns).hasValue(2);
	}

	@Test
	void rescueRepeatsAFailedTurn() {
		AtomicInteger turns = new AtomicInteger();
		SerialTask task = new SerialTask(this.submitted::add, () -> {
			if (turns.incrementAndGet() == 1) {
				throw new InternalError("caused by the test");
			}
			return false;
		}, SerialTaskTests::unexpected);
		task.rescue();
		assertThat(this.submitted).as("nothing to rescue").isEmpty();
		task.wake();
		this.submitted.remove().run();
		task.rescue();
		assertThat(this.submitted).hasSize(1);
		this.submitted.remove().run();
		task.rescue();

		assertThat(turns).hasValue(2);
		assertThat(this.submitted).isEmpty();
	}

	@Test
	void failureToReportARefusalDelaysNothing() {
		AtomicInteger turns = new AtomicInteger();
		AtomicInteger attempts = new AtomicInteger();
		SerialTask task = new SerialTask((turn) -> {
			if (attempts.incrementAndGet() == 1) {
				throw new IllegalStateException("caused by the test");
			}
			turn.run();
		}, () -> turns.incrementAndGet() < 0, (refusal) -> {
			throw new InternalError("no thread for a timer either, caused by the test");
		});
		task.wake();
		assertThat(turns).hasValue(0);

		task.rescue();
		assertThat(turns).hasValue(1);
	}

	/** Behaves like a pool that has queued a task but cannot create a thread for it. */
	@Test
	void executorThatThrowsButKeepsTheTurnRunsItOnce() {
		AtomicInteger turns = new AtomicInteger();
		AtomicInteger attempts = new AtomicInteger();
		SerialTask task = new SerialTask((turn) -> {
			this.submitted.add(turn);
			if (attempts.incrementAndGet() == 1) {
				throw new InternalError("caused by the test");
			}
		}, () -> turns.incrementAndGet() < 0, (refusal) -> {
		});
		task.wake();
		task.wake();
		assertThat(this.submitted).hasSize(2);
		this.submitted.remove().run();
		assertThat(turns).as("the one that counts is the second").hasValue(0);
		this.submitted.remove().run();
		assertThat(turns).hasValue(1);
	}

	private static void unexpected(Throwable refusal) {
		throw new AssertionError(refusal);
	}

}
