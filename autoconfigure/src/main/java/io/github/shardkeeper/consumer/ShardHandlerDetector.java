package io.github.shardkeeper.consumer;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.function.SingletonSupplier;

import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardPreparing;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;

/**
 * Finds the handlers among the application's beans, and what is wrong with them.
 * Immutable.
 */
public final class ShardHandlerDetector {

	private final ConfigurableListableBeanFactory beans;

	private final PayloadConverter converter;

	private final MessageArguments messages;

	private final @Nullable CallObserver observer;

	/**
	 * Creates a detector of handlers that take nothing of messages and are not observed.
	 * @param beans the application's beans
	 * @param converter reads payloads
	 */
	public ShardHandlerDetector(ConfigurableListableBeanFactory beans, PayloadConverter converter) {
		this(beans, converter, MessageArguments.NONE, null);
	}

	/**
	 * Creates a detector.
	 * @param beans the application's beans
	 * @param converter reads payloads
	 * @param messages fills parameters as from messages
	 * @param observer stands around calls of handlers, {@code null} for nobody
	 */
	public ShardHandlerDetector(ConfigurableListableBeanFactory beans, PayloadConverter converter,
			MessageArguments messages, @Nullable CallObserver observer) {
		this.beans = beans;
		this.converter = converter;
		this.messages = messages;
		this.observer = observer;
	}

	/**
	 * Finds all handlers; to be called once all singletons exist, when every bean's real
	 * type is known.
	 * @param topics the topics that there are, by name
	 * @return the handlers by topic
	 * @throws ShardkeeperConfigurationException when one cannot work as it is
	 */
	Map<String, ShardHandler> detect(Map<String, ?> topics) {
		Map<String, ShardHandler> handlers = new TreeMap<>();
		Map<String, String> beanNames = new TreeMap<>();
		for (String beanName : this.beans.getBeanNamesForType(Object.class)) {
			Class<?> type = type(beanName);
			if (type != null && AnnotationUtils.isCandidateClass(type, ShardConsumer.class)) {
				for (ShardHandler handler : handlers(beanName, type, topics)) {
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
	 * The application's own class; of the two beans that make a scoped one, the proxy's.
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

	private List<ShardHandler> handlers(String beanName, Class<?> type, Map<String, ?> topics) {
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
			handlers.add(new ShardHandler(topic, beanOnce(beanName), signature, preparing, assigned, revoked,
					this.converter, this.observer,
					LoopInterval.of(resolved(method, signature, "interval", ShardConsumer::interval), signature)));
			InvocationCheck.check(signature, "@ShardConsumer", type, singleton(beanName));
		}
		preparing
			.forEach((callback) -> InvocationCheck.check(callback, "@OnShardPreparing", type, singleton(beanName)));
		assigned.forEach((callback) -> InvocationCheck.check(callback, "@OnShardAssigned", type, singleton(beanName)));
		revoked.forEach((callback) -> InvocationCheck.check(callback, "@OnShardRevoked", type, singleton(beanName)));
		if (handlers.isEmpty() && !(preparing.isEmpty() && assigned.isEmpty() && revoked.isEmpty())) {
			throw new ShardkeeperConfigurationException(
					"The bean '%s' has an @OnShardPreparing, @OnShardAssigned or @OnShardRevoked method, but no @ShardConsumer method."
						.formatted(beanName),
					"Move the method to the bean of the handler that it belongs to.");
		}
		return handlers;
	}

	/** The bean if it is there already: a lazy one stays lazy. */
	private @Nullable Object singleton(String beanName) {
		return this.beans.containsSingleton(beanName) ? this.beans.getBean(beanName) : null;
	}

	/** Looked up at the first record, so that a lazy bean stays lazy, and then kept. */
	private Supplier<Object> beanOnce(String beanName) {
		SingletonSupplier<Object> once = SingletonSupplier.of(() -> this.beans.getBean(beanName));
		return once::obtain;
	}

	private String topic(Method method, HandlerSignature signature) {
		return Names.requireValid(resolved(method, signature, "topic", ShardConsumer::value),
				"@ShardConsumer on " + signature.name());
	}

	/** What an attribute of the annotation says, without its placeholders. */
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

	/** Reads the signature of a callback, and checks it. */
	@FunctionalInterface
	private interface SignatureReader {

		HandlerSignature read(Method method, Class<?> beanType, String annotation);

	}

}
