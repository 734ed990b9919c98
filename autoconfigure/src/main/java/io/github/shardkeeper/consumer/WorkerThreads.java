package io.github.shardkeeper.consumer;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * The threads that handlers run on: a virtual thread for each turn of a shard's worker,
 * or a bounded pool that the shards share turn by turn. Immutable.
 *
 * @param virtual whether to use virtual threads
 * @param poolSize the size of the pool where they are not used
 */
public record WorkerThreads(boolean virtual, int poolSize) {

	private static final String NAME_PREFIX = "shardkeeper-worker-";

	private static final int IDLE_SECONDS = 30;

	Running start() {
		if (this.virtual) {
			// A thread per task: there is nothing to shut down.
			return new Running(new VirtualThreadTaskExecutor(NAME_PREFIX), () -> {
			});
		}
		CustomizableThreadFactory threads = new CustomizableThreadFactory(NAME_PREFIX);
		threads.setDaemon(true);
		ThreadPoolExecutor pool = new ThreadPoolExecutor(this.poolSize, this.poolSize, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads);
		pool.allowCoreThreadTimeOut(true);
		return new Running(pool, pool::shutdown);
	}

	/**
	 * Running threads.
	 *
	 * @param executor runs tasks on them
	 * @param shutdown ends them once their tasks are done
	 */
	record Running(Executor executor, Runnable shutdown) {

	}

}
