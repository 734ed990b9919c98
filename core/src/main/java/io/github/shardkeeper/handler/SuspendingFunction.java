package io.github.shardkeeper.handler;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.CoroutinesUtils;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * What a suspending function of Kotlin has besides other methods: its last parameter is
 * the continuation, which also tells the type of its result. Called through Reactor, it
 * is a method with a late result. Has no state.
 */
final class SuspendingFunction {

	/** What has to be on the class path; Kotlin's own library is there. */
	private static final List<String> REQUIRED = List.of("kotlin.reflect.full.KCallables",
			"kotlinx.coroutines.reactor.MonoKt");

	private static final boolean CALLABLE = REQUIRED.stream()
		.allMatch((name) -> ClassUtils.isPresent(name, SuspendingFunction.class.getClassLoader()));

	private static final String UNIT = "kotlin.Unit";

	private SuspendingFunction() {
	}

	/** Returns whether suspending functions can be called. */
	static boolean isCallable() {
		return CALLABLE;
	}

	/** Returns the parameters without the continuation. */
	static int parameterCount(Method method) {
		return method.getParameterCount() - (AnnotatedBeans.isSuspending(method) ? 1 : 0);
	}

	/** Returns the type of the result, {@code null} for {@code Unit}. */
	static @Nullable String result(Method method) {
		Type[] parameters = method.getGenericParameterTypes();
		ResolvableType result = ResolvableType.forType(parameters[parameters.length - 1]).getGeneric();
		Class<?> type = (result.getType() instanceof WildcardType wildcard)
				? ResolvableType.forType(wildcard.getLowerBounds()[0]).resolve() : result.resolve();
		return (type != null && type.getName().equals(UNIT)) ? null
				: (type != null) ? type.getSimpleName() : result.toString();
	}

	/** Begins a call on this thread, and returns its late result. */
	static Object call(Method method, Object target, @Nullable Object[] arguments) {
		return CoroutinesUtils.invokeSuspendingFunction(method, target,
				Arrays.copyOf(arguments, parameterCount(method)));
	}

}
