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

	private final boolean wantsWhole;

	private final @Nullable Type payloadType;

	/** Looked up once: a handler has one bean. */
	private volatile @Nullable Method invocable;

	HandlerSignature(Method method, List<HandlerArgument> arguments, @Nullable Type payloadType) {
		this.method = method;
		this.arguments = arguments.toArray(HandlerArgument[]::new);
		this.taken = Set.copyOf(arguments);
		this.shape = arguments.stream().anyMatch(HandlerArgument::isBatch) ? HandlerShape.BATCH
				: arguments.stream().anyMatch(HandlerArgument::isOfRecords) ? HandlerShape.RECORD : HandlerShape.LOOP;
		this.wantsWhole = arguments.stream().anyMatch(HandlerArgument::isWhole);
		this.payloadType = payloadType;
	}

	/**
	 * Reads the signature of a {@code @ShardConsumer} method.
	 * @throws ShardkeeperConfigurationException when it is not supported
	 */
	static HandlerSignature ofConsumer(Method method, Class<?> beanType) {
		return new HandlerSignatureReader(method, beanType, "@ShardConsumer").consumer();
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

	HandlerShape shape() {
		return this.shape;
	}

	boolean takes(HandlerArgument argument) {
		return this.taken.contains(argument);
	}

	/** The type to convert payloads to, {@code null} when the method wants none. */
	@Nullable Type payloadType() {
		return this.payloadType;
	}

	/** Whether it wants whole records, not only what is in them. */
	boolean wantsWhole() {
		return this.wantsWhole;
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
	 * @param converted the record or payload, the list of them, or {@code null}, as the
	 * shape wants it
	 */
	@Nullable Object[] arguments(@Nullable Object converted, ShardContext context, @Nullable ShardState state,
			@Nullable Acknowledgment acknowledgment) {
		@Nullable Object[] values = new @Nullable Object[this.arguments.length];
		for (int i = 0; i < values.length; i++) {
			values[i] = switch (this.arguments[i]) {
				case PAYLOAD, RECORD, PAYLOADS, RECORDS -> converted;
				case CONTEXT -> context;
				case STATE -> state;
				case ACKNOWLEDGMENT -> acknowledgment;
			};
		}
		return values;
	}

}
