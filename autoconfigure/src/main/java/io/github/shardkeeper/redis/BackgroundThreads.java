package io.github.shardkeeper.redis;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * For what comes after an answer and takes too long for a connection's thread. Not the
 * JVM's common pool: what the application does there, blocking calls perhaps, would hold
 * up moves and failovers. Threads end when they are idle. Thread-safe.
 */
final class BackgroundThreads implements Executor {

	/** None of the tasks waits for more than a few answers, or for another task. */
	private static final int MOST = 4;

	private static final long IDLE_SECONDS = 30;

	private final ThreadPoolExecutor threads = new ThreadPoolExecutor(MOST, MOST, IDLE_SECONDS, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(), (task) -> {
				Thread thread = new Thread(task, "shardkeeper-background");
				thread.setDaemon(true);
				return thread;
			});

	BackgroundThreads() {
		this.threads.allowCoreThreadTimeOut(true);
	}

	@Override
	public void execute(Runnable task) {
		this.threads.execute(task);
	}

}
