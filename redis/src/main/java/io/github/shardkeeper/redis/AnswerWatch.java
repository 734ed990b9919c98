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
 * The time limit of answers that no thread waits for. Checks them in steps of a tenth of
 * the limit or less, and only while there are some: Lettuce and the JDK have a timer for
 * each command, which would wake a thread with every command, and cost more than the
 * command. Thread-safe.
 */
final class AnswerWatch {

	private static final int LEAST_STEPS = 10;

	/** In a time limit. */
	private final int steps;

	private final int stepsPerNodeCheck;

	private final Executor later;

	/** Where nodes are checked. */
	private final Executor background;

	private final Queue<PendingAnswers<?>> underWay = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean stepping = new AtomicBoolean();

	private volatile int step;

	AnswerWatch(Duration limit, Executor background) {
		this(stepsIn(limit), limit.dividedBy(stepsIn(limit)), background);
		// The timer's thread is there from now on, whatever the system gives later.
		this.later.execute(() -> {
		});
	}

	private AnswerWatch(int steps, Duration step, Executor background) {
		// On the thread of the JDK's timer itself: if one was made for a step and the
		// system gave none, nobody would hear of it.
		this(CompletableFuture.delayedExecutor(step.toNanos(), TimeUnit.NANOSECONDS, Runnable::run), background, steps,
				(int) PendingAnswers.NODE_CHECK_INTERVAL.plus(step).minusNanos(1).dividedBy(step));
	}

	AnswerWatch(Executor later, Executor background, int steps, int stepsPerNodeCheck) {
		this.later = later;
		this.background = background;
		this.steps = steps;
		this.stepsPerNodeCheck = stepsPerNodeCheck;
	}

	/** No step is longer than a node may take. */
	private static int stepsIn(Duration limit) {
		return (int) Math.max(LEAST_STEPS, limit.dividedBy(PendingAnswers.NODE_CHECK_INTERVAL) + 1);
	}

	/** The step that is under way when something is sent. */
	int now() {
		return this.step;
	}

	void add(PendingAnswers<?> sent) {
		this.underWay.add(sent);
		dropDone();
		beginStepping();
	}

	/** Answers come about in the order of the commands. */
	private void dropDone() {
		PendingAnswers<?> first = this.underWay.peek();
		while (first != null && first.isDone() && this.underWay.remove(first)) {
			first = this.underWay.peek();
		}
	}

	private void beginStepping() {
		if (this.underWay.isEmpty() || this.stepping.get()) {
			return;
		}
		// An executor that throws may have kept the task all the same.
		AtomicBoolean begun = new AtomicBoolean();
		if (!this.stepping.compareAndSet(false, true)) {
			return;
		}
		try {
			this.later.execute(() -> {
				if (begun.compareAndSet(false, true)) {
					step();
				}
			});
		}
		catch (Throwable ex) {
			if (begun.compareAndSet(false, true)) {
				this.stepping.set(false);
			}
			throw ex;
		}
	}

	private void step() {
		try {
			int now = this.step + 1;
			this.step = now;
			this.underWay.removeIf(PendingAnswers::isDone);
			// One step more, because the first one may have been nearly over.
			this.underWay.removeIf((sent) -> now - sent.sentAt() > this.steps && timeOut(sent));
			List<PendingAnswers<?>> toCheck = this.underWay.stream()
				.filter((sent) -> sent.hasNodeCheck() && (now - sent.sentAt()) % this.stepsPerNodeCheck == 0)
				.toList();
			if (!toCheck.isEmpty()) {
				this.background.execute(() -> toCheck.forEach(PendingAnswers::checkNode));
			}
		}
		finally {
			this.stepping.set(false);
			beginStepping();
		}
	}

	private static boolean timeOut(PendingAnswers<?> sent) {
		sent.timeOut();
		return true;
	}

}
