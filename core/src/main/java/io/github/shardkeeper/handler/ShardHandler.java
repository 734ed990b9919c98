package io.github.shardkeeper.handler;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTimer;
import io.github.shardkeeper.ShardTimers;
import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.schedule.RunTrigger;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Handler of one topic: a {@code @ShardConsumer} method with the callbacks of its bean.
 * Thread-safe.
 */
@Internal
public final class ShardHandler {

	private final String topic;

	private final Supplier<Object> bean;

	private final HandlerSignature consumer;

	private final HandlerCallbacks callbacks;

	private final PayloadConverter converter;

	private final CallHooks hooks;

	private final @Nullable RunRules rules;

	private final boolean keepsSchedule;

	/**
	 * Creates a handler.
	 * @param bean returns the bean, possibly a proxy
	 * @param interval the pause between calls of a handler without records, otherwise
	 * zero
	 */
	public ShardHandler(String topic, Supplier<Object> bean, HandlerSignature consumer,
			List<HandlerSignature> preparing, List<HandlerSignature> assigned, List<HandlerSignature> revoked,
			PayloadConverter converter, Duration interval) {
		this(topic, bean, consumer, new HandlerCallbacks(preparing, assigned, revoked, null), converter, CallHooks.NONE,
				(consumer.shape() == HandlerShape.LOOP) ? RunRules.every(interval) : null, false);
	}

	/**
	 * Creates a handler.
	 * @param bean returns the bean, possibly a proxy
	 * @param hooks what applications have around calls
	 * @param rules when a handler without records is called, otherwise {@code null}
	 * @param keepsSchedule whether the position in the schedule is kept as the offset,
	 * because the topic has no records
	 */
	ShardHandler(String topic, Supplier<Object> bean, HandlerSignature consumer, HandlerCallbacks callbacks,
			PayloadConverter converter, CallHooks hooks, @Nullable RunRules rules, boolean keepsSchedule) {
		this.topic = topic;
		this.bean = bean;
		this.consumer = consumer;
		this.callbacks = callbacks;
		this.converter = converter;
		this.hooks = hooks;
		this.rules = rules;
		this.keepsSchedule = keepsSchedule;
	}

	/** Returns the topic. */
	public String topic() {
		return this.topic;
	}

	/** Returns class, method and parameter types, for messages. */
	public String name() {
		return this.consumer.name();
	}

	/** Returns the class that declares the method. */
	public Class<?> declaringClass() {
		return this.consumer.method().getDeclaringClass();
	}

	/** Returns the way the method is called. */
	public HandlerShape shape() {
		return this.consumer.shape();
	}

	/** Returns whether a call takes the shard's state: for records, or for timers. */
	public boolean takesState() {
		return taker(HandlerArgument.STATE) != null;
	}

	/** Returns whether a call takes a {@link ShardOutput}. */
	public boolean takesOutput() {
		return taker(HandlerArgument.OUTPUT) != null;
	}

	/** Returns whether a call takes a {@link ShardTimers}. */
	public boolean takesTimers() {
		return taker(HandlerArgument.TIMERS) != null;
	}

	/** Returns whether the bean has an {@code @OnShardTimer} method. */
	public boolean hasTimers() {
		return this.callbacks.timer() != null;
	}

	private @Nullable HandlerSignature taker(HandlerArgument argument) {
		HandlerSignature timer = this.callbacks.timer();
		return this.consumer.takes(argument) ? this.consumer : (timer != null && timer.takes(argument)) ? timer : null;
	}

	/** Returns whether a call goes on when its method has returned. */
	public boolean returnsLate() {
		HandlerSignature timer = this.callbacks.timer();
		return this.consumer.returnsLate() || timer != null && timer.returnsLate();
	}

	/** Returns whether the method takes an {@link Acknowledgment}. */
	public boolean takesAcknowledgment() {
		return this.consumer.takes(HandlerArgument.ACKNOWLEDGMENT);
	}

	/**
	 * Returns the pause between two calls of a handler without records, zero if it has
	 * none.
	 */
	public Duration interval() {
		return (this.rules != null && this.rules.trigger() instanceof RunTrigger.Every every) ? every.interval()
				: Duration.ZERO;
	}

	/**
	 * Returns the schedule of a handler whose shards keep their position in it;
	 * {@code null} for other handlers, and for an interval of zero.
	 */
	public @Nullable RunRules schedule() {
		RunRules kept = this.keepsSchedule ? this.rules : null;
		return (kept != null && kept.trigger() instanceof RunTrigger.Every every && every.interval().isZero()) ? null
				: kept;
	}

	/**
	 * Converts a record for {@link #handle}, unless a filter skips it.
	 * @param attempt the number of the call with the record, from 1
	 * @throws io.github.shardkeeper.source.PayloadConversionException if the payload is
	 * not what the method expects
	 */
	public Object convert(ShardContext context, SourceRecord source, int attempt) {
		if (TimerRecord.isTimer(source)) {
			ShardTimer timer = timer(source);
			return hasHooks() ? new FilteredRecord.Accepted(timer, record(context, source, timer, attempt)) : timer;
		}
		if (hasHooks()) {
			try {
				if (!this.hooks.accept(context, record(context, source, source.payload(), attempt))) {
					return FilteredRecord.SKIPPED;
				}
			}
			catch (Throwable ex) {
				return new FilteredRecord.Failed(ex);
			}
		}
		return input(context, source, attempt);
	}

	private boolean hasHooks() {
		return this.hooks != CallHooks.NONE;
	}

	/** An earlier version of the application may have set it. */
	private ShardTimer timer(SourceRecord source) {
		if (!hasTimers()) {
			throw new PayloadConversionException(
					"It is a timer, and the bean of %s has no @OnShardTimer method".formatted(name()));
		}
		return TimerRecord.timer(source);
	}

	private Object input(ShardContext context, SourceRecord source, int attempt) {
		Type type = this.consumer.payloadType();
		Object payload = (type != null) ? read(context, source, type) : null;
		boolean whole = this.consumer.takesWhole();
		ShardRecord<?> record = (whole || hasHooks())
				? record(context, source, (payload != null) ? payload : source.payload(), attempt) : null;
		Object input = this.consumer.input(whole ? record : payload, context, source, attempt);
		return (record != null && hasHooks()) ? new FilteredRecord.Accepted(input, record) : input;
	}

	private Object read(ShardContext context, SourceRecord source, Type type) {
		return Objects.requireNonNull(this.converter.read(context.shard(), source, type),
				() -> this.converter.getClass().getName() + ".read has returned null");
	}

	private static <T> ShardRecord<T> record(ShardContext context, SourceRecord source, T payload, int attempt) {
		return new ShardRecord<>(context.shard(), source.offset(), source.key(), payload, source.headers(),
				source.timestamp(), attempt);
	}

	/**
	 * Calls the handler's method, or the {@code @OnShardTimer} method for a timer, and
	 * throws what it throws.
	 * @param converted the result of {@link #convert}; for a batch of records the list of
	 * results, which must not change any more; {@code null} for a handler without records
	 * @param arguments what does not come with a record
	 * @return the number of records that a filter has skipped
	 */
	public int handle(@Nullable Object converted, CallArguments arguments) throws Throwable {
		List<?> batch = (shape() == HandlerShape.BATCH && converted instanceof List<?> list) ? list : null;
		if (!hasHooks()) {
			invoke((batch != null) ? Collections.unmodifiableList(batch) : converted, arguments);
			return 0;
		}
		List<?> all = (batch != null) ? batch : (converted != null) ? List.of(converted) : List.of();
		List<FilteredRecord.Accepted> accepted = FilteredRecord.accepted(all);
		if (accepted.isEmpty() && !all.isEmpty()) {
			acknowledge(arguments.acknowledgment());
		}
		else {
			List<Object> inputs = accepted.stream().map(FilteredRecord.Accepted::input).toList();
			Object input = (batch != null) ? inputs : inputs.isEmpty() ? null : inputs.get(0);
			this.hooks.around(arguments.context(), records(accepted), () -> invoke(input, arguments));
		}
		return all.size() - accepted.size();
	}

	private static List<ShardRecord<?>> records(List<FilteredRecord.Accepted> accepted) {
		List<ShardRecord<?>> records = new ArrayList<>(accepted.size());
		accepted.forEach((one) -> records.add(one.record()));
		return Collections.unmodifiableList(records);
	}

	/** In place of the handler, which is not called. */
	private static void acknowledge(@Nullable Acknowledgment acknowledgment) {
		if (acknowledgment != null) {
			acknowledgment.acknowledge();
		}
	}

	private void invoke(@Nullable Object input, CallArguments arguments) throws Throwable {
		HandlerSignature timer = (input instanceof ShardTimer) ? this.callbacks.timer() : null;
		invoke((timer != null) ? timer : this.consumer, input, arguments);
	}

	/** Returns whether the bean has {@code @OnShardPreparing} methods. */
	public boolean prepares() {
		return !this.callbacks.preparing().isEmpty();
	}

	/** Returns the names of the {@code @OnShardPreparing} methods, for messages. */
	public String preparingNames() {
		return this.callbacks.preparing().stream().map(HandlerSignature::name).collect(Collectors.joining(", "));
	}

	/**
	 * Calls the {@code @OnShardPreparing} methods.
	 * @throws Throwable what a method throws
	 */
	public void prepare(ShardContext context) throws Throwable {
		for (HandlerSignature callback : this.callbacks.preparing()) {
			invoke(callback, null, new CallArguments(context, null, null));
		}
	}

	/**
	 * Calls the {@code @OnShardAssigned} methods.
	 * @throws Throwable what a method throws
	 */
	public void assigned(ShardContext context, ShardState state) throws Throwable {
		for (HandlerSignature callback : this.callbacks.assigned()) {
			invoke(callback, null, new CallArguments(context, state, null));
		}
	}

	/**
	 * Calls the {@code @OnShardRevoked} methods.
	 * @throws Throwable what a method throws
	 */
	public void revoked(ShardContext context, ShardState state) throws Throwable {
		for (HandlerSignature callback : this.callbacks.revoked()) {
			invoke(callback, null, new CallArguments(context, state, null));
		}
	}

	private void invoke(HandlerSignature signature, @Nullable Object input, CallArguments arguments) throws Throwable {
		if (!signature.returnsLate()) {
			call(signature, input, arguments);
			return;
		}
		try (SharedArguments shared = new SharedArguments(arguments)) {
			LateResult.await(call(signature, input, shared.arguments()));
		}
	}

	private @Nullable Object call(HandlerSignature signature, @Nullable Object input, CallArguments arguments)
			throws Throwable {
		Object target = this.bean.get();
		Method method = signature.invocableOn(target);
		if (signature.isSuspending()) {
			return SuspendingFunction.call(method, target, signature.arguments(input, arguments));
		}
		try {
			return method.invoke(target, signature.arguments(input, arguments));
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
