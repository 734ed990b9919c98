package io.github.shardkeeper.handler;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
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

	private final @Nullable CallObserver observer;

	private final @Nullable RunRules rules;

	private final boolean keepsSchedule;

	/**
	 * Creates a handler.
	 * @param bean returns the bean, possibly a proxy
	 * @param observer wraps calls of the consumer's method, {@code null} for none
	 * @param interval the pause between calls of a handler without records, otherwise
	 * zero
	 */
	public ShardHandler(String topic, Supplier<Object> bean, HandlerSignature consumer,
			List<HandlerSignature> preparing, List<HandlerSignature> assigned, List<HandlerSignature> revoked,
			PayloadConverter converter, @Nullable CallObserver observer, Duration interval) {
		this(topic, bean, consumer, new HandlerCallbacks(preparing, assigned, revoked, null), converter, observer,
				(consumer.shape() == HandlerShape.LOOP) ? RunRules.every(interval) : null, false);
	}

	/**
	 * Creates a handler.
	 * @param bean returns the bean, possibly a proxy
	 * @param observer wraps calls of the consumer's method, {@code null} for none
	 * @param rules when a handler without records is called, otherwise {@code null}
	 * @param keepsSchedule whether the position in the schedule is kept as the offset,
	 * because the topic has no records
	 */
	ShardHandler(String topic, Supplier<Object> bean, HandlerSignature consumer, HandlerCallbacks callbacks,
			PayloadConverter converter, @Nullable CallObserver observer, @Nullable RunRules rules,
			boolean keepsSchedule) {
		this.topic = topic;
		this.bean = bean;
		this.consumer = consumer;
		this.callbacks = callbacks;
		this.converter = converter;
		this.observer = observer;
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
	 * Converts a record for {@link #handle}.
	 * @throws io.github.shardkeeper.source.PayloadConversionException if the payload is
	 * not what the method expects
	 */
	public Object convert(ShardContext context, SourceRecord source) {
		Object input = TimerRecord.isTimer(source) ? timer(source) : input(context, source);
		return (this.observer != null) ? new Observed(input, source) : input;
	}

	/** An earlier version of the application may have set it. */
	private ShardTimer timer(SourceRecord source) {
		if (!hasTimers()) {
			throw new PayloadConversionException(
					"It is a timer, and the bean of %s has no @OnShardTimer method".formatted(name()));
		}
		return TimerRecord.timer(source);
	}

	private Object input(ShardContext context, SourceRecord source) {
		Type type = this.consumer.payloadType();
		return this.consumer.input((type != null) ? read(context, source, type) : null, context, source);
	}

	private Object read(ShardContext context, SourceRecord source, Type type) {
		Object payload = Objects.requireNonNull(this.converter.read(context.shard(), source, type),
				() -> this.converter.getClass().getName() + ".read has returned null");
		return this.consumer.takesWhole() ? new ShardRecord<>(context.shard(), source.offset(), source.key(), payload,
				source.headers(), source.timestamp()) : payload;
	}

	/**
	 * Calls the handler's method, or the {@code @OnShardTimer} method for a timer, and
	 * throws what it throws.
	 * @param converted the result of {@link #convert}; for a batch of records the list of
	 * results, which must not change any more; {@code null} for a handler without records
	 * @param arguments what does not come with a record
	 */
	public void handle(@Nullable Object converted, CallArguments arguments) throws Throwable {
		Object input = input(converted);
		HandlerSignature timer = (input instanceof ShardTimer) ? this.callbacks.timer() : null;
		HandlerSignature method = (timer != null) ? timer : this.consumer;
		if (this.observer == null) {
			invoke(method, input, arguments);
		}
		else {
			this.observer.observe(arguments.context(), Observed.sources(converted),
					() -> invoke(method, input, arguments));
		}
	}

	private @Nullable Object input(@Nullable Object converted) {
		if (converted instanceof List<?> batch && shape() == HandlerShape.BATCH) {
			return (this.observer != null) ? batch.stream().map(Observed::input).toList()
					: Collections.unmodifiableList(batch);
		}
		return (converted instanceof Observed observed) ? observed.input() : converted;
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
		Object target = this.bean.get();
		Method method = signature.invocableOn(target);
		try {
			method.invoke(target, signature.arguments(input, arguments));
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/** Converted record together with its source, for the observer. */
	private record Observed(Object input, SourceRecord source) {

		static Object input(Object observed) {
			return ((Observed) observed).input();
		}

		static List<SourceRecord> sources(@Nullable Object converted) {
			List<?> all = (converted instanceof List<?> batch) ? batch
					: (converted != null) ? List.of(converted) : List.of();
			return all.stream().map((each) -> ((Observed) each).source()).toList();
		}

	}

}
