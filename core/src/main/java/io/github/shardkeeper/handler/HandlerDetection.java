package io.github.shardkeeper.handler;

import java.util.Map;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;

/**
 * Port of what finds the handlers of an application. Thread-safe.
 */
@Internal
public interface HandlerDetection {

	/**
	 * Finds all handlers. Call it once all singletons exist and the real type of every
	 * bean is known.
	 * @param topics the known topics
	 * @param hasRecords whether the source of a topic has records
	 * @return the handlers by topic
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if a handler
	 * is not supported
	 */
	Map<String, ShardHandler> detect(Map<String, ?> topics, Predicate<String> hasRecords);

	/**
	 * Finds the handlers of one object, which need not be a bean of the application
	 * context.
	 * @param bean the object
	 * @param topic the topic of its only handler, instead of those that the annotation
	 * names; {@code null} for those
	 * @param topics the known topics
	 * @param hasRecords whether the source of a topic has records
	 * @return the handlers by topic
	 * @throws io.github.shardkeeper.shard.ShardkeeperConfigurationException if a handler
	 * is not supported, there is none, or a topic is not configured
	 */
	Map<String, ShardHandler> detect(Object bean, @Nullable String topic, Map<String, ?> topics,
			Predicate<String> hasRecords);

}
