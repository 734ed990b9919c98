package io.github.shardkeeper.test.slice;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.consumer.ConsumerRuntime;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * What stands for the process of an instance: its loops, threads and timers, all of which
 * are events of the {@link SteppedTime}. Confined to the thread of the test, except what
 * it executes and schedules.
 */
final class InstanceProcess implements ConsumerRuntime {

	/** Records are delivered by {@link SteppedSource}: a poll would wait for them. */
	private static final String READER_LOOP = "shardkeeper-reader";

	private final SteppedTime time;

	private final List<Runnable> connections = new ArrayList<>();

	private volatile boolean ended;

	private long frozenUntil;

	InstanceProcess(SteppedTime time) {
		this.time = time;
	}

	/** Registers what the end of the process closes. */
	void connected(Runnable close) {
		this.connections.add(close);
	}

	/** Ends everything at once. */
	void end() {
		this.ended = true;
		this.connections.forEach(Runnable::run);
		this.connections.clear();
	}

	boolean isEnded() {
		return this.ended;
	}

	void requireAlive() {
		if (this.ended) {
			throw new InstanceCrash();
		}
	}

	/** Nothing of it runs for a time, as in a long pause of a JVM. */
	void freeze(Duration duration) {
		this.frozenUntil = Math.max(this.frozenUntil, Math.addExact(this.time.nanos(), SteppedTime.nanos(duration)));
	}

	long frozenUntil() {
		return this.frozenUntil;
	}

	boolean isFrozen() {
		return this.frozenUntil > this.time.nanos();
	}

	/** Runs a task as soon as nothing else is due. */
	void execute(Runnable task) {
		this.time.at(this.time.nanos(), this, task);
	}

	MemberRuntime runtime(long seed) {
		return new MemberRuntime(this.time::monotonic, new SteppedLoops(), new Random(seed));
	}

	@Override
	public Running start() {
		Executor executor = this::execute;
		SteppedTimer timer = new SteppedTimer();
		return new Running(executor, executor, timer, () -> {
		}, timer::shutdown);
	}

	@Override
	public InstantSource wallClock() {
		return this.time;
	}

	@Override
	public boolean warmsUp() {
		return false;
	}

	private final class SteppedLoops implements Loops {

		@Override
		public Loop start(String name, Step step) {
			SteppedLoop loop = new SteppedLoop(step);
			if (name.startsWith(READER_LOOP)) {
				loop.close();
			}
			loop.wake();
			return loop;
		}

		@Override
		public Loop startForeground(String name, Step step) {
			return start(name, step);
		}

	}

	private final class SteppedLoop implements Loops.Loop {

		private final Loops.Step step;

		private SteppedTime.@Nullable Event next;

		private long nextAt = Long.MAX_VALUE;

		private boolean running;

		private boolean woken;

		private boolean closed;

		SteppedLoop(Loops.Step step) {
			this.step = step;
		}

		@Override
		public void wake() {
			this.woken = true;
			if (!this.running) {
				schedule(InstanceProcess.this.time.nanos());
			}
		}

		private void schedule(long at) {
			if (this.closed || at >= this.nextAt) {
				return;
			}
			if (this.next != null) {
				this.next.cancel();
			}
			this.nextAt = at;
			this.next = InstanceProcess.this.time.at(at, InstanceProcess.this, this::run);
		}

		private void run() {
			if (this.closed) {
				return;
			}
			this.next = null;
			this.nextAt = Long.MAX_VALUE;
			this.running = true;
			this.woken = false;
			@Nullable MonotonicTime wakeAt;
			try {
				wakeAt = this.step.run();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException("The thread of the test was interrupted", ex);
			}
			this.running = false;
			if (this.woken) {
				schedule(InstanceProcess.this.time.nanos());
			}
			else if (wakeAt != null) {
				schedule(wakeAt.nanos());
			}
		}

		@Override
		public void close() {
			this.closed = true;
		}

	}

	/** Only what consumption uses of a timer. */
	private final class SteppedTimer extends AbstractExecutorService implements ScheduledExecutorService {

		private boolean shutdown;

		@Override
		public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
			return new Scheduled(command, InstanceProcess.this.time.nanos() + Math.max(0, unit.toNanos(delay)));
		}

		@Override
		public void execute(Runnable command) {
			InstanceProcess.this.execute(command);
		}

		@Override
		public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initial, long period, TimeUnit unit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initial, long delay, TimeUnit unit) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void shutdown() {
			this.shutdown = true;
		}

		@Override
		public List<Runnable> shutdownNow() {
			this.shutdown = true;
			return List.of();
		}

		@Override
		public boolean isShutdown() {
			return this.shutdown;
		}

		@Override
		public boolean isTerminated() {
			return this.shutdown;
		}

		@Override
		public boolean awaitTermination(long timeout, TimeUnit unit) {
			return this.shutdown;
		}

	}

	private final class Scheduled extends CompletableFuture<Void> implements ScheduledFuture<Void> {

		private final long at;

		private final SteppedTime.Event event;

		Scheduled(Runnable command, long at) {
			this.at = at;
			this.event = InstanceProcess.this.time.at(at, InstanceProcess.this, command);
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			this.event.cancel();
			return super.cancel(mayInterruptIfRunning);
		}

		@Override
		public long getDelay(TimeUnit unit) {
			return unit.convert(this.at - InstanceProcess.this.time.nanos(), TimeUnit.NANOSECONDS);
		}

		@Override
		public int compareTo(Delayed other) {
			return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
		}

	}

}
