package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.shardkeeper.testsupport.SettableClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * An executor and a timer that run tasks when the test lets them, on the test's own
 * thread and by the test's own clock.
 */
public final class ManualThreads implements Executor {

	private final SettableClock clock;

	private final Deque<Runnable> tasks = new ArrayDeque<>();

	private final PriorityQueue<Alarm> alarms = new PriorityQueue<>(Comparator.comparing(Alarm::due));

	private boolean timerFails;

	/** Action before the next task is refused, {@code null} if it is accepted. */
	private Consumer<Runnable> refusal;

	public ManualThreads(SettableClock clock) {
		this.clock = clock;
	}

	@Override
	public void execute(Runnable task) {
		Consumer<Runnable> refusal = this.refusal;
		this.refusal = null;
		if (refusal == null) {
			this.tasks.add(task);
			return;
		}
		refusal.accept(task);
		throw new InternalError("no native thread, caused by the test");
	}

	/**
	 * Throws for the next task.
	 * @param before the action on the task before that
	 */
	public void refuseNext(Consumer<Runnable> before) {
		this.refusal = before;
	}

	/** Throws for the next task, and runs it later all the same. */
	public void refuseAndKeepNext() {
		refuseNext(this.tasks::add);
	}

	/** Runs until no task is left. */
	public void runAll() {
		while (!this.tasks.isEmpty()) {
			this.tasks.remove().run();
		}
	}

	public boolean hasTasks() {
		return !this.tasks.isEmpty();
	}

	/** Runs the next turn of any task. */
	public void runOne() {
		this.tasks.remove().run();
	}

	/** Lets time pass, and what becomes due with it run. */
	public void pass(Duration duration) {
		ring(duration);
		runAll();
	}

	/** Lets time pass; the timer wakes those that wait, and nobody runs yet. */
	public void ring(Duration duration) {
		this.clock.advance(duration);
		while (!this.alarms.isEmpty() && !this.clock.now().isBefore(this.alarms.peek().due())) {
			this.alarms.remove().task().run();
		}
	}

	/** Whether the timer takes nothing, as one without a thread. */
	public void setTimerFails(boolean timerFails) {
		this.timerFails = timerFails;
	}

	public boolean hasAlarms() {
		return !this.alarms.isEmpty();
	}

	public ScheduledThreadPoolExecutor timer() {
		return new ScheduledThreadPoolExecutor(0) {

			@Override
			public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
				if (ManualThreads.this.timerFails) {
					throw new InternalError("no native thread, caused by the test");
				}
				MonotonicTime due = ManualThreads.this.clock.now().plus(Duration.ofNanos(unit.toNanos(delay)));
				ManualThreads.this.alarms.add(new Alarm(due, task));
				return null;
			}

		};
	}

	private record Alarm(MonotonicTime due, Runnable task) {

	}

}
