package io.github.shardkeeper.cluster.signal;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;

import io.github.shardkeeper.cluster.ClusterSignal;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;

/**
 * Finds the {@code @OnClusterSignal} methods among the application's beans and checks
 * them. Immutable.
 */
public final class SignalMethodDetector {

	private static final String MAY_TAKE = "It may take the payload (a String, or what the PayloadConverter makes of it) "
			+ "and ClusterSignal, each at most once.";

	private final AnnotatedBeans beans;

	private final PayloadConverter converter;

	/** Creates a detector. */
	public SignalMethodDetector(AnnotatedBeans beans, PayloadConverter converter) {
		this.beans = beans;
		this.converter = converter;
	}

	/**
	 * Finds all methods. Call it once all singletons exist and the real type of every
	 * bean is known.
	 * @throws ShardkeeperConfigurationException if a method is not supported
	 */
	public List<SignalHandler> detect() {
		List<SignalHandler> handlers = new ArrayList<>();
		this.beans.candidates(OnClusterSignal.class)
			.forEach((beanName, type) -> AnnotatedBeans.methods(type, OnClusterSignal.class)
				.forEach((method) -> handlers.add(handler(beanName, type, method))));
		Map<String, SignalHandler> first = new HashMap<>();
		for (SignalHandler handler : handlers) {
			SignalHandler other = first.putIfAbsent(handler.signal(), handler);
			if (other != null && other.atStart() != handler.atStart()) {
				throw new ShardkeeperConfigurationException(
						"The @OnClusterSignal methods %s and %s of the signal '%s' differ in 'atStart'."
							.formatted(other.method(), handler.method(), handler.signal()),
						"Set it to the same, or use two signals: an instance that starts handles the latest one with all methods or with none.");
			}
		}
		return handlers;
	}

	private SignalHandler handler(String beanName, Class<?> type, Method method) {
		OnClusterSignal annotation = AnnotatedElementUtils.findMergedAnnotation(method, OnClusterSignal.class);
		String where = "@OnClusterSignal method " + SignalMethod.name(method);
		String signal = Names.requireValid(
				this.beans.resolved((annotation != null) ? annotation.value() : "", "name", where), "the " + where);
		List<Type> parameters = parameters(method, type);
		requireCallable(method, type, this.beans.singleton(beanName));
		return new SignalMethod(signal, annotation != null && annotation.atStart(), method, parameters,
				this.beans.once(beanName), this.converter);
	}

	private List<Type> parameters(Method method, Class<?> beanType) {
		if (Modifier.isStatic(method.getModifiers()) || Modifier.isPrivate(method.getModifiers())) {
			throw refused(method, "is private or static.", "Make it an instance method that is not private.");
		}
		List<Type> parameters = new ArrayList<>();
		for (int i = 0; i < method.getParameterCount(); i++) {
			ResolvableType declared = ResolvableType
				.forMethodParameter(new MethodParameter(method, i).withContainingClass(beanType));
			Class<?> raw = declared.resolve();
			if (raw == null || declared.hasUnresolvableGenerics()) {
				throw refused(method, "takes a %s, whose type is not known."
					.formatted(method.getGenericParameterTypes()[i].getTypeName()), "Write the type itself.");
			}
			if (raw == byte[].class) {
				throw refused(method, "takes a byte[].", "Write String: the payload of a signal is text.");
			}
			parameters.add(
					(raw == ClusterSignal.class) ? raw : GenericTypeResolver.resolveType(declared.getType(), beanType));
		}
		long signals = parameters.stream().filter((parameter) -> parameter == ClusterSignal.class).count();
		boolean repeated = signals > 1 || parameters.size() - signals > 1;
		for (Class<?> type : method.getParameterTypes()) {
			if (type != ClusterSignal.class && (repeated ? this.beans.isBean(type) : this.beans.isOnlyBean(type))) {
				throw refused(method, "has a parameter of type %s, of which there is a bean.".formatted(type.getName()),
						AnnotatedBeans.INJECT_BEANS + MAY_TAKE);
			}
		}
		if (repeated) {
			throw refused(method, "has more than one parameter for the same thing.", MAY_TAKE);
		}
		if (method.getReturnType() != void.class) {
			throw refused(method, "returns %s.".formatted(method.getReturnType().getSimpleName()),
					"Declare it 'void' and do the work before it returns: when it returns, the signal counts as "
							+ "handled.");
		}
		return parameters;
	}

	private static void requireCallable(Method method, Class<?> type, @Nullable Object bean) {
		if (AnnotatedBeans.isAsynchronous(method, type, bean)) {
			throw refused(method,
					"is asynchronous: it would return before its work is done, and the signal would "
							+ "count as handled all the same.",
					"Remove @Async. Signals are handled on threads of their own.");
		}
		if (bean != null) {
			AnnotatedBeans.invocable(method, bean, "The @OnClusterSignal method " + SignalMethod.name(method));
		}
	}

	private static ShardkeeperConfigurationException refused(Method method, String what, String action) {
		return new ShardkeeperConfigurationException(
				"The @OnClusterSignal method %s %s".formatted(SignalMethod.name(method), what), action);
	}

}
