package io.github.shardkeeper.consumer;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

import io.github.shardkeeper.loop.BoundedExecutor;

/**
 * The threads that handlers run on: a virtual thread for each turn of a shard's worker,
 * or a bounded pool that the shards share turn by turn. Immutable.
 *
 * @param virtual whether to use virtual threads
 * @param poolSize the size of the pool where they are not used
 */
public record WorkerThreads(boolean virtual, int poolSize) {

	private static final Logger logger = LoggerFactory.getLogger(WorkerThreads.class);

	private static final String NAME_PREFIX = "shardkeeper-worker-";

	private static final int IDLE_SECONDS = 30;

	/** Preparations are only hints: they get one thread of so many at most. */
	private static final int PREPARING_PART = 4;

	Running start() {
		if (this.virtual) {
			// A thread per task: there is nothing to shut down.
			Executor executor = new VirtualThreadTaskExecutor(NAME_PREFIX);
			return new Running(executor, executor, () -> {
			});
		}
		CustomizableThreadFactory threads = new CustomizableThreadFactory(NAME_PREFIX);
		threads.setDaemon(true);
		ThreadPoolExecutor pool = new ThreadPoolExecutor(this.poolSize, this.poolSize, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads);
		pool.allowCoreThreadTimeOut(true);
		// Shards mostly come together, and stand still while threads are made for them.
		prestart(pool);
		return new Running(pool, new BoundedExecutor(pool, Math.max(1, this.poolSize / PREPARING_PART)),
				pool::shutdown);
	}

	private static void prestart(ThreadPoolExecutor pool) {
		try {
			pool.prestartAllCoreThreads();
		}
		catch (OutOfMemoryError ex) {
			// The system gives no more threads now; it may when there is something to do.
			logger.debug("Not all of {} threads could be started", pool.getCorePoolSize(), ex);
		}
	}

	/**
	 * Running threads.
	 *
	 * @param executor runs tasks on them
	 * @param preparing runs preparations on them, and leaves most to others
	 * @param shutdown ends them once their tasks are done; not before every worker has
	 * ended
	 */
	record Running(Executor executor, Executor preparing, Runnable shutdown) {

	}

}
