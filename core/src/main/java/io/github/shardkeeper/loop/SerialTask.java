package io.github.shardkeeper.loop;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A task that runs on a shared executor while there is something to do, never twice at a
 * time, and is nothing but an object otherwise. Whatever its turn or the executor throws,
 * the next wake begins another turn; so that there is one, somebody calls
 * {@link #rescue()} now and then. Thread-safe.
 */
public final class SerialTask {

	private final Executor executor;

	private final BooleanSupplier turn;

	private final Consumer<Throwable> onRefusal;

	/** Guarded by this. */
	private boolean scheduled;

	/** Guarded by this: something happened since the last turn began. */
	private boolean wakeRequested;

	/** A turn has thrown, or could not begin and nobody will wake the task for that. */
	private volatile boolean stranded;

	/**
	 * Creates a task that sleeps.
	 * @param executor runs it
	 * @param turn does what there is to do, for a bounded time, and tells whether there
	 * is more
	 * @param onRefusal hears that the executor had no thread for a turn; is to wake the
	 * task later
	 */
	public SerialTask(Executor executor, BooleanSupplier turn, Consumer<Throwable> onRefusal) {
		this.onRefusal = onRefusal;
		this.executor = executor;
		this.turn = turn;
	}

	/** Something happened: take a turn. Never throws: whoever wakes is not to blame. */
	public void wake() {
		synchronized (this) {
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
		// No thread can be had now (or, at the end, ever): try again later.
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
	 * Takes a turn if the last one has thrown, or could not begin: then nobody else may
	 * do it.
	 */
	public void rescue() {
		if (this.stranded) {
			this.stranded = false;
			wake();
		}
	}

	/** Tells why the executor does not run it, {@code null} if it does. */
	private @Nullable Throwable submit() {
		AtomicBoolean begun;
		try {
			begun = new AtomicBoolean();
		}
		catch (OutOfMemoryError ex) {
			return ex;
		}
		try {
			this.executor.execute(() -> {
				if (begun.compareAndSet(false, true)) {
					run();
				}
			});
			return null;
		}
		catch (Throwable ex) {
			// An executor that throws may have kept, or even run, the task all the same.
			return begun.compareAndSet(false, true) ? ex : null;
		}
	}

	private void run() {
		while (turnLeavesMore()) {
			// Between two turns the thread belongs to whoever waits for it. If no other
			// thread can be had, this one goes on.
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
			// It has said what it could. Whatever it wanted to be woken for is lost.
			this.stranded = true;
		}
		synchronized (this) {
			this.scheduled = more || this.wakeRequested;
			return this.scheduled;
		}
	}

}
