package io.github.shardkeeper.sls;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Pools of daemon threads that end when they are idle. */
final class Threads {

	private static final long IDLE_SECONDS = 30;

	private Threads() {
	}

	/** Creates a pool; tasks that are due run on up to {@code count} threads. */
	static ScheduledThreadPoolExecutor scheduler(String name, int count) {
		AtomicInteger number = new AtomicInteger();
		ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(count, (work) -> {
			Thread thread = new Thread(work, (count == 1) ? name : name + "-" + number.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		});
		executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
		executor.allowCoreThreadTimeOut(true);
		executor.setRemoveOnCancelPolicy(true);
		executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		return executor;
	}

}
