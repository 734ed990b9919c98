package io.github.shardkeeper.consumer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TransferQueue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import io.github.shardkeeper.loop.BoundedExecutor;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.worker.ManualThreads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@Isolated("a logger whose appender fails is that of all tests, and simulations switch it off")
class WorkerThreadsTests {

	@Test
	void namesOfThreadsBeginWithThePrefix() throws Exception {
		WorkerThreads.Pool threads = new WorkerThreads(false, 1, "orders-").open();
		CompletableFuture<String> name = new CompletableFuture<>();
		threads.executor().execute(() -> name.complete(Thread.currentThread().getName()));

		assertThat(name.get(20, TimeUnit.SECONDS)).isEqualTo("orders-1");
		threads.end().run();
	}

	@Test
	void blockedPreparationsLeaveMostOfThePoolToHandlers() throws InterruptedException {
		WorkerThreads.Pool threads = new WorkerThreads(false, 8, "worker-").open();
		Semaphore begun = new Semaphore(0);
		Semaphore mayEnd = new Semaphore(0);
		CountDownLatch handlers = new CountDownLatch(6);
		try {
			for (int i = 0; i < 8; i++) {
				threads.preparing().execute(() -> {
					begun.release();
					mayEnd.acquireUninterruptibly();
				});
			}
			for (int i = 0; i < 6; i++) {
				threads.executor().execute(() -> {
					handlers.countDown();
					awaitAll(handlers);
				});
			}
			assertThat(handlers.await(10, TimeUnit.SECONDS)).as("six handlers at a time").isTrue();
			assertThat(begun.tryAcquire(2, 10, TimeUnit.SECONDS)).isTrue();
			mayEnd.release(8);
			assertThat(begun.tryAcquire(6, 10, TimeUnit.SECONDS)).as("the others, one after the other").isTrue();
		}
		finally {
			mayEnd.release(8);
			threads.end().run();
		}
	}

	@Test
	void noThreadIsStartedBeforeTheFirstTask() {
		WorkerThreads.Pool threads = new WorkerThreads(false, 8, "worker-").open();
		ThreadPoolExecutor pool = pool(threads);
		try {
			assertThat(pool.getPoolSize()).isZero();
		}
		finally {
			threads.end().run();
		}
		assertThat(pool.isTerminated()).as("nothing to wait for").isTrue();
	}

	@Test
	void idleThreadTakesTheNextTask() throws InterruptedException {
		WorkerThreads.Pool threads = new WorkerThreads(false, 8, "worker-").open();
		ThreadPoolExecutor pool = pool(threads);
		try {
			for (int i = 0; i < 20; i++) {
				CountDownLatch done = new CountDownLatch(1);
				threads.executor().execute(done::countDown);
				assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
				await().until(((TransferQueue<?>) pool.getQueue())::hasWaitingConsumer);
			}
			assertThat(pool.getPoolSize()).isOne();
		}
		finally {
			threads.end().run();
		}
	}

	@Test
	void tasksWaitOnlyIfAllThreadsAreBusy() throws InterruptedException {
		WorkerThreads.Pool threads = new WorkerThreads(false, 4, "worker-").open();
		Semaphore begun = new Semaphore(0);
		Semaphore mayEnd = new Semaphore(0);
		try {
			for (int i = 0; i < 10; i++) {
				threads.executor().execute(() -> {
					begun.release();
					mayEnd.acquireUninterruptibly();
				});
			}
			assertThat(begun.tryAcquire(4, 10, TimeUnit.SECONDS)).as("as many as there are threads").isTrue();
			assertThat(pool(threads).getPoolSize()).isEqualTo(4);
			assertThat(pool(threads).getQueue()).hasSize(6);
			mayEnd.release(10);
			assertThat(begun.tryAcquire(6, 10, TimeUnit.SECONDS)).as("the others").isTrue();
		}
		finally {
			mayEnd.release(10);
			threads.end().run();
		}
	}

	@Test
	void taskIsRefusedOnceTheThreadsHaveEnded() {
		WorkerThreads.Pool threads = new WorkerThreads(false, 1, "worker-").open();
		threads.end().run();
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> threads.executor().execute(() -> {
		}));
	}

	@Test
	void poolOfOneThreadRunsPreparations() throws InterruptedException {
		WorkerThreads.Pool threads = new WorkerThreads(false, 1, "worker-").open();
		try {
			CountDownLatch prepared = new CountDownLatch(1);
			threads.preparing().execute(prepared::countDown);
			assertThat(prepared.await(10, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			threads.end().run();
		}
	}

	@Test
	void waitingTasksStartInOrder() {
		ManualThreads threads = new ManualThreads(new SettableClock());
		BoundedExecutor bounded = new BoundedExecutor(threads, 1);
		List<String> begun = new ArrayList<>();
		bounded.execute(() -> begun.add("first"));
		bounded.execute(() -> begun.add("second"));
		threads.runOne();
		assertThat(begun).containsExactly("first");
		threads.runAll();
		assertThat(begun).containsExactly("first", "second");

		bounded.execute(() -> begun.add("third"));
		threads.runAll();
		assertThat(begun).endsWith("third");
	}

	@Test
	@Promise("Automatic recovery")
	void taskThatThrowsReleasesItsPlace() {
		ManualThreads threads = new ManualThreads(new SettableClock());
		BoundedExecutor bounded = new BoundedExecutor(threads, 1);
		List<String> begun = new ArrayList<>();
		bounded.execute(() -> {
			throw new InternalError("caused by the test");
		});
		bounded.execute(() -> begun.add("second"));
		threads.runAll();
		bounded.execute(() -> begun.add("third"));
		threads.runAll();

		assertThat(begun).containsExactly("second", "third");
	}

	@Test
	@Promise("Automatic recovery")
	void taskThatThrowsReleasesItsPlaceEvenIfLoggingFails() {
		ManualThreads threads = new ManualThreads(new SettableClock());
		BoundedExecutor bounded = new BoundedExecutor(threads, 1);
		List<String> begun = new ArrayList<>();
		Logger logger = (Logger) LoggerFactory.getLogger(BoundedExecutor.class);
		List<String> logged = new ArrayList<>();
		AppenderBase<ILoggingEvent> failing = new AppenderBase<>() {

			@Override
			protected void append(ILoggingEvent event) {
				logged.add(event.getFormattedMessage());
				throw new InternalError("no appender, caused by the test");
			}

		};
		failing.start();
		logger.addAppender(failing);
		try {
			bounded.execute(() -> {
				throw new InternalError("caused by the test");
			});
			threads.runAll();
		}
		finally {
			logger.detachAppender(failing);
			failing.stop();
		}
		assertThat(logged).hasSize(1);
		bounded.execute(() -> begun.add("second"));
		threads.runAll();

		assertThat(begun).containsExactly("second");
	}

	@Test
	@Promise("Automatic recovery")
	void waitingTaskStartsEvenIfTheExecutorThrows() {
		ManualThreads threads = new ManualThreads(new SettableClock());
		BoundedExecutor bounded = new BoundedExecutor(threads, 1);
		List<String> begun = new ArrayList<>();
		bounded.execute(() -> begun.add("first"));
		bounded.execute(() -> begun.add("second"));
		threads.refuseNext((turn) -> {
		});
		threads.runAll();
		bounded.execute(() -> begun.add("third"));
		threads.runAll();

		assertThat(begun).containsExactly("first", "second", "third");
	}

	/** Behaves like a pool that has queued a task but cannot create a thread for it. */
	@Test
	void executorThatThrowsAndKeepsATaskDoesNotExceedTheLimit() {
		ManualThreads threads = new ManualThreads(new SettableClock());
		BoundedExecutor bounded = new BoundedExecutor(threads, 1);
		List<String> begun = new ArrayList<>();
		threads.refuseAndKeepNext();
		assertThatExceptionOfType(InternalError.class).isThrownBy(() -> bounded.execute(() -> begun.add("refused")));
		bounded.execute(() -> {
			begun.add("first");
			threads.runAll();
			begun.add("first ends");
		});
		bounded.execute(() -> begun.add("second"));
		threads.runAll();
		assertThat(begun).containsExactly("first", "first ends", "second");

		bounded.execute(() -> begun.add("third"));
		threads.runAll();
		assertThat(begun).endsWith("third");
	}

	@Test
	void executorThatThrowsAfterItHasRunATaskHasNotRejectedIt() {
		ManualThreads threads = new ManualThreads(new SettableClock());
		BoundedExecutor bounded = new BoundedExecutor(threads, 1);
		List<String> begun = new ArrayList<>();
		threads.refuseNext(Runnable::run);
		bounded.execute(() -> begun.add("first"));
		bounded.execute(() -> begun.add("second"));
		threads.runAll();

		assertThat(begun).containsExactly("first", "second");
	}

	@Test
	void rejectedTaskReleasesItsPlace() {
		List<Runnable> accepted = new ArrayList<>();
		boolean[] refuses = { true };
		BoundedExecutor bounded = new BoundedExecutor((task) -> {
			if (refuses[0]) {
				throw new RejectedExecutionException("caused by the test");
			}
			accepted.add(task);
		}, 1);
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> bounded.execute(() -> {
		}));

		refuses[0] = false;
		bounded.execute(() -> {
		});
		assertThat(accepted).hasSize(1);
	}

	private static ThreadPoolExecutor pool(WorkerThreads.Pool threads) {
		return (ThreadPoolExecutor) threads.executor();
	}

	private static void awaitAll(CountDownLatch latch) {
		try {
			assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
