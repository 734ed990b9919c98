package io.github.shardkeeper.loop;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A task that runs on a shared executor while it has work, never concurrently with
 * itself. A turn or an executor that throws does not end it: the next wake starts another
 * turn, and periodic calls of {@link #rescue()} ensure that one comes. Thread-safe.
 */
public final class SerialTask {

	private final Executor executor;

	private final BooleanSupplier turn;

	private final Consumer<Throwable> onRefusal;

	/** Guarded by this. */
	private boolean scheduled;

	/** Whether a wake came since the last turn began. Guarded by this. */
	private boolean wakeRequested;

	/** Number of wakes. Guarded by this. */
	private long wakes;

	/** Whether a turn failed or could not begin: {@link #rescue()} has to wake it. */
	private volatile boolean stranded;

	/**
	 * Creates a task that sleeps.
	 * @param turn works for a bounded time and returns whether there is more work
	 * @param onRefusal receives the failure when the executor has no thread for a turn,
	 * and wakes the task later
	 */
	public SerialTask(Executor executor, BooleanSupplier turn, Consumer<Throwable> onRefusal) {
		this.onRefusal = onRefusal;
		this.executor = executor;
		this.turn = turn;
	}

	/** Requests a turn. Never throws. */
	public void wake() {
		synchronized (this) {
			this.wakes++;
			this.wakeRequested = true;
			if (this.scheduled) {
				return;
			}
			this.scheduled = true;
		}
		Throwable refusal = submit();
		if (refusal == null) {
			return;
		}
		synchronized (this) {
			this.scheduled = false;
		}
		try {
			this.onRefusal.accept(refusal);
		}
		catch (Throwable ex) {
			this.stranded = true;
		}
	}

	/**
	 * Returns a number that stays the same as long as the task sleeps; {@code null} while
	 * a turn runs or is requested.
	 */
	public synchronized @Nullable Long sleep() {
		return this.scheduled ? null : this.wakes;
	}

	/** Requests a turn if the last one failed or could not begin. */
	public void rescue() {
		if (this.stranded) {
			this.stranded = false;
			wake();
		}
	}

	/** Returns why the executor does not run the turn; {@code null} if it does. */
	private @Nullable Throwable submit() {
		AtomicBoolean begun = new AtomicBoolean();
		try {
			this.executor.execute(() -> {
				if (begun.compareAndSet(false, true)) {
					run();
				}
			});
			return null;
		}
		catch (Throwable ex) {
			// An executor that throws may still have kept, or even run, the task.
			return begun.compareAndSet(false, true) ? ex : null;
		}
	}

	private void run() {
		while (turnLeavesMore()) {
			// Releases the thread to waiting tasks; if no other is available, continues
			// on this one.
			if (submit() == null) {
				return;
			}
		}
	}

	private boolean turnLeavesMore() {
		synchronized (this) {
			this.wakeRequested = false;
		}
		boolean more = false;
		try {
			more = this.turn.getAsBoolean();
		}
		catch (Throwable ex) {
			// Its own wake-ups may be lost.
			this.stranded = true;
		}
		synchronized (this) {
			this.scheduled = more || this.wakeRequested;
			return this.scheduled;
		}
	}

}
