package io.github.shardkeeper.handler;

import java.util.Map;
import java.util.function.Predicate;

/**
 * Port of what finds the handlers of an application. Thread-safe.
 */
@FunctionalInterface
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

}
