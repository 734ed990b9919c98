package io.github.shardkeeper.consumer;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.ReflectionUtils;

import io.github.shardkeeper.Acknowledgment;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SourceRecord;

/**
 * What a handler's method wants for its parameters; found out, and checked, once at
 * start. Immutable.
 */
final class HandlerSignature {

	private final Method method;

	/** An array, because it is walked through for every record. */
	private final HandlerArgument[] arguments;

	private final Set<HandlerArgument> taken;

	private final HandlerShape shape;

	/** Of the parameter for the batch; without meaning in other shapes. */
	private final int positionOfBatch;

	private final boolean wantsWhole;

	private final @Nullable Type payloadType;

	private final MessageArguments.@Nullable OfMethod messages;

	/** Looked up once: a handler has one bean. */
	private volatile @Nullable Method invocable;

	/**
	 * Creates a signature.
	 * @param payloadType what payloads are to be converted to, {@code null} when nobody
	 * wants that or {@code messages} do it
	 * @param messages who fills some of the parameters, {@code null} for nobody
	 */
	HandlerSignature(Method method, List<HandlerArgument> arguments, @Nullable Type payloadType,
			MessageArguments.@Nullable OfMethod messages) {
		this.method = method;
		this.arguments = arguments.toArray(HandlerArgument[]::new);
		this.taken = Set.copyOf(arguments);
		this.shape = shape(this.taken);
		this.positionOfBatch = arguments.indexOf(HandlerArgument.PAYLOADS);
		this.wantsWhole = arguments.stream().anyMatch(HandlerArgument::isWhole);
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
	 * Reads the signature of a {@code @ShardConsumer} method that has nothing of a
	 * message.
	 * @throws ShardkeeperConfigurationException when it is not supported
	 */
	static HandlerSignature ofConsumer(Method method, Class<?> beanType) {
		return ofConsumer(method, beanType, MessageArguments.NONE);
	}

	/**
	 * Reads the signature of a {@code @ShardConsumer} method.
	 * @param messages fills parameters as from messages
	 * @throws ShardkeeperConfigurationException when it is not supported
	 */
	static HandlerSignature ofConsumer(Method method, Class<?> beanType, MessageArguments messages) {
		return new HandlerSignatureReader(method, beanType, "@ShardConsumer").consumer(messages);
	}

	/**
	 * Reads the signature of an {@code @OnShardAssigned} or {@code @OnShardRevoked}
	 * method.
	 * @throws ShardkeeperConfigurationException when it is not supported
	 */
	static HandlerSignature ofCallback(Method method, Class<?> beanType, String annotation) {
		return new HandlerSignatureReader(method, beanType, annotation).callback();
	}

	/**
	 * Reads the signature of an {@code @OnShardPreparing} method, which is called before
	 * there is a state.
	 * @throws ShardkeeperConfigurationException when it is not supported
	 */
	static HandlerSignature ofPreparation(Method method, Class<?> beanType, String annotation) {
		return new HandlerSignatureReader(method, beanType, annotation).preparation();
	}

	static String name(Method method) {
		StringBuilder parameters = new StringBuilder();
		for (Class<?> type : method.getParameterTypes()) {
			parameters.append((parameters.length() > 0) ? ", " : "").append(type.getSimpleName());
		}
		return method.getDeclaringClass().getSimpleName() + "." + method.getName() + "(" + parameters + ")";
	}

	String name() {
		return name(this.method);
	}

	/** The method, as its class declares it. */
	Method method() {
		return this.method;
	}

	HandlerShape shape() {
		return this.shape;
	}

	boolean takes(HandlerArgument argument) {
		return this.taken.contains(argument);
	}

	/**
	 * The type to convert payloads to, {@code null} when the method wants none, or they
	 * are part of what is {@link #filled}.
	 */
	@Nullable Type payloadType() {
		return this.payloadType;
	}

	/** Whether it wants whole records, not only what is in them. */
	boolean wantsWhole() {
		return this.wantsWhole;
	}

	/**
	 * What {@link #arguments} wants of a record; of a batch, of each.
	 * @param converted the record or its payload, {@code null} if there is no
	 * {@link #payloadType()}
	 * @throws io.github.shardkeeper.source.PayloadConversionException when the record is
	 * not what the method expects
	 */
	Object filled(@Nullable Object converted, ShardContext context, SourceRecord source) {
		MessageArguments.OfMethod filling = this.messages;
		Object wanted = converted;
		if (filling != null) {
			@Nullable Object[] filled = filling.resolve(context, source);
			wanted = (this.shape == HandlerShape.BATCH) ? filled[this.positionOfBatch] : new Filled(converted, filled);
		}
		if (wanted == null) {
			throw new IllegalStateException("%s takes no records".formatted(name()));
		}
		return wanted;
	}

	/** The method to call on the bean, which may be a proxy. */
	Method invocableOn(Object bean) {
		Method found = this.invocable;
		if (found == null) {
			found = AopUtils.selectInvocableMethod(this.method, bean.getClass());
			ReflectionUtils.makeAccessible(found);
			this.invocable = found;
		}
		return found;
	}

	/**
	 * The arguments of a call.
	 * @param converted what {@link #filled} made of the record, the list of that, or
	 * {@code null}, as the shape wants it
	 */
	@Nullable Object[] arguments(@Nullable Object converted, ShardContext context, @Nullable ShardState state,
			@Nullable Acknowledgment acknowledgment) {
		Filled filled = (converted instanceof Filled values) ? values : null;
		Object ofRecord = (filled != null) ? filled.converted() : converted;
		@Nullable Object[] values = (filled != null) ? filled.values().clone() : new @Nullable Object[this.arguments.length];
		for (int i = 0; i < values.length; i++) {
			values[i] = switch (this.arguments[i]) {
				case PAYLOAD -> (this.payloadType != null) ? ofRecord : values[i];
				case RECORD, PAYLOADS, RECORDS -> ofRecord;
				case MESSAGE -> values[i];
				case CONTEXT -> context;
				case STATE -> state;
				case ACKNOWLEDGMENT -> acknowledgment;
			};
		}
		return values;
	}

	/**
	 * A record of which parameters were filled.
	 *
	 * @param converted the record or payload for the other parameter, {@code null} for
	 * none
	 * @param values by parameter; kept for further calls
	 */
	private record Filled(@Nullable Object converted, @Nullable Object[] values) {

	}

}
