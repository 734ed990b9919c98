package io.github.shardkeeper.consumer;

import java.lang.reflect.Method;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Checks how a method will be called: through the bean's proxy, and so that its return
 * means that it is done. Has no state.
 */
final class InvocationCheck {

	private InvocationCheck() {
	}

	/**
	 * Checks a method.
	 * @param annotation the annotation that makes it a handler or a callback
	 * @param type the bean's own class
	 * @param bean the bean, which may be a proxy; {@code null} if it does not exist yet
	 * @throws ShardkeeperConfigurationException when it cannot be called, or returns
	 * before it is done
	 */
	static void check(HandlerSignature signature, String annotation, Class<?> type, @Nullable Object bean) {
		if (isAsynchronous(signature.method(), type, bean)) {
			throw refused(signature, annotation,
					"is asynchronous: it would return before its work is done, and the "
							+ "record would count as handled all the same.",
					"Remove @Async. Shards are handled on threads of their own; for several records of a shard at once "
							+ "set 'shardkeeper.consumer.ordering' to 'key' or 'none'.");
		}
		if (bean != null) {
			try {
				signature.invocableOn(bean);
			}
			catch (IllegalStateException ex) {
				throw refused(signature, annotation,
						"cannot be called, because its bean is a proxy of interfaces that do not have it.",
						"Declare the method in the interface, or let the proxy extend the class, with "
								+ "'spring.aop.proxy-target-class: true'.");
			}
		}
	}

	private static boolean isAsynchronous(Method method, Class<?> type, @Nullable Object bean) {
		if (AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(type, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class)) {
			return true;
		}
		// Other annotations can be made to mean the same.
		return bean instanceof Advised advised && Arrays.stream(advised.getAdvisors())
			.anyMatch((advisor) -> advisor.getAdvice() instanceof AsyncExecutionInterceptor
					&& applies(advisor, method, type));
	}

	private static boolean applies(Advisor advisor, Method method, Class<?> type) {
		if (advisor instanceof PointcutAdvisor ofSome) {
			Pointcut pointcut = ofSome.getPointcut();
			return pointcut.getClassFilter().matches(type) && pointcut.getMethodMatcher().matches(method, type);
		}
		return true;
	}

	private static ShardkeeperConfigurationException refused(HandlerSignature signature, String annotation, String what,
			String action) {
		return new ShardkeeperConfigurationException(
				"The %s method %s %s".formatted(annotation, signature.name(), what), action);
	}

}
