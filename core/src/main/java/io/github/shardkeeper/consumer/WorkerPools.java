package io.github.shardkeeper.consumer;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.shardkeeper.time.WallClock;

/**
 * The threads of the groups of an application. Groups whose {@link WorkerThreads} are
 * equal share a pool, which ends with the last of them. Each has a timer of its own,
 * which no other group can delay. Once a group has stopped, its pool takes no other one:
 * calls that hang would keep what starts again from its threads. Thread-safe.
 */
public final class WorkerPools {

	/** What groups that start now share. Guarded by this. */
	private final Map<WorkerThreads, Shared> open = new HashMap<>();

	/** Returns what a group runs on. */
	public ConsumerRuntime of(WorkerThreads threads) {
		return new OfGroup(threads);
	}

	private synchronized Shared enter(WorkerThreads threads) {
		Shared shared = this.open.computeIfAbsent(threads, (key) -> new Shared(key, key.open()));
		shared.groups++;
		return shared;
	}

	private synchronized void retire(Shared shared) {
		this.open.remove(shared.threads, shared);
	}

	private synchronized void leave(Shared shared) {
		retire(shared);
		if (--shared.groups == 0) {
			shared.pool.end().run();
		}
	}

	private static final class Shared {

		private final WorkerThreads threads;

		private final WorkerThreads.Pool pool;

		/** Guarded by the pools. */
		private int groups;

		Shared(WorkerThreads threads, WorkerThreads.Pool pool) {
			this.threads = threads;
			this.pool = pool;
		}

	}

	private final class OfGroup implements ConsumerRuntime {

		private final WorkerThreads threads;

		OfGroup(WorkerThreads threads) {
			this.threads = threads;
		}

		@Override
		public Running start() {
			ScheduledExecutorService timer = startTimer();
			Shared shared = enter(this.threads);
			AtomicBoolean ended = new AtomicBoolean();
			return new Running(refusing(ended, shared.pool.executor()), refusing(ended, shared.pool.preparing()), timer,
					() -> retire(shared), () -> {
						if (ended.compareAndSet(false, true)) {
							timer.shutdownNow();
							leave(shared);
						}
					});
		}

		/**
		 * Starts the timer together with its thread: workers that wait for a thread use
		 * this timer, and it might not get a thread then.
		 */
		private static ScheduledExecutorService startTimer() {
			ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, (task) -> {
				Thread thread = new Thread(task, "shardkeeper-timer");
				thread.setDaemon(true);
				return thread;
			});
			timer.prestartCoreThread();
			return timer;
		}

		private static Executor refusing(AtomicBoolean ended, Executor executor) {
			return (task) -> {
				if (ended.get()) {
					throw new RejectedExecutionException("The threads of this group have ended");
				}
				executor.execute(task);
			};
		}

		@Override
		public InstantSource wallClock() {
			return WallClock.SYSTEM;
		}

		@Override
		public boolean warmsUp() {
			return true;
		}

	}

}
