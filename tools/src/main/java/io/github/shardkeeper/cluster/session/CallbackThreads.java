package io.github.shardkeeper.cluster.session;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * The threads on which cluster tools run the code of the application: virtual ones, or a
 * pool without idle threads. It is no {@link Executor}: as a bean it would take the place
 * of the application's own in everything that looks for one. Thread-safe.
 */
public final class CallbackThreads implements AutoCloseable {

	private static final String NAME_PREFIX = "shardkeeper-callback-";

	/** Callbacks that wait for each other, for example at a barrier, need many. */
	private static final int POOL_SIZE = 32;

	private static final int IDLE_SECONDS = 30;

	private final Executor executor;

	private final Runnable shutdown;

	/** Creates it without a thread. */
	public CallbackThreads(boolean virtual) {
		if (virtual) {
			this.executor = new VirtualThreadTaskExecutor(NAME_PREFIX);
			this.shutdown = () -> {
			};
			return;
		}
		CustomizableThreadFactory threads = new CustomizableThreadFactory(NAME_PREFIX);
		threads.setDaemon(true);
		ThreadPoolExecutor pool = new ThreadPoolExecutor(POOL_SIZE, POOL_SIZE, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads);
		pool.allowCoreThreadTimeOut(true);
		this.executor = pool;
		this.shutdown = pool::shutdownNow;
	}

	/** Runs a task, which may block. */
	public void execute(Runnable task) {
		this.executor.execute(task);
	}

	/** Interrupts the threads of the pool and ends it. */
	@Override
	public void close() {
		this.shutdown.run();
	}

}
