package io.github.shardkeeper.cluster.session;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.loop.SerialTask;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Listeners of an application to a value that changes. Each is called with the current
 * value when it is added, and after changes: by one call at a time, and a slow one gets
 * the last value only. A listener that throws is logged, and called again with the next
 * value. Thread-safe.
 *
 * @param <T> the value
 */
public final class ValueListeners<T> {

	private static final Logger logger = PrintableLogger.of(ValueListeners.class);

	private final String subject;

	private final Executor callbacks;

	private final Supplier<? extends T> value;

	private final BiPredicate<T, @Nullable T> isNew;

	private final List<Listener> listeners = new CopyOnWriteArrayList<>();

	/**
	 * Creates it without listeners.
	 * @param subject the value's name in messages
	 * @param callbacks runs the listeners; they may block
	 * @param value returns the current value
	 * @param isNew returns whether a listener is called with a value, by the one that it
	 * got last; {@code null} for none
	 */
	public ValueListeners(String subject, Executor callbacks, Supplier<? extends T> value,
			BiPredicate<T, @Nullable T> isNew) {
		this.subject = subject;
		this.callbacks = callbacks;
		this.value = value;
		this.isNew = isNew;
	}

	/** Adds a listener; returns what removes it. */
	public Runnable add(Consumer<? super T> listener) {
		Objects.requireNonNull(listener, "listener must not be null");
		Listener added = new Listener(listener);
		this.listeners.add(added);
		added.task.wake();
		return () -> this.listeners.remove(added);
	}

	/** The value may have changed. Does not block. */
	public void wake() {
		this.listeners.forEach((listener) -> listener.task.wake());
	}

	/** Has calls made for which there was no thread. Does not block. */
	public void rescue() {
		this.listeners.forEach((listener) -> listener.task.rescue());
	}

	private final class Listener {

		private final Consumer<? super T> listener;

		private final SerialTask task;

		/** Confined to the task. */
		private @Nullable T last;

		Listener(Consumer<? super T> listener) {
			this.listener = listener;
			this.task = new SerialTask(ValueListeners.this.callbacks, this::call, (refusal) -> {
				throw new IllegalStateException("No thread for a listener to the " + ValueListeners.this.subject,
						refusal);
			});
		}

		private boolean call() {
			T current = ValueListeners.this.value.get();
			if (ValueListeners.this.isNew.test(current, this.last) && ValueListeners.this.listeners.contains(this)) {
				this.last = current;
				try {
					this.listener.accept(current);
				}
				catch (Throwable ex) {
					logger.error("A listener to the {} has failed", ValueListeners.this.subject, ex);
				}
			}
			return false;
		}

	}

}
