package io.github.shardkeeper.handler;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Parameters of a handler's method, read and checked once at startup. Thread-safe.
 */
@Internal
public final class HandlerSignature {

	private final Method method;

	private final String annotation;

	/** An array, because every call iterates over it. */
	private final HandlerArgument[] arguments;

	private final Set<HandlerArgument> taken;

	private final HandlerShape shape;

	/** Meaningless if the shape is not a batch. */
	private final int batchParameter;

	private final boolean takesWhole;

	private final boolean returnsLate;

	private final boolean suspending;

	private final @Nullable Type payloadType;

	private final MessageArguments.@Nullable OfMethod messages;

	/** Put together once: every shard that starts asks for it. */
	private final String name;

	/** Resolved once: a handler has one bean. */
	private volatile @Nullable Method invocable;

	/** Creates a signature; {@code messages} fills some of the parameters, if any. */
	HandlerSignature(Method method, String annotation, List<HandlerArgument> arguments, @Nullable Type payloadType,
			MessageArguments.@Nullable OfMethod messages) {
		this.method = method;
		this.name = name(method);
		this.annotation = annotation;
		this.arguments = arguments.toArray(HandlerArgument[]::new);
		this.taken = EnumSet.noneOf(HandlerArgument.class);
		this.taken.addAll(arguments);
		this.shape = shape(this.taken);
		this.batchParameter = arguments.indexOf(HandlerArgument.PAYLOADS);
		this.takesWhole = arguments.stream().anyMatch(HandlerArgument::isWhole);
		this.suspending = AnnotatedBeans.isSuspending(method);
		this.returnsLate = this.suspending || LateResult.isSupported(method.getReturnType());
		this.payloadType = payloadType;
		this.messages = messages;
	}

	private static HandlerShape shape(Set<HandlerArgument> taken) {
		if (taken.stream().anyMatch(HandlerArgument::isBatch)) {
			return HandlerShape.BATCH;
		}
		boolean ofRecords = taken.stream().anyMatch(HandlerArgument::isOfRecords);
		return (ofRecords || taken.contains(HandlerArgument.MESSAGE)) ? HandlerShape.RECORD : HandlerShape.LOOP;
	}

	/**
	 * Reads a {@code @ShardConsumer} method that takes nothing from messages.
	 * @throws ShardkeeperConfigurationException if it is not supported
	 */
	public static HandlerSignature ofConsumer(Method method, Class<?> beanType) {
		return ofConsumer(method, beanType, MessageArguments.NONE, null);
	}

	/**
	 * Reads a {@code @ShardConsumer} method.
	 * @param messages fills parameters as from messages
	 * @param beans the application's beans, which are no parameters; {@code null} for
	 * none
	 * @throws ShardkeeperConfigurationException if it is not supported
	 */
	static HandlerSignature ofConsumer(Method method, Class<?> beanType, MessageArguments messages,
			@Nullable AnnotatedBeans beans) {
		return new HandlerSignatureReader(method, beanType, "@ShardConsumer").consumer(messages, beans);
	}

	/**
	 * Reads an {@code @OnShardAssigned} or {@code @OnShardRevoked} method.
	 * @param annotation the annotation, for messages
	 * @throws ShardkeeperConfigurationException if it is not supported
	 */
	public static HandlerSignature ofCallback(Method method, Class<?> beanType, String annotation) {
		return new HandlerSignatureReader(method, beanType, annotation).callback();
	}

	/**
	 * Reads an {@code @OnShardPreparing} method, which is called without state.
	 * @param annotation the annotation, for messages
	 * @throws ShardkeeperConfigurationException if it is not supported
	 */
	public static HandlerSignature ofPreparation(Method method, Class<?> beanType, String annotation) {
		return new HandlerSignatureReader(method, beanType, annotation).preparation();
	}

	/**
	 * Reads an {@code @OnShardTimer} method.
	 * @param annotation the annotation, for messages
	 * @throws ShardkeeperConfigurationException if it is not supported
	 */
	public static HandlerSignature ofTimer(Method method, Class<?> beanType, String annotation) {
		return new HandlerSignatureReader(method, beanType, annotation).timer();
	}

	static String name(Method method) {
		StringBuilder parameters = new StringBuilder();
		for (Class<?> type : Arrays.copyOf(method.getParameterTypes(), SuspendingFunction.parameterCount(method))) {
			parameters.append((parameters.length() > 0) ? ", " : "").append(type.getSimpleName());
		}
		return method.getDeclaringClass().getSimpleName() + "." + method.getName() + "(" + parameters + ")";
	}

	String name() {
		return this.name;
	}

	/** Returns the annotation, for messages. */
	String annotation() {
		return this.annotation;
	}

	/** Returns the method as its class declares it. */
	Method method() {
		return this.method;
	}

	HandlerShape shape() {
		return this.shape;
	}

	/** Returns whether the work is done when what the method returns is complete. */
	boolean returnsLate() {
		return this.returnsLate;
	}

	/** Returns whether the method is a {@link SuspendingFunction}. */
	boolean isSuspending() {
		return this.suspending;
	}

	boolean takes(HandlerArgument argument) {
		return this.taken.contains(argument);
	}

	/**
	 * Returns the type to convert payloads to, {@code null} if the method takes none or
	 * {@link MessageArguments} converts them.
	 */
	@Nullable Type payloadType() {
		return this.payloadType;
	}

	boolean takesWhole() {
		return this.takesWhole;
	}

	/**
	 * Returns what {@link #arguments} takes for a record, or for one record of a batch.
	 * @param converted the record or its payload, {@code null} if there is no
	 * {@link #payloadType()}
	 * @param attempt the number of the call with the record, from 1
	 * @throws io.github.shardkeeper.source.PayloadConversionException if the record is
	 * not what the method expects
	 */
	Object input(@Nullable Object converted, ShardContext context, SourceRecord source, int attempt) {
		MessageArguments.OfMethod filler = this.messages;
		Object input = converted;
		if (filler != null) {
			@Nullable Object[] filled = filler.resolve(context, source, attempt);
			input = (this.shape == HandlerShape.BATCH) ? filled[this.batchParameter] : new Filled(converted, filled);
		}
		if (input == null) {
			throw new IllegalStateException("%s takes no records".formatted(name()));
		}
		return input;
	}

	/** Returns the method to call on the bean, which may be a proxy. */
	Method invocableOn(Object bean) {
		Method found = this.invocable;
		if (found == null) {
			found = AnnotatedBeans.invocable(this.method, bean, "The method " + name());
			this.invocable = found;
		}
		return found;
	}

	/**
	 * Returns the arguments of a call.
	 * @param input the {@link #input} of a record, a list of them, or {@code null} for
	 * none
	 * @param others what does not come with a record
	 */
	@Nullable Object[] arguments(@Nullable Object input, CallArguments others) {
		Filled filled = (input instanceof Filled values) ? values : null;
		Object ofRecord = (filled != null) ? filled.converted() : input;
		@Nullable Object[] values = (filled != null) ? filled.values().clone() : new @Nullable Object[this.arguments.length];
		// Longer than these by the continuation, if messages fill a suspending function.
		for (int i = 0; i < this.arguments.length; i++) {
			values[i] = switch (this.arguments[i]) {
				case PAYLOAD -> (this.payloadType != null) ? ofRecord : values[i];
				case RECORD, PAYLOADS, RECORDS, TIMER -> ofRecord;
				case MESSAGE -> values[i];
				case CONTEXT -> others.context();
				case STATE -> others.state();
				case OUTPUT -> others.output();
				case TIMERS -> others.timers();
				case ACKNOWLEDGMENT -> others.acknowledgment();
			};
		}
		return values;
	}

	/** Record with the parameters that messages fill. Immutable: a retry reuses it. */
	private record Filled(@Nullable Object converted, @Nullable Object[] values) {

	}

}
