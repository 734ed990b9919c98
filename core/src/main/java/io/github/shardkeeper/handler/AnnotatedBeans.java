package io.github.shardkeeper.handler;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Component;
import org.springframework.util.function.SingletonSupplier;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * The application's beans, as far as their methods are annotated. Immutable.
 */
public final class AnnotatedBeans {

	/** What to do with a bean that is a parameter. */
	public static final String INJECT_BEANS = "Take the bean in the constructor of the class; the method takes only what "
			+ "comes with the call. ";

	private static final String COROUTINE = "kotlin.coroutines.Continuation";

	private final ConfigurableListableBeanFactory beans;

	/** Looks at the beans of a factory. */
	public AnnotatedBeans(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	/**
	 * Finds the beans that may have methods with an annotation. Call it once all
	 * singletons exist and the real type of every bean is known.
	 * @return the application's own class by the name of the bean
	 */
	public Map<String, Class<?>> candidates(Class<? extends Annotation> annotation) {
		Map<String, Class<?>> candidates = new LinkedHashMap<>();
		for (String beanName : this.beans.getBeanNamesForType(Object.class)) {
			Class<?> type = type(beanName);
			if (type != null && mayHave(type, annotation)) {
				candidates.put(beanName, type);
			}
		}
		return candidates;
	}

	/**
	 * Returns the application's own class. A scoped bean consists of two beans: the proxy
	 * counts, its target does not.
	 */
	private @Nullable Class<?> type(String beanName) {
		if (ScopedProxyUtils.isScopedTarget(beanName)) {
			return null;
		}
		Class<?> type = AutoProxyUtils.determineTargetClass(this.beans, beanName);
		if (type != null && ScopedObject.class.isAssignableFrom(type)) {
			return AutoProxyUtils.determineTargetClass(this.beans, ScopedProxyUtils.getTargetBeanName(beanName));
		}
		return type;
	}

	/**
	 * Returns whether methods of a class may have an annotation. Classes of Spring itself
	 * have none of Shardkeeper's, and an application has hundreds of them: to look at all
	 * their methods would take a noticeable part of its start.
	 */
	public static boolean mayHave(Class<?> type, Class<? extends Annotation> annotation) {
		return !type.getName().startsWith("org.springframework.") && AnnotationUtils.isCandidateClass(type, annotation);
	}

	/** Returns the methods of a class with an annotation. */
	public static Set<Method> methods(Class<?> type, Class<? extends Annotation> annotation) {
		return MethodIntrospector
			.selectMethods(type,
					(MethodIntrospector.MetadataLookup<Annotation>) (method) -> AnnotatedElementUtils
						.findMergedAnnotation(method, annotation))
			.keySet();
	}

	/** Returns the bean if it exists already, so that a lazy bean stays lazy. */
	public @Nullable Object singleton(String beanName) {
		return this.beans.containsSingleton(beanName) ? this.beans.getBean(beanName) : null;
	}

	/** Looks the bean up with the first call, so that a lazy bean stays lazy. */
	public Supplier<Object> once(String beanName) {
		SingletonSupplier<Object> once = SingletonSupplier.of(() -> this.beans.getBean(beanName));
		return once::obtain;
	}

	/**
	 * Returns whether a parameter of the type asks for a bean. Beans of the JDK's types
	 * do not count: a payload may be a {@code String} or a {@code Map}.
	 */
	public boolean isBean(Class<?> type) {
		return !type.getName().startsWith("java.") && this.beans.getBeanNamesForType(type, true, false).length > 0;
	}

	/**
	 * Returns whether it does although no other parameter has the place of the payload: a
	 * class may be both, the type of payloads and that of a bean.
	 */
	public boolean isOnlyBean(Class<?> type) {
		return (type.isInterface() || AnnotatedElementUtils.hasAnnotation(type, Component.class)) && isBean(type);
	}

	/**
	 * Resolves the placeholders of an attribute.
	 * @param what the attribute, for messages
	 * @param where annotation and method, for messages
	 * @throws ShardkeeperConfigurationException if one cannot be resolved, or the value
	 * has an expression
	 */
	public String resolved(String value, String what, String where) {
		try {
			String resolved = this.beans.resolveEmbeddedValue(value);
			if (resolved != null && resolved.contains("#{")) {
				throw new ShardkeeperConfigurationException(
						"The %s of the %s is '%s', but expressions (SpEL) are not evaluated here.".formatted(what,
								where, resolved),
						"Write the %s itself, or set it as a property and write a placeholder as in '${name}'."
							.formatted(what));
			}
			if (resolved == null || !resolved.contains("${")) {
				return (resolved != null) ? resolved : "";
			}
			throw unresolved(resolved, what, where, null);
		}
		catch (IllegalArgumentException ex) {
			throw unresolved(value, what, where, ex);
		}
	}

	private static ShardkeeperConfigurationException unresolved(String value, String what, String where,
			@Nullable Throwable cause) {
		return new ShardkeeperConfigurationException(
				"The %s of the %s is '%s', which cannot be resolved.".formatted(what, where, value),
				"Set the property that it names, give it a default as in '${name:default}', or write the %s itself."
					.formatted(what),
				cause);
	}

	/** Returns whether a call of the method returns before its work is done. */
	public static boolean isAsynchronous(Method method, Class<?> type, @Nullable Object bean) {
		if (AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(type, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class)) {
			return true;
		}
		// The application can configure other annotations that mean the same.
		return bean instanceof Advised advised && Arrays.stream(advised.getAdvisors())
			.anyMatch((advisor) -> advisor.getAdvice() instanceof AsyncExecutionInterceptor
					&& applies(advisor, method, type));
	}

	/** Returns whether a result of the type can come before the work is done. */
	public static boolean isAsynchronousResult(Class<?> returned) {
		return Future.class.isAssignableFrom(returned) || CompletionStage.class.isAssignableFrom(returned)
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned) != null;
	}

	/** Returns whether the method is a suspending function of Kotlin. */
	public static boolean isSuspending(Method method) {
		Class<?>[] parameters = method.getParameterTypes();
		return parameters.length > 0 && parameters[parameters.length - 1].getName().equals(COROUTINE);
	}

	private static boolean applies(Advisor advisor, Method method, Class<?> type) {
		if (advisor instanceof PointcutAdvisor pointcutAdvisor) {
			Pointcut pointcut = pointcutAdvisor.getPointcut();
			return pointcut.getClassFilter().matches(type) && pointcut.getMethodMatcher().matches(method, type);
		}
		return true;
	}

}
