package io.github.shardkeeper.cluster.signal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.cluster.signal.SignalStore.Handled;
import io.github.shardkeeper.cluster.signal.SignalStore.Latest;
import io.github.shardkeeper.cluster.signal.SignalStore.Outcome;
import io.github.shardkeeper.handler.HandlerCall;
import io.github.shardkeeper.loop.SerialTask;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * The signals of one name on this instance: keeps the latest one until the handlers have
 * time for it, and what they have handled. Thread-safe.
 */
final class SignalInbox {

	private static final Logger logger = PrintableLogger.of(SignalInbox.class);

	/** Reasons of failures are kept for each session. */
	private static final int LONGEST_MESSAGE = 300;

	private final String name;

	private final List<SignalHandler> handlers;

	private final SerialTask task;

	private final HandlerCall call = new HandlerCall();

	private final Consumer<SignalInbox> onHandled;

	private volatile Handled handled = Handled.NOTHING;

	/** Guarded by this, as is all below. */
	private @Nullable ClusterSignal latest;

	/** The number of the last signal that was given to the handlers. */
	private long begun;

	private boolean running;

	private boolean stopped;

	private String unreadable = "";

	/**
	 * Creates an empty inbox.
	 * @param executor runs the handlers
	 * @param onHandled called on the thread of the handlers after each signal
	 */
	SignalInbox(String name, List<SignalHandler> handlers, Executor executor, Consumer<SignalInbox> onHandled) {
		this.name = name;
		this.handlers = List.copyOf(handlers);
		this.onHandled = onHandled;
		this.task = new SerialTask(executor, this::turn, (refusal) -> {
			throw new IllegalStateException("No thread for the handlers of the signal '" + name + "'", refusal);
		});
	}

	String name() {
		return this.name;
	}

	/**
	 * Returns whether it takes signals that were sent before this process was started.
	 */
	boolean atStart() {
		return this.handlers.stream().anyMatch(SignalHandler::atStart);
	}

	/** Returns what this process has handled last, in any session. */
	Handled handled() {
		return this.handled;
	}

	/** Takes the latest signal; ignores one that was begun already. */
	void offer(Latest found) {
		ClusterSignal signal = found.signal();
		synchronized (this) {
			if (signal == null) {
				if (!found.unreadable().equals(this.unreadable)) {
					this.unreadable = found.unreadable();
					logger.warn(
							"The signal '{}' cannot be read: '{}'. Only somebody else can have written it. It counts as "
									+ "none until the next one is sent",
							this.name, abbreviated(found.unreadable()));
				}
				return;
			}
			this.unreadable = "";
			if (signal.number() <= this.begun || this.latest != null && signal.number() <= this.latest.number()) {
				return;
			}
			this.latest = signal;
		}
		this.task.wake();
	}

	/** Begins the turn that has failed or found no thread. */
	void rescue() {
		this.task.rescue();
	}

	/** Handles signals, also those that came while it was stopped. */
	void start() {
		synchronized (this) {
			this.stopped = false;
		}
		this.task.wake();
	}

	/** Begins no further signal. */
	synchronized void stop() {
		this.stopped = true;
		notifyAll();
	}

	/**
	 * Waits until no handler runs and what they have handled is acknowledged. Returns
	 * whether that is so.
	 */
	synchronized boolean awaitIdle(long millis) throws InterruptedException {
		if (this.running && millis > 0) {
			wait(millis);
		}
		return !this.running;
	}

	/** Interrupts the running handler, if any. */
	void interrupt() {
		this.call.interrupt();
	}

	private boolean turn() {
		ClusterSignal signal = next();
		if (signal == null) {
			return false;
		}
		try {
			this.handled = handle(signal);
			this.onHandled.accept(this);
		}
		finally {
			synchronized (this) {
				this.running = false;
				notifyAll();
			}
		}
		return true;
	}

	private synchronized @Nullable ClusterSignal next() {
		ClusterSignal signal = this.latest;
		if (signal == null || this.stopped) {
			return null;
		}
		this.latest = null;
		this.begun = signal.number();
		this.running = true;
		return signal;
	}

	/** Calls all handlers, also after one has failed. */
	private Handled handle(ClusterSignal signal) {
		List<String> failures = new ArrayList<>();
		for (SignalHandler handler : this.handlers) {
			try {
				this.call.run(() -> handler.handle(signal));
			}
			catch (Throwable ex) {
				failures.add(handler.method() + ": " + ex);
				logger.error("{} has failed with the signal '{}' (number {}), and is not called again for it",
						handler.method(), this.name, signal.number(), ex);
			}
		}
		return failures.isEmpty() ? new Handled(signal.number(), Outcome.OK, "")
				: new Handled(signal.number(), Outcome.FAILED, abbreviated(String.join("; ", failures)));
	}

	private static String abbreviated(String text) {
		String line = text.replaceAll("\\p{Cntrl}+", " ");
		return (line.length() <= LONGEST_MESSAGE) ? line : line.substring(0, LONGEST_MESSAGE) + "…";
	}

}
