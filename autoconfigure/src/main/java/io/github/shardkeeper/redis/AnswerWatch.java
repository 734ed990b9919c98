package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The time limit of answers that no thread waits for. Looks at them in steps of a tenth
 * of the limit, and only while there are some: a timer for each would wake a thread with
 * every command, and cost more than the command. Thread-safe.
 */
final class AnswerWatch {

	private static final int STEPS = 10;

	private final Executor later;

	private final Queue<SentTogether<?>> underWay = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean stepping = new AtomicBoolean();

	private volatile int step;

	AnswerWatch(Duration limit) {
		// On the thread of the JDK's timer itself: if one was made for a step and the
		// system gave none, nobody would hear of it.
		this(CompletableFuture.delayedExecutor(limit.toNanos() / STEPS, TimeUnit.NANOSECONDS, Runnable::run));
		// That thread is there from now on, whatever the system gives later.
		this.later.execute(() -> {
		});
	}

	AnswerWatch(Executor later) {
		this.later = later;
	}

	/** The step that is under way when something is sent. */
	int now() {
		return this.step;
	}

	void add(SentTogether<?> sent) {
		this.underWay.add(sent);
		dropDone();
		beginStepping();
	}

	/** Answers come about in the order of the commands. */
	private void dropDone() {
		SentTogether<?> first = this.underWay.peek();
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
			this.underWay.removeIf(SentTogether::isDone);
			// One step more, because the first one may have been nearly over.
			this.underWay.removeIf((sent) -> now - sent.sentAt() > STEPS && giveUp(sent));
		}
		finally {
			this.stepping.set(false);
			beginStepping();
		}
	}

	private static boolean giveUp(SentTogether<?> sent) {
		sent.giveUp();
		return true;
	}

}
