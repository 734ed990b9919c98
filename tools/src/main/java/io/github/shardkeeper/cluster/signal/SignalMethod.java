package io.github.shardkeeper.cluster.signal;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.source.PayloadConversionException;
import io.github.shardkeeper.source.PayloadConverter;

/**
 * An {@code @OnClusterSignal} method of a bean. {@link SignalMethodDetector} checks it.
 * Thread-safe.
 */
final class SignalMethod implements SignalHandler {

	private final String signal;

	private final boolean atStart;

	private final Method method;

	/** {@link ClusterSignal}, or the type of the payload. */
	private final List<Type> parameters;

	private final Supplier<Object> bean;

	private final PayloadConverter converter;

	SignalMethod(String signal, boolean atStart, Method method, List<Type> parameters, Supplier<Object> bean,
			PayloadConverter converter) {
		this.signal = signal;
		this.atStart = atStart;
		this.method = method;
		this.parameters = List.copyOf(parameters);
		this.bean = bean;
		this.converter = converter;
	}

	static String name(Method method) {
		return "%s.%s(%s)".formatted(method.getDeclaringClass().getSimpleName(), method.getName(),
				Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName).collect(Collectors.joining(", ")));
	}

	@Override
	public String signal() {
		return this.signal;
	}

	@Override
	public boolean atStart() {
		return this.atStart;
	}

	@Override
	public String method() {
		return name(this.method);
	}

	@Override
	public void handle(ClusterSignal signal) throws Throwable {
		@Nullable Object[] arguments = new @Nullable Object[this.parameters.size()];
		for (int i = 0; i < arguments.length; i++) {
			arguments[i] = argument(this.parameters.get(i), signal);
		}
		Object target = this.bean.get();
		Method invocable = AnnotatedBeans.invocable(this.method, target, "The @OnClusterSignal method " + method());
		try {
			invocable.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	private Object argument(Type type, ClusterSignal signal) {
		if (type == ClusterSignal.class) {
			return signal;
		}
		if (type == String.class) {
			return signal.payload();
		}
		if (signal.payload().isEmpty()) {
			throw new PayloadConversionException(
					"The signal has no payload, but the method takes a " + type.getTypeName());
		}
		return this.converter.read(signal.payload().getBytes(StandardCharsets.UTF_8), type);
	}

}
