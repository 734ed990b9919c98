package io.github.shardkeeper.handler;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardPreparing;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.OnShardTimer;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.schedule.RunRules;
import io.github.shardkeeper.schedule.TopicSchedule;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.text.PrintableLogger;
import io.github.shardkeeper.text.PrintableText;

/**
 * Finds the handlers among the application's beans and checks them. Immutable.
 */
@Internal
public final class ShardHandlerDetector implements HandlerDetection {

	private static final Logger logger = PrintableLogger.of(ShardHandlerDetector.class);

	/** Characters of the list of beans in a warning. */
	private static final int MOST_NAMED = 2_000;

	private final AnnotatedBeans beans;

	private final PayloadConverter converter;

	private final MessageArguments messages;

	private final CallHooks hooks;

	private final Function<String, TopicSchedule> schedules;

	private final HandlerGroup group;

	/** Creates a detector of handlers without messages and hooks. */
	public ShardHandlerDetector(ConfigurableListableBeanFactory beans, PayloadConverter converter) {
		this(new AnnotatedBeans(beans), converter, MessageArguments.NONE, CallHooks.NONE,
				(topic) -> TopicSchedule.NONE);
	}

	/**
	 * Creates a detector.
	 * @param messages fills parameters as from messages
	 * @param hooks what the application has around calls
	 * @param schedules the configured schedules by topic
	 */
	public ShardHandlerDetector(AnnotatedBeans beans, PayloadConverter converter, MessageArguments messages,
			CallHooks hooks, Function<String, TopicSchedule> schedules) {
		this(beans, converter, messages, hooks, schedules, HandlerGroup.ONLY);
	}

	private ShardHandlerDetector(AnnotatedBeans beans, PayloadConverter converter, MessageArguments messages,
			CallHooks hooks, Function<String, TopicSchedule> schedules, HandlerGroup group) {
		this.beans = beans;
		this.converter = converter;
		this.messages = messages;
		this.hooks = hooks;
		this.schedules = schedules;
		this.group = group;
	}

	/** Returns a detector of the handlers of one of several groups. */
	public ShardHandlerDetector of(HandlerGroup one) {
		return new ShardHandlerDetector(this.beans, this.converter, this.messages, this.hooks, this.schedules, one);
	}

	/** Returns the converter of payloads. */
	public PayloadConverter converter() {
		return this.converter;
	}

	/**
	 * Finds all handlers of topics with records.
	 * @return the handlers by topic
	 * @throws ShardkeeperConfigurationException if a handler is not supported
	 */
	public Map<String, ShardHandler> detect(Map<String, ?> topics) {
		return detect(topics, (topic) -> true);
	}

	@Override
	public Map<String, ShardHandler> detect(Map<String, ?> topics, Predicate<String> hasRecords) {
		Map<String, ShardHandler> handlers = new TreeMap<>();
		Map<String, String> beanNames = new TreeMap<>();
		this.beans.candidates(ShardConsumer.class).forEach((beanName, type) -> {
			// One instance for all calls, also of a prototype. Created here if it is
			// lazy.
			Supplier<Object> bean = this.beans.once(beanName);
			for (ShardHandler handler : handlers(beanName, type, bean, hasRecords,
					(consumer, signature) -> isOfGroup(consumer, signature)
							? topics(consumer, signature, topics.keySet()) : List.of())) {
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
		});
		warnOfUnknownBeans(topics.keySet(), handlers.keySet());
		return handlers;
	}

	@Override
	public Map<String, ShardHandler> detect(Object bean, @Nullable String topic, Map<String, ?> topics,
			Predicate<String> hasRecords) {
		Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
		if (topic != null && !topics.containsKey(topic)) {
			throw ShardkeeperConfigurationException.unknownTopic("The registration of " + type.getName(), topic,
					topics.keySet());
		}
		Map<String, ShardHandler> handlers = new TreeMap<>();
		for (ShardHandler handler : handlers(type.getName(), type, () -> bean, hasRecords, (consumer, signature) -> {
			requireOfGroup(consumer, signature);
			return (topic != null) ? List.of(topic) : topics(consumer, signature, topics.keySet());
		})) {
			ShardHandler other = handlers.putIfAbsent(handler.topic(), handler);
			if (other != null) {
				throw new ShardkeeperConfigurationException(
						"The topic '%s' has two @ShardConsumer methods: %s and %s.".formatted(handler.topic(),
								other.name(), handler.name()),
						"Keep one of them: a shard has one consumer. To do two things with a record, "
								+ "call both from that method.");
			}
		}
		if (handlers.isEmpty()) {
			throw new ShardkeeperConfigurationException(
					"The class %s has no @ShardConsumer method to register.".formatted(type.getName()),
					"Annotate the method that handles the records.");
		}
		return handlers;
	}

	/** Where each topic has its handler, nothing is missing. */
	private void warnOfUnknownBeans(Set<String> topics, Set<String> handled) {
		Set<String> without = new TreeSet<>(topics);
		without.removeAll(handled);
		Map<String, String> unknown = without.isEmpty() ? Map.of() : this.beans.ofUnknownClass();
		if (!unknown.isEmpty()) {
			logger.warn("""
					This instance does not consume the topics {}: no known bean has a @ShardConsumer method for them. \
					These beans do not exist yet, and their definitions do not tell their class: {}. If one of them is \
					the handler, declare its class as the return type of the @Bean method, or remove @Lazy""", without,
					PrintableText.of(unknown.toString(), MOST_NAMED));
		}
	}

	private List<ShardHandler> handlers(String beanName, Class<?> type, Supplier<Object> bean,
			Predicate<String> hasRecords, TopicNames names) {
		List<ShardHandler> handlers = new ArrayList<>();
		HandlerCallbacks callbacks = callbacks(beanName, type);
		Set<Method> methods = AnnotatedBeans.methods(type, ShardConsumer.class);
		for (Method method : methods) {
			HandlerSignature signature = HandlerSignature.ofConsumer(method, type, this.messages, this.beans);
			for (ShardConsumer consumer : AnnotatedBeans.annotations(method, ShardConsumer.class)) {
				for (String topic : names.of(consumer, signature)) {
					boolean records = hasRecords.test(topic);
					RunRules rules = new RunRulesReader(signature, topic, records, this.schedules.apply(topic)).read(
							resolved(consumer.interval(), "interval", signature),
							resolved(consumer.cron(), "cron", signature), resolved(consumer.zone(), "zone", signature));
					handlers.add(new ShardHandler(topic, bean, signature, callbacks, this.converter, this.hooks, rules,
							!records));
				}
			}
			requireCallable(signature, "@ShardConsumer", type, bean.get());
		}
		callbacks.all().forEach((callback) -> requireCallable(callback, callback.annotation(), type, bean.get()));
		if (methods.isEmpty() && !callbacks.isEmpty()) {
			throw new ShardkeeperConfigurationException(
					"The bean '%s' has an @OnShardPreparing, @OnShardAssigned, @OnShardRevoked or @OnShardTimer method, but no @ShardConsumer method."
						.formatted(beanName),
					"Move the method to the bean of the handler that it belongs to.");
		}
		return handlers;
	}

	private boolean isOfGroup(ShardConsumer consumer, HandlerSignature signature) {
		return this.group.has(resolved(consumer.group(), "group", signature), signature.name());
	}

	/** An object that names no group is for the group that it is registered with. */
	private void requireOfGroup(ShardConsumer consumer, HandlerSignature signature) {
		if (!consumer.group().isEmpty() && !isOfGroup(consumer, signature)) {
			throw new ShardkeeperConfigurationException(
					"The @ShardConsumer method %s is of the group '%s', and cannot be registered with another one."
						.formatted(signature.name(), consumer.group()),
					"Register it with the ShardConsumers of its group, or leave out 'group' of the annotation.");
		}
	}

	private List<String> topics(ShardConsumer consumer, HandlerSignature signature, Set<String> known) {
		List<String> topics = new ArrayList<>();
		for (String value : consumer.value()) {
			String topic = Names.requireValid(resolved(value, "topic", signature),
					"@ShardConsumer on " + signature.name());
			if (!known.contains(topic)) {
				throw ShardkeeperConfigurationException.unknownTopic("The @ShardConsumer method " + signature.name(),
						topic, known);
			}
			topics.add(topic);
		}
		if (topics.isEmpty()) {
			throw new ShardkeeperConfigurationException(
					"The @ShardConsumer method %s names no topic.".formatted(signature.name()),
					"Write the name of a topic, or remove the annotation.");
		}
		return topics;
	}

	private static HandlerCallbacks callbacks(String beanName, Class<?> type) {
		List<HandlerSignature> timers = callbacks(type, OnShardTimer.class, HandlerSignature::ofTimer);
		if (timers.size() > 1) {
			throw new ShardkeeperConfigurationException(
					"The bean '%s' has two @OnShardTimer methods: %s and %s.".formatted(beanName, timers.get(0).name(),
							timers.get(1).name()),
					"Keep one of them: the name of its ShardTimer tells one kind of timer from another.");
		}
		return new HandlerCallbacks(callbacks(type, OnShardPreparing.class, HandlerSignature::ofPreparation),
				callbacks(type, OnShardAssigned.class, HandlerSignature::ofCallback),
				callbacks(type, OnShardRevoked.class, HandlerSignature::ofCallback),
				timers.isEmpty() ? null : timers.get(0));
	}

	/** Returns an attribute of the annotation with its placeholders resolved. */
	private String resolved(String value, String what, HandlerSignature signature) {
		return this.beans.resolved(value, what, "@ShardConsumer method " + signature.name());
	}

	private static List<HandlerSignature> callbacks(Class<?> type, Class<? extends Annotation> annotation,
			SignatureReader reader) {
		return AnnotatedBeans.methods(type, annotation)
			.stream()
			.map((method) -> reader.read(method, type, "@" + annotation.getSimpleName()))
			.toList();
	}

	/**
	 * Checks that a method can be called through the bean's proxy, and that it is known
	 * when its work is done.
	 */
	private static void requireCallable(HandlerSignature signature, String annotation, Class<?> type, Object bean) {
		String what = "The %s method %s".formatted(annotation, signature.name());
		// Spring's @Async supports no other results.
		boolean awaited = Future.class.isAssignableFrom(signature.method().getReturnType());
		if (!awaited && AnnotatedBeans.isAsynchronous(signature.method(), type, bean)) {
			throw new ShardkeeperConfigurationException(
					what + " is asynchronous: it would return before its work is done, and the "
							+ "record would count as handled all the same.",
					"Remove @Async, or return a CompletableFuture of the work. Shards are handled on threads of their own; for several records of a shard at once "
							+ "set 'shardkeeper.consumer.ordering' to 'key' or 'none'.");
		}
		AnnotatedBeans.invocable(signature.method(), bean, what);
	}

	@FunctionalInterface
	private interface TopicNames {

		List<String> of(ShardConsumer consumer, HandlerSignature signature);

	}

	@FunctionalInterface
	private interface SignatureReader {

		HandlerSignature read(Method method, Class<?> beanType, String annotation);

	}

}
