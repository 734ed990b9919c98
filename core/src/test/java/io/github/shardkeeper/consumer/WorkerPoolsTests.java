package io.github.shardkeeper.consumer;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class WorkerPoolsTests {

	private final WorkerPools pools = new WorkerPools();

	@Test
	void groupsWithTheSameThreadsShareThem() throws Exception {
		ConsumerRuntime.Running orders = start(new WorkerThreads(false, 1, "worker-"));
		ConsumerRuntime.Running visits = start(new WorkerThreads(false, 1, "worker-"));
		ConsumerRuntime.Running billing = start(new WorkerThreads(false, 1, "billing-"));
		try {
			CompletableFuture<Thread> next = new CompletableFuture<>();
			CompletableFuture<Thread> thread = CompletableFuture.supplyAsync(() -> {
				// Waits for this thread, which is never idle then.
				visits.executor().execute(() -> next.complete(Thread.currentThread()));
				return Thread.currentThread();
			}, orders.executor());

			assertThat(next.get(20, TimeUnit.SECONDS)).isSameAs(thread.get(20, TimeUnit.SECONDS));
			assertThat(threadOf(billing).getName()).isEqualTo("billing-1");
			assertThat(visits.timer()).isNotSameAs(orders.timer());
		}
		finally {
			end(orders);
			end(visits);
			end(billing);
		}
	}

	@Test
	void groupThatEndsLeavesThemToTheOthers() throws Exception {
		ConsumerRuntime.Running orders = start(new WorkerThreads(false, 1, "worker-"));
		ConsumerRuntime.Running visits = start(new WorkerThreads(false, 1, "worker-"));

		end(orders);
		end(orders);

		assertRefused(orders);
		assertThat(orders.timer().isShutdown()).isTrue();
		Thread thread = threadOf(visits);
		assertThat(visits.timer().isShutdown()).isFalse();

		end(visits);

		assertRefused(visits);
		thread.join(TimeUnit.SECONDS.toMillis(20));
		assertThat(thread.isAlive()).as("ends with the last group").isFalse();
	}

	@Test
	void groupThatStartsAgainDoesNotWaitForCallsThatHang() throws Exception {
		ConsumerRuntime.Running orders = start(new WorkerThreads(false, 1, "worker-"));
		CompletableFuture<Void> mayReturn = new CompletableFuture<>();
		CompletableFuture<Void> hanging = CompletableFuture.runAsync(mayReturn::join, orders.executor());
		orders.retire().run();

		ConsumerRuntime.Running again = start(new WorkerThreads(false, 1, "worker-"));
		ConsumerRuntime.Running visits = start(new WorkerThreads(false, 1, "worker-"));
		try {
			assertThat(threadOf(again)).isNotNull();
			assertThat(threadOf(visits)).isNotNull();
			assertThat(hanging).isNotDone();
		}
		finally {
			mayReturn.complete(null);
			hanging.get(20, TimeUnit.SECONDS);
			orders.shutdown().run();
			assertThat(threadOf(again)).as("of another pool").isNotNull();
			end(again);
			end(visits);
		}
	}

	private ConsumerRuntime.Running start(WorkerThreads threads) {
		return this.pools.of(threads).start();
	}

	private static void end(ConsumerRuntime.Running running) {
		running.retire().run();
		running.shutdown().run();
	}

	private static Thread threadOf(ConsumerRuntime.Running running) throws Exception {
		return CompletableFuture.supplyAsync(Thread::currentThread, running.executor()).get(20, TimeUnit.SECONDS);
	}

	private static void assertRefused(ConsumerRuntime.Running running) {
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> running.executor().execute(() -> {
		}));
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> running.preparing().execute(() -> {
		}));
	}

}
