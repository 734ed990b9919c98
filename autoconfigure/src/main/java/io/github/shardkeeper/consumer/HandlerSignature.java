package io.github.shardkeeper.consumer;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * What a handler's method wants for its parameters; found out, and checked, once at
 * start. Immutable.
 */
final class HandlerSignature {

	private final Method method;

	private final List<Argument> arguments;

	private final @Nullable Type payloadType;

	/** Looked up once: a handler has one bean. */
	private volatile @Nullable Method invocable;

	private HandlerSignature(Method method, List<Argument> arguments, @Nullable Type payloadType) {
		this.method = method;
		this.arguments = arguments;
		this.payloadType = payloadType;
	}

	/**
	 * Reads the signature of a {@code @ShardConsumer} method.
	 * @throws ShardkeeperConfigurationException when it is not supported
	 */
	static HandlerSignature ofConsumer(Method method, Class<?> beanType) {
		return read(method, beanType, "@ShardConsumer",
				EnumSet.of(Argument.RECORD, Argument.PAYLOAD, Argument.CONTEXT, Argument.STATE));
	}

	/**
	 * Reads the signature of an {@code @OnShardAssigned} or {@code @OnShardRevoked}
	 * method.
	 * @throws ShardkeeperConfigurationException when it is not supported
	 */
	static HandlerSignature ofCallback(Method method, Class<?> beanType, String annotation) {
		return read(method, beanType, annotation, EnumSet.of(Argument.CONTEXT, Argument.STATE));
	}

	/**
	 * Reads the signature of an {@code @OnShardPreparing} method, which is called before
	 * there is a state.
	 * @throws ShardkeeperConfigurationException when it is not supported
	 */
	static HandlerSignature ofPreparation(Method method, Class<?> beanType, String annotation) {
		return read(method, beanType, annotation, EnumSet.of(Argument.CONTEXT));
	}

	private static HandlerSignature read(Method method, Class<?> beanType, String annotation, Set<Argument> allowed) {
		String name = name(method);
		if (method.getReturnType() != void.class) {
			throw new ShardkeeperConfigurationException(
					"The %s method %s returns %s.".formatted(annotation, name, method.getReturnType().getSimpleName()),
					"Declare it 'void' and do the work before it returns: when it returns, the record counts as handled.");
		}
		if (Modifier.isStatic(method.getModifiers()) || Modifier.isPrivate(method.getModifiers())) {
			throw new ShardkeeperConfigurationException(
					"The %s method %s is private or static.".formatted(annotation, name),
					"Make it an instance method that is not private.");
		}
		List<Argument> arguments = new ArrayList<>();
		Type payloadType = null;
		for (int i = 0; i < method.getParameterCount(); i++) {
			ResolvableType type = ResolvableType
				.forMethodParameter(new MethodParameter(method, i).withContainingClass(beanType));
			Argument argument = Argument.of(type);
			if (!allowed.contains(argument)) {
				throw new ShardkeeperConfigurationException(
						"The %s method %s has a parameter of type %s.".formatted(annotation, name, type),
						allowed.contains(Argument.STATE) ? "It may take ShardContext and ShardState only."
								: "It may take ShardContext only: the state is not there before @OnShardAssigned.");
			}
			boolean repeated = arguments.contains(argument)
					|| argument == Argument.PAYLOAD && arguments.contains(Argument.RECORD)
					|| argument == Argument.RECORD && arguments.contains(Argument.PAYLOAD);
			if (repeated) {
				throw new ShardkeeperConfigurationException(
						"The %s method %s has more than one parameter for the same thing: parameter %d of type %s."
							.formatted(annotation, name, i + 1, type),
						"It may take the record (as ShardRecord<T> or as its payload T), ShardContext and ShardState, "
								+ "each at most once.");
			}
			if (argument == Argument.PAYLOAD) {
				payloadType = GenericTypeResolver.resolveType(type.getType(), beanType);
			}
			else if (argument == Argument.RECORD) {
				payloadType = GenericTypeResolver.resolveType(recordPayload(type, name), beanType);
			}
			arguments.add(argument);
		}
		return new HandlerSignature(method, List.copyOf(arguments), payloadType);
	}

	private static Type recordPayload(ResolvableType type, String name) {
		ResolvableType payload = type.as(ShardRecord.class).getGeneric(0);
		if (payload.resolve() == null) {
			throw new ShardkeeperConfigurationException(
					"The @ShardConsumer method %s takes a ShardRecord without saying of what.".formatted(name),
					"Write the payload's type, for example ShardRecord<String>.");
		}
		return payload.getType();
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

	/** The type to convert payloads to, {@code null} when the method wants none. */
	@Nullable Type payloadType() {
		return this.payloadType;
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

	@Nullable Object[] arguments(@Nullable ShardRecord<Object> converted, ShardContext context, @Nullable ShardState state) {
		@Nullable Object[] values = new @Nullable Object[this.arguments.size()];
		for (int i = 0; i < values.length; i++) {
			values[i] = switch (this.arguments.get(i)) {
				case RECORD -> converted;
				case PAYLOAD -> (converted != null) ? converted.payload() : null;
				case CONTEXT -> context;
				case STATE -> state;
			};
		}
		return values;
	}

	private enum Argument {

		RECORD, PAYLOAD, CONTEXT, STATE;

		static Argument of(ResolvableType type) {
			Class<?> resolved = type.resolve(Object.class);
			if (resolved == ShardRecord.class) {
				return RECORD;
			}
			if (resolved == ShardContext.class) {
				return CONTEXT;
			}
			return (resolved == ShardState.class) ? STATE : PAYLOAD;
		}

	}

}
