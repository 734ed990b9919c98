package io.github.shardkeeper.consumer;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

import io.github.shardkeeper.loop.BoundedExecutor;

/**
 * Threads that handlers run on: a virtual thread for each turn of a worker, or a bounded
 * pool for the turns of all workers, which has no thread before its first task.
 * Immutable.
 *
 * @param poolSize the size of the pool if threads are not virtual
 * @param namePrefix the beginning of their names, which ends with a number
 */
public record WorkerThreads(boolean virtual, int poolSize, String namePrefix) {

	private static final int IDLE_SECONDS = 30;

	/** Preparations are only hints: they get at most a quarter of the threads. */
	private static final int THREADS_PER_PREPARATION = 4;

	Pool open() {
		if (this.virtual) {
			Executor executor = new VirtualThreadTaskExecutor(this.namePrefix);
			return new Pool(executor, executor, () -> {
			});
		}
		ThreadPoolExecutor pool = pool();
		return new Pool(pool, new BoundedExecutor(pool, Math.max(1, this.poolSize / THREADS_PER_PREPARATION)),
				pool::shutdown);
	}

	/**
	 * Creates a pool that starts a thread only for a task that no idle thread takes. On
	 * its own, a pool would start all of its core threads although others are idle, or
	 * none above them before its queue is full.
	 */
	private ThreadPoolExecutor pool() {
		CustomizableThreadFactory threads = new CustomizableThreadFactory(this.namePrefix);
		threads.setDaemon(true);
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, this.poolSize, IDLE_SECONDS, TimeUnit.SECONDS,
				new IdleThreadsFirst(), threads, WorkerThreads::waitForAThread);
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	/** Keeps a task for the first thread that is free; all of them are started. */
	private static void waitForAThread(Runnable task, ThreadPoolExecutor pool) {
		if (!pool.isShutdown()) {
			((IdleThreadsFirst) pool.getQueue()).put(task);
			// If the threads have ended since they were all busy.
			pool.prestartCoreThread();
			if (!pool.isShutdown() || !pool.remove(task)) {
				return;
			}
		}
		throw new RejectedExecutionException("The threads of the workers have ended");
	}

	/**
	 * An open pool.
	 *
	 * @param preparing runs preparations, on a part of the threads
	 */
	record Pool(Executor executor, Executor preparing, Runnable end) {

	}

	/** Queue that takes a task at once only if an idle thread waits for it. */
	@SuppressWarnings("serial")
	private static final class IdleThreadsFirst extends LinkedTransferQueue<Runnable> {

		@Override
		public boolean offer(Runnable task) {
			return tryTransfer(task);
		}

	}

}
