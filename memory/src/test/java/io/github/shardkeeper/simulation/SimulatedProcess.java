package io.github.shardkeeper.simulation;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StateMigration;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.loop.Loops;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * A process: its clock, its threads and its failures. Threads start a little late, as
 * real ones do.
 */
final class SimulatedProcess {

	/** The only loop that nothing can block. */
	private static final String LEASE_LOOP = "shardkeeper-lease";

	final Set<VirtualTime.Waiter> waiters = new LinkedHashSet<>();

	private final VirtualTime time;

	private final RandomGenerator random;

	private final String name;

	/** Rate of its clock. */
	private final double rate;

	private final long clockOffset;

	private final long longestDelay;

	private boolean crashed;

	private long frozenUntil;

	private long frozenSince = Long.MIN_VALUE;

	SimulatedProcess(String name, VirtualTime time, RandomGenerator random, Duration longestDelay) {
		this.name = name;
		this.time = time;
		this.random = random;
		this.rate = 1 + (random.nextDouble() - 0.5) / 500;
		this.clockOffset = random.nextLong(1L << 50);
		this.longestDelay = longestDelay.toNanos();
	}

	String name() {
		return this.name;
	}

	MonotonicClock clock() {
		return () -> new MonotonicTime(this.clockOffset + (long) (this.time.now() * this.rate));
	}

	/** Differs from that of other processes. */
	InstantSource wallClock() {
		long difference = Math.floorMod(this.name.hashCode() * 7919L, ExpiringEntries.MAX_CLOCK_DIFFERENCE.toMillis());
		return () -> this.time.wallTime().plusMillis(difference);
	}

	/** Half of the processes store an earlier version of values. */
	StateMigration<?> migration() {
		return ExpiringEntries.migration(this.name);
	}

	private long toVirtual(MonotonicTime moment) {
		// Never a nanosecond early: it is due by the clock then.
		return (long) Math.ceil((moment.nanos() - this.clockOffset) / this.rate) + 1;
	}

	MemberRuntime runtime() {
		return new MemberRuntime(clock(), new SimulatedLoops(), this.random);
	}

	Executor executor() {
		return (task) -> this.time.at(this.time.now() + delay(), this, task);
	}

	ScheduledExecutorService timer() {
		return new SimulatedTimer();
	}

	private long delay() {
		return (this.longestDelay > 0 && this.random.nextInt(4) == 0) ? this.random.nextLong(this.longestDelay) : 0;
	}

	/** Blocks the running thread, like a call that waits for something. */
	void block(Duration duration) {
		try {
			this.time.block(this.time.now() + duration.toNanos(), this, false);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Blocks the running thread until it is interrupted, like a well-behaved handler. */
	void blockInterruptibly(Duration duration) throws InterruptedException {
		this.time.block(this.time.now() + duration.toNanos(), this, true);
	}

	/** All its threads stand still, and do not know it. */
	void freeze(Duration duration) {
		this.frozenSince = this.time.now();
		this.frozenUntil = Math.max(this.frozenUntil, this.time.now() + duration.toNanos());
	}

	long frozenUntil() {
		return this.frozenUntil;
	}

	boolean wasFrozenSince(long nanos) {
		return this.frozenSince != Long.MIN_VALUE && this.frozenUntil >= nanos;
	}

	void crash() {
		this.crashed = true;
		new ArrayList<>(this.waiters).forEach(this.time::wakeNow);
	}

	boolean isCrashed() {
		return this.crashed;
	}

	void requireAlive() {
		if (this.crashed) {
			throw new SimulatedCrash();
		}
	}

	@Override
	public String toString() {
		return this.name;
	}

	private final class SimulatedLoops implements Loops {

		@Override
		public Loop start(String loopName, Step step) {
			SimulatedLoop loop = new SimulatedLoop(step, LEASE_LOOP.equals(loopName));
			loop.wake();
			return loop;
		}

		@Override
		public Loop startForeground(String loopName, Step step) {
			return start(loopName, step);
		}

	}

	private final class SimulatedLoop implements Loops.Loop {

		private final Loops.Step step;

		private final boolean brief;

		private VirtualTime.@Nullable Event next;

		private long nextAt = Long.MAX_VALUE;

		private boolean busy;

		private boolean woken;

		private boolean closed;

		SimulatedLoop(Loops.Step step, boolean brief) {
			this.step = step;
			this.brief = brief;
		}

		@Override
		public void wake() {
			this.woken = true;
			if (!this.busy) {
				schedule(SimulatedProcess.this.time.now());
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
			this.next = this.brief ? SimulatedProcess.this.time.briefly(at + delay(), SimulatedProcess.this, this::run)
					: SimulatedProcess.this.time.at(at + delay(), SimulatedProcess.this, this::run);
		}

		private void run() {
			if (this.closed) {
				return;
			}
			this.next = null;
			this.nextAt = Long.MAX_VALUE;
			this.busy = true;
			this.woken = false;
			MonotonicTime wakeAt;
			try {
				wakeAt = this.step.run();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			this.busy = false;
			if (this.woken) {
				schedule(SimulatedProcess.this.time.now());
			}
			else if (wakeAt != null) {
				schedule(toVirtual(wakeAt));
			}
		}

		@Override
		public void close() {
			this.closed = true;
		}

	}

	/** Only what workers use of it. */
	private final class SimulatedTimer extends AbstractExecutorService implements ScheduledExecutorService {

		private boolean shutdown;

		@Override
		public @Nullable ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
			// By the process' clock, as a real timer.
			MonotonicTime due = clock().now().plus(Duration.ofNanos(unit.toNanos(delay)));
			SimulatedProcess.this.time.briefly(toVirtual(due), SimulatedProcess.this, command);
			return null;
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
		public void execute(Runnable command) {
			executor().execute(command);
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

}
