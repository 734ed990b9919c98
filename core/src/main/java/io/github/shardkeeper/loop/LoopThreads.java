package io.github.shardkeeper.loop;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.time.MonotonicClock;

/**
 * Loops on threads of their own, under supervision: a step that throws is logged, counted
 * and repeated after a pause of 50 ms to 5 s; one that exceeds the stall limit is logged
 * with its stack, counted and interrupted. A loop never ends silently. Thread-safe.
 */
public final class LoopThreads implements Loops {

	private static final Logger logger = PrintableLogger.of(LoopThreads.class);

	/** Limit far above the timeouts of everything that a step waits for. */
	public static final Duration DEFAULT_STALL_LIMIT = Duration.ofSeconds(10);

	private final MonotonicClock clock;

	private final MeterGuard<LoopMeters> meters;

	private final Duration stallLimit;

	private final ThreadFactory threads;

	private final Set<LoopThread> loops = ConcurrentHashMap.newKeySet();

	/** Guarded by this; {@code null} while no loop runs. */
	private @Nullable LoopThread watchdog;

	/** Creates the supervisor; it starts no thread yet. */
	public LoopThreads(MonotonicClock clock, LoopMeters meters, Duration stallLimit) {
		this(clock, meters, stallLimit, Thread::new);
	}

	LoopThreads(MonotonicClock clock, LoopMeters meters, Duration stallLimit, ThreadFactory threads) {
		this.threads = threads;
		this.clock = clock;
		this.meters = new MeterGuard<>(meters,
				(failure) -> logger.warn("Loop failures cannot be counted; loops continue. Logged once", failure));
		this.stallLimit = stallLimit;
	}

	@Override
	public Loop start(String name, Step step) {
		return start(new LoopThread(name, step, true, this.clock, this.meters, this::ended, this.threads));
	}

	@Override
	public Loop startForeground(String name, Step step) {
		return start(new LoopThread(name, step, false, this.clock, this.meters, this::ended, this.threads));
	}

	/** Returns a sentence for each loop whose last step failed or which hangs. */
	public Map<String, String> problems() {
		Map<String, String> problems = new TreeMap<>();
		this.loops.forEach((loop) -> {
			String problem = loop.problem(this.stallLimit);
			if (problem != null) {
				problems.put(loop.name(), problem);
			}
		});
		return problems;
	}

	/**
	 * Returns a sentence for each loop that hangs in one step for longer than a time,
	 * although it was interrupted.
	 */
	public Map<String, String> hanging(Duration longerThan) {
		Map<String, String> hanging = new TreeMap<>();
		this.loops.forEach((loop) -> {
			String problem = loop.hanging(longerThan);
			if (problem != null) {
				hanging.put(loop.name(), problem);
			}
		});
		return hanging;
	}

	private synchronized Loop start(LoopThread loop) {
		if (this.watchdog == null) {
			this.watchdog = startWatchdog();
		}
		this.loops.add(loop);
		this.meters.count((counters) -> counters.started(loop.name()));
		try {
			loop.begin();
		}
		catch (Throwable ex) {
			ended(loop);
			throw ex;
		}
		return loop;
	}

	private LoopThread startWatchdog() {
		Duration period = this.stallLimit.dividedBy(10);
		LoopThread begun = new LoopThread("shardkeeper-watchdog", () -> {
			this.loops.forEach((watched) -> watched.interruptIfStalled(this.stallLimit));
			return this.clock.now().plus(period);
		}, true, this.clock, this.meters, (ended) -> {
		}, this.threads);
		begun.begin();
		return begun;
	}

	private synchronized void ended(LoopThread loop) {
		this.loops.remove(loop);
		if (this.loops.isEmpty() && this.watchdog != null) {
			this.watchdog.close();
			this.watchdog = null;
		}
	}

}
