package io.github.shardkeeper.handler;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
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
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.function.SingletonSupplier;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardPreparing;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;

/**
 * Finds the handlers among the application's beans and checks them. Immutable.
 */
public final class ShardHandlerDetector {

	private final ConfigurableListableBeanFactory beans;

	private final PayloadConverter converter;

	private final MessageArguments messages;

	private final @Nullable CallObserver observer;

	private final Function<String, TopicSchedule> schedules;

	/** Creates a detector of handlers without messages and observer. */
	public ShardHandlerDetector(ConfigurableListableBeanFactory beans, PayloadConverter converter) {
		this(beans, converter, MessageArguments.NONE, null, (topic) -> TopicSchedule.NONE);
	}

	/**
	 * Creates a detector.
	 * @param messages fills parameters as from messages
	 * @param observer wraps calls of handlers, {@code null} for none
	 * @param schedules the configured schedules by topic
	 */
	public ShardHandlerDetector(ConfigurableListableBeanFactory beans, PayloadConverter converter,
			MessageArguments messages, @Nullable CallObserver observer, Function<String, TopicSchedule> schedules) {
		this.beans = beans;
		this.converter = converter;
		this.messages = messages;
		this.observer = observer;
		this.schedules = schedules;
	}

	/**
	 * Finds all handlers of topics with records.
	 * @return the handlers by topic
	 * @throws ShardkeeperConfigurationException if a handler is not supported
	 */
	public Map<String, ShardHandler> detect(Map<String, ?> topics) {
		return detect(topics, (topic) -> true);
	}

	/**
	 * Finds all handlers. Call it once all singletons exist and the real type of every
	 * bean is known.
	 * @param hasRecords whether the source of a topic has records
	 * @return the handlers by topic
	 * @throws ShardkeeperConfigurationException if a handler is not supported
	 */
	public Map<String, ShardHandler> detect(Map<String, ?> topics, Predicate<String> hasRecords) {
		Map<String, ShardHandler> handlers = new TreeMap<>();
		Map<String, String> beanNames = new TreeMap<>();
		for (String beanName : this.beans.getBeanNamesForType(Object.class)) {
			Class<?> type = type(beanName);
			if (type != null && AnnotationUtils.isCandidateClass(type, ShardConsumer.class)) {
				for (ShardHandler handler : handlers(beanName, type, topics, hasRecords)) {
					ShardHandler other = handlers.putIfAbsent(handler.topic(), handler);
					if (other != null) {
						throw new ShardkeeperConfigurationException(
								"The topic '%s' has two @ShardConsumer methods: %s of bean '%s' and %s of bean '%s'."
									.formatted(handler.topic(), other.name(), beanNames.get(handler.topic()),
											handler.name(), beanName),
								"Keep one of them: a shard has one consumer. To do two things with a record, "
										+ "call both from that method.");
					}
					beanNames.put(handler.topic(), beanName);
				}
			}
		}
		return handlers;
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

	private List<ShardHandler> handlers(String beanName, Class<?> type, Map<String, ?> topics,
			Predicate<String> hasRecords) {
		List<ShardHandler> handlers = new ArrayList<>();
		List<HandlerSignature> preparing = callbacks(type, OnShardPreparing.class, HandlerSignature::ofPreparation);
		List<HandlerSignature> assigned = callbacks(type, OnShardAssigned.class, HandlerSignature::ofCallback);
		List<HandlerSignature> revoked = callbacks(type, OnShardRevoked.class, HandlerSignature::ofCallback);
		for (Method method : methods(type, ShardConsumer.class)) {
			HandlerSignature signature = HandlerSignature.ofConsumer(method, type, this.messages);
			String topic = topic(method, signature);
			if (!topics.containsKey(topic)) {
				throw ShardkeeperConfigurationException.unknownTopic("The @ShardConsumer method " + signature.name(),
						topic, topics.keySet());
			}
			RunRules rules = new RunRulesReader(signature, topic, hasRecords.test(topic), this.schedules.apply(topic))
				.read(resolved(method, signature, "interval", ShardConsumer::interval),
						resolved(method, signature, "cron", ShardConsumer::cron),
						resolved(method, signature, "zone", ShardConsumer::zone));
			handlers.add(new ShardHandler(topic, beanOnce(beanName), signature, preparing, assigned, revoked,
					this.converter, this.observer, rules, !hasRecords.test(topic)));
			requireCallable(signature, "@ShardConsumer", type, singleton(beanName));
		}
		preparing.forEach((callback) -> requireCallable(callback, "@OnShardPreparing", type, singleton(beanName)));
		assigned.forEach((callback) -> requireCallable(callback, "@OnShardAssigned", type, singleton(beanName)));
		revoked.forEach((callback) -> requireCallable(callback, "@OnShardRevoked", type, singleton(beanName)));
		if (handlers.isEmpty() && !(preparing.isEmpty() && assigned.isEmpty() && revoked.isEmpty())) {
			throw new ShardkeeperConfigurationException(
					"The bean '%s' has an @OnShardPreparing, @OnShardAssigned or @OnShardRevoked method, but no @ShardConsumer method."
						.formatted(beanName),
					"Move the method to the bean of the handler that it belongs to.");
		}
		return handlers;
	}

	/** Returns the bean if it exists already, so that a lazy bean stays lazy. */
	private @Nullable Object singleton(String beanName) {
		return this.beans.containsSingleton(beanName) ? this.beans.getBean(beanName) : null;
	}

	/** Looks the bean up with the first call, so that a lazy bean stays lazy. */
	private Supplier<Object> beanOnce(String beanName) {
		SingletonSupplier<Object> once = SingletonSupplier.of(() -> this.beans.getBean(beanName));
		return once::obtain;
	}

	private String topic(Method method, HandlerSignature signature) {
		return Names.requireValid(resolved(method, signature, "topic", ShardConsumer::value),
				"@ShardConsumer on " + signature.name());
	}

	/** Returns an attribute of the annotation with its placeholders resolved. */
	private String resolved(Method method, HandlerSignature signature, String what,
			Function<ShardConsumer, String> attribute) {
		ShardConsumer annotation = AnnotatedElementUtils.findMergedAnnotation(method, ShardConsumer.class);
		String value = (annotation != null) ? attribute.apply(annotation) : "";
		try {
			String resolved = this.beans.resolveEmbeddedValue(value);
			if (resolved == null || !resolved.contains("${")) {
				return (resolved != null) ? resolved : "";
			}
			throw unresolved(what, signature, resolved, null);
		}
		catch (IllegalArgumentException ex) {
			throw unresolved(what, signature, value, ex);
		}
	}

	private static ShardkeeperConfigurationException unresolved(String what, HandlerSignature signature, String value,
			@Nullable Throwable cause) {
		return new ShardkeeperConfigurationException(
				"The %s of the @ShardConsumer method %s is '%s', which cannot be resolved.".formatted(what,
						signature.name(), value),
				"Set the property that it names, give it a default as in '${name:default}', or write the %s itself."
					.formatted(what),
				cause);
	}

	private static List<HandlerSignature> callbacks(Class<?> type, Class<? extends Annotation> annotation,
			SignatureReader reader) {
		return methods(type, annotation).stream()
			.map((method) -> reader.read(method, type, "@" + annotation.getSimpleName()))
			.toList();
	}

	private static Set<Method> methods(Class<?> type, Class<? extends Annotation> annotation) {
		return MethodIntrospector
			.selectMethods(type,
					(MethodIntrospector.MetadataLookup<Annotation>) (method) -> AnnotatedElementUtils
						.findMergedAnnotation(method, annotation))
			.keySet();
	}

	/**
	 * Checks that a method can be called through the bean's proxy, and that its work is
	 * done when it returns. The bean is {@code null} if it does not exist yet.
	 */
	private static void requireCallable(HandlerSignature signature, String annotation, Class<?> type,
			@Nullable Object bean) {
		if (isAsynchronous(signature.method(), type, bean)) {
			throw notCallable(signature, annotation,
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
				throw notCallable(signature, annotation,
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
		// The application can configure other annotations that mean the same.
		return bean instanceof Advised advised && Arrays.stream(advised.getAdvisors())
			.anyMatch((advisor) -> advisor.getAdvice() instanceof AsyncExecutionInterceptor
					&& applies(advisor, method, type));
	}

	private static boolean applies(Advisor advisor, Method method, Class<?> type) {
		if (advisor instanceof PointcutAdvisor pointcutAdvisor) {
			Pointcut pointcut = pointcutAdvisor.getPointcut();
			return pointcut.getClassFilter().matches(type) && pointcut.getMethodMatcher().matches(method, type);
		}
		return true;
	}

	private static ShardkeeperConfigurationException notCallable(HandlerSignature signature, String annotation,
			String problem, String action) {
		return new ShardkeeperConfigurationException(
				"The %s method %s %s".formatted(annotation, signature.name(), problem), action);
	}

	@FunctionalInterface
	private interface SignatureReader {

		HandlerSignature read(Method method, Class<?> beanType, String annotation);

	}

}
