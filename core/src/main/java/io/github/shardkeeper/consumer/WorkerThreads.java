package io.github.shardkeeper.consumer;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;

import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

import io.github.shardkeeper.loop.BoundedExecutor;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Threads that handlers run on: a virtual thread for each turn of a worker, or a bounded
 * pool for the turns of all workers. Immutable.
 *
 * @param poolSize the size of the pool if threads are not virtual
 */
public record WorkerThreads(boolean virtual, int poolSize) {

	private static final Logger logger = PrintableLogger.of(WorkerThreads.class);

	private static final String NAME_PREFIX = "shardkeeper-worker-";

	private static final int IDLE_SECONDS = 30;

	/** Preparations are only hints: they get at most a quarter of the threads. */
	private static final int THREADS_PER_PREPARATION = 4;

	Running start() {
		if (this.virtual) {
			Executor executor = new VirtualThreadTaskExecutor(NAME_PREFIX);
			return new Running(executor, executor, () -> {
			});
		}
		CustomizableThreadFactory threads = new CustomizableThreadFactory(NAME_PREFIX);
		threads.setDaemon(true);
		ThreadPoolExecutor pool = new ThreadPoolExecutor(this.poolSize, this.poolSize, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads);
		pool.allowCoreThreadTimeOut(true);
		// Many shards are assigned together, and would wait for their threads.
		prestart(pool);
		return new Running(pool, new BoundedExecutor(pool, Math.max(1, this.poolSize / THREADS_PER_PREPARATION)),
				pool::shutdown);
	}

	private static void prestart(ThreadPoolExecutor pool) {
		try {
			pool.prestartAllCoreThreads();
		}
		catch (OutOfMemoryError ex) {
			// More may be available when they are needed.
			logger.debug("Not all of {} threads could be started", pool.getCorePoolSize(), ex);
		}
	}

	/**
	 * Running threads.
	 *
	 * @param preparing runs preparations, on a part of the threads
	 * @param shutdown ends the threads; called after every worker has ended
	 */
	record Running(Executor executor, Executor preparing, Runnable shutdown) {

	}

}
