package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Time limit of replies that no thread waits for, checked in steps: a timer per command
 * costs more than the command. A reply is given up at most one step after its limit; a
 * step is at most a tenth of the limit and at most 500 ms. Thread-safe.
 */
final class ReplyTimeouts {

	private static final int MIN_STEPS = 10;

	private final int steps;

	private final int stepsPerNodeCheck;

	private final Executor later;

	private final Executor background;

	private final Queue<PendingReplies<?>> pending = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean stepping = new AtomicBoolean();

	private volatile int step;

	ReplyTimeouts(Duration limit, Executor background) {
		this(stepsIn(limit), limit.dividedBy(stepsIn(limit)), background);
		// Creates the timer's thread now: later the system may have none.
		this.later.execute(() -> {
		});
	}

	private ReplyTimeouts(int steps, Duration step, Executor background) {
		// Runs on the timer's own thread: a failure to create one would go unnoticed.
		this(CompletableFuture.delayedExecutor(step.toNanos(), TimeUnit.NANOSECONDS, Runnable::run), background, steps,
				(int) PendingReplies.NODE_CHECK_INTERVAL.plus(step).minusNanos(1).dividedBy(step));
	}

	ReplyTimeouts(Executor later, Executor background, int steps, int stepsPerNodeCheck) {
		this.later = later;
		this.background = background;
		this.steps = steps;
		this.stepsPerNodeCheck = stepsPerNodeCheck;
	}

	/** Returns the number of steps in a limit, none longer than the check interval. */
	static int stepsIn(Duration limit) {
		return (int) Math.max(MIN_STEPS, limit.dividedBy(PendingReplies.NODE_CHECK_INTERVAL) + 1);
	}

	int now() {
		return this.step;
	}

	void add(PendingReplies<?> sent) {
		this.pending.add(sent);
		dropDone();
		beginStepping();
	}

	/** Removes answered commands from the front; replies come roughly in order. */
	private void dropDone() {
		PendingReplies<?> first = this.pending.peek();
		while (first != null && first.isDone() && this.pending.remove(first)) {
			first = this.pending.peek();
		}
	}

	private void beginStepping() {
		if (!this.pending.isEmpty() && !this.stepping.get() && this.stepping.compareAndSet(false, true)) {
			this.later.execute(this::step);
		}
	}

	private void step() {
		try {
			int now = this.step + 1;
			this.step = now;
			this.pending.removeIf(PendingReplies::isDone);
			// One more step, because the first one may have been nearly over.
			this.pending.removeIf((sent) -> now - sent.sentAt() > this.steps && timeOut(sent));
			List<PendingReplies<?>> toCheck = this.pending.stream()
				.filter((sent) -> sent.hasNodeCheck() && (now - sent.sentAt()) % this.stepsPerNodeCheck == 0)
				.toList();
			if (!toCheck.isEmpty()) {
				this.background.execute(() -> toCheck.forEach(PendingReplies::checkNode));
			}
		}
		finally {
			this.stepping.set(false);
			beginStepping();
		}
	}

	private static boolean timeOut(PendingReplies<?> sent) {
		sent.timeOut();
		return true;
	}

}
