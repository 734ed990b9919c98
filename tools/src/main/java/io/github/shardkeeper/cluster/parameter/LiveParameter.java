package io.github.shardkeeper.cluster.parameter;

import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterParameters.Change;
import io.github.shardkeeper.cluster.ClusterParameters.State;
import io.github.shardkeeper.cluster.ClusterParameters.Update;
import io.github.shardkeeper.cluster.Parameter;
import io.github.shardkeeper.cluster.parameter.StoredEntry.Content;
import io.github.shardkeeper.cluster.parameter.ValueFormat.UnusableValueException;
import io.github.shardkeeper.cluster.session.ValueListeners;
import io.github.shardkeeper.loop.SerialTask;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * A parameter that is declared on this instance. Conversion, checks and listeners are
 * code of the application, so they run without a lock: conversion and checks on the
 * thread of a caller or on one for new values, listeners on one for callbacks.
 * Thread-safe.
 */
final class LiveParameter<T> implements Parameter<T> {

	private static final Logger logger = PrintableLogger.of(LiveParameter.class);

	/** Values in messages are cut. */
	private static final int SHOWN_CHARACTERS = 100;

	private final String name;

	private final ValueType type;

	private final T defaultValue;

	private final StoredParameters parameters;

	private final StoredEntry stored;

	/**
	 * Checks by where they were declared; each returns what is wrong with a value, or
	 * {@code null}. Never changed, but replaced while this is locked.
	 */
	private volatile Map<Object, Function<T, @Nullable String>> checks = Map.of();

	private final ValueListeners<T> listeners;

	private final SerialTask settling;

	/** Guarded by this. */
	private final List<Binding> bindings = new CopyOnWriteArrayList<>();

	/** Written while this is locked. */
	private volatile Effective<T> effective;

	/** The content that was looked at last. Written while this is locked. */
	private volatile Content settled = Content.NONE;

	/** The checks then. Guarded by this. */
	private Map<Object, Function<T, @Nullable String>> settledChecks = this.checks;

	private volatile @Nullable String problem;

	LiveParameter(String name, ValueType type, T defaultValue, StoredParameters parameters, StoredEntry stored) {
		this.name = name;
		this.type = type;
		this.defaultValue = defaultValue;
		this.parameters = parameters;
		this.stored = stored;
		this.effective = new Effective<>(defaultValue, null);
		this.listeners = new ValueListeners<>("parameter '%s' of group '%s'".formatted(name, parameters.group()),
				parameters.callbacks(), this::get, (value, last) -> !ObjectUtils.nullSafeEquals(value, last));
		this.settling = new SerialTask(parameters.settling(), () -> {
			settle();
			return false;
		}, (refusal) -> {
			throw new IllegalStateException("No thread for the parameter '" + name + "'", refusal);
		});
	}

	ValueType type() {
		return this.type;
	}

	/** Adds a check, once for each place of declaration. */
	void check(Object declaredAt, Function<T, @Nullable String> check) {
		synchronized (this) {
			Map<Object, Function<T, @Nullable String>> more = new LinkedHashMap<>(this.checks);
			if (more.putIfAbsent(declaredAt, check) != null) {
				return;
			}
			this.checks = more;
		}
		settle();
	}

	/** Sets a field of a bean now and at each change, as long as the bean exists. */
	void bind(Object bean, Field field) {
		synchronized (this) {
			this.bindings.removeIf((binding) -> binding.bean().get() == null);
			this.bindings.add(new Binding(new WeakReference<>(bean), field));
			ReflectionUtils.setField(field, bean, this.effective.value());
		}
	}

	/** The entry in the store may have changed. Does not block. */
	void wake() {
		this.settling.wake();
	}

	void rescue() {
		this.settling.rescue();
		this.listeners.rescue();
	}

	/** Makes the entry of the store take effect. Runs code of the application. */
	void settle() {
		while (true) {
			Content content = this.stored.content();
			Map<Object, Function<T, @Nullable String>> applied = this.checks;
			if (isSettled(content, applied)) {
				return;
			}
			Effective<T> next = this.effective;
			String wrong = content.unreadable();
			if (wrong == null) {
				String text = content.value();
				try {
					next = (text != null) ? new Effective<>(readAndCheck(text, applied), content.change())
							: new Effective<>(this.defaultValue, null);
				}
				catch (UnusableValueException ex) {
					wrong = "the stored value '%s' of version %d by %s does not apply: %s".formatted(shown(text),
							content.version(), author(content), ex.reason());
				}
			}
			if (wrong != null && violation(next.value(), applied) != null) {
				// A check that was declared later does not accept the last value.
				next = new Effective<>(this.defaultValue, null);
			}
			if (install(content, applied, next, wrong)) {
				return;
			}
		}
	}

	/** Waits for a thread that is about to publish the value to the fields. */
	private synchronized boolean isSettled(Content content, Map<Object, Function<T, @Nullable String>> applied) {
		return content.equals(this.settled) && applied == this.settledChecks;
	}

	private static String author(Content content) {
		Change change = content.change();
		return (change != null) ? change.author() : "nobody";
	}

	/**
	 * Publishes a value, unless the entry has changed or a check was declared meanwhile.
	 */
	private boolean install(Content content, Map<Object, Function<T, @Nullable String>> applied, Effective<T> next,
			@Nullable String wrong) {
		String before;
		synchronized (this) {
			if (!content.equals(this.stored.content()) || applied != this.checks) {
				return false;
			}
			before = this.problem;
			this.effective = next;
			this.settled = content;
			this.settledChecks = applied;
			this.problem = wrong;
			for (Binding binding : this.bindings) {
				Object bean = binding.bean().get();
				if (bean != null) {
					ReflectionUtils.setField(binding.field(), bean, next.value());
				}
			}
		}
		if (wrong != null && !wrong.equals(before)) {
			logger.warn("Parameter '{}' of group '{}': {}. The value '{}' still applies here", this.name,
					this.parameters.group(), wrong, shown(String.valueOf(next.value())));
		}
		this.listeners.wake();
		return true;
	}

	/**
	 * Reads a value and checks it.
	 * @throws UnusableValueException if it cannot be used
	 */
	@SuppressWarnings("unchecked")
	private T readAndCheck(String text, Map<Object, Function<T, @Nullable String>> applied) {
		T value = (T) this.parameters.format().read(text, this.type);
		String violation = violation(value, applied);
		if (violation != null) {
			throw new UnusableValueException(violation, null);
		}
		return value;
	}

	/** Returns what is wrong with a value; {@code null} for nothing. */
	private static <T> @Nullable String violation(T value, Map<Object, Function<T, @Nullable String>> applied) {
		for (Function<T, @Nullable String> check : applied.values()) {
			try {
				String violation = check.apply(value);
				if (violation != null) {
					return violation;
				}
			}
			catch (Throwable ex) {
				return "its check has failed: " + ex;
			}
		}
		return null;
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public T get() {
		return this.effective.value();
	}

	@Override
	public T defaultValue() {
		return this.defaultValue;
	}

	@Override
	public Source source() {
		Change change = this.effective.change();
		if (change == null) {
			return Source.DEFAULT;
		}
		return (this.parameters.isCurrent() && change.equals(this.stored.content().change())) ? Source.STORE
				: Source.LAST_KNOWN;
	}

	@Override
	public long version() {
		Content content = this.settled;
		return (this.problem == null) ? content.version() : versionOf(this.effective);
	}

	private static long versionOf(Effective<?> effective) {
		return (effective.change() != null) ? effective.change().version() : 0;
	}

	@Override
	public Optional<String> problem() {
		return Optional.ofNullable(this.problem);
	}

	@Override
	public long set(T value, Update update) {
		Objects.requireNonNull(value, "value must not be null");
		Objects.requireNonNull(update, "update must not be null");
		String text;
		try {
			text = this.parameters.format().write(value, this.type);
		}
		catch (UnusableValueException ex) {
			throw invalid(String.valueOf(value), ex);
		}
		return setText(text, update);
	}

	/** Sets a value as text, after all checks. */
	long setText(String text, Update update) {
		requireValid(text);
		long version = this.parameters.write(this.name, text, update);
		settle();
		return version;
	}

	/**
	 * Checks a value.
	 * @throws IllegalArgumentException if it is not valid
	 */
	void requireValid(String text) {
		requireSize(this.name, text);
		try {
			readAndCheck(text, this.checks);
		}
		catch (UnusableValueException ex) {
			throw invalid(text, ex);
		}
	}

	private IllegalArgumentException invalid(String text, UnusableValueException ex) {
		return new IllegalArgumentException(
				"The value '%s' of the parameter '%s' is not valid: %s".formatted(shown(text), this.name, ex.reason()),
				ex);
	}

	static void requireSize(String name, String text) {
		int size = text.getBytes(StandardCharsets.UTF_8).length;
		if (size > ClusterParameters.MAX_VALUE_BYTES) {
			throw new IllegalArgumentException(
					"The value of the parameter '%s' has %d bytes as text, more than %d: keep it elsewhere, and its place in the parameter"
						.formatted(name, size, ClusterParameters.MAX_VALUE_BYTES));
		}
	}

	static String shown(@Nullable String text) {
		String all = String.valueOf(text);
		return (all.length() <= SHOWN_CHARACTERS) ? all : all.substring(0, SHOWN_CHARACTERS) + "…";
	}

	@Override
	public Runnable onChange(Consumer<? super T> listener) {
		return this.listeners.add(listener);
	}

	State state() {
		Effective<T> current = this.effective;
		Change change = (current.change() != null || this.problem != null) ? current.change() : this.settled.change();
		return new State(this.name, this.type.toString(), text(current.value()), text(this.defaultValue), source(),
				(change != null) ? change.version() : 0, (change != null) ? change.time() : null,
				(change != null) ? change.author() : null, this.problem);
	}

	private String text(T value) {
		try {
			return this.parameters.format().write(value, this.type);
		}
		catch (UnusableValueException ex) {
			return String.valueOf(value);
		}
	}

	@Override
	public String toString() {
		return "parameter '" + this.name + "' of group '" + this.parameters.group() + "': " + get();
	}

	/**
	 * The value that applies.
	 *
	 * @param change the change that has set it, {@code null} for the default
	 */
	private record Effective<T>(T value, @Nullable Change change) {

	}

	private record Binding(WeakReference<Object> bean, Field field) {

	}

}
