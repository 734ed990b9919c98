package io.github.shardkeeper.consumer;

import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.handler.HandlerDetection;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * The handlers of an application: those of its beans, without those that it has removed,
 * and those that it has registered. Thread-safe; changes are made by one thread at a
 * time.
 */
final class ConsumedHandlers {

	private final HandlerDetection detection;

	private final SourceRegistry sources;

	private final BiConsumer<String, ShardHandler> check;

	private final Map<String, ShardHandler> registered = new TreeMap<>();

	/** Topics of removed handlers, which the beans still have. */
	private final Set<String> removed = new HashSet<>();

	/** Empty before the beans are known. */
	private volatile Map<String, ShardHandler> current = Map.of();

	/**
	 * Creates handlers that are not found yet.
	 * @param check throws a {@link ShardkeeperConfigurationException} if the handler of a
	 * topic cannot be called with the settings
	 */
	ConsumedHandlers(HandlerDetection detection, SourceRegistry sources, BiConsumer<String, ShardHandler> check) {
		this.detection = detection;
		this.sources = sources;
		this.check = check;
	}

	/** Returns the handlers by topic; empty before they were found for the first time. */
	Map<String, ShardHandler> current() {
		return this.current;
	}

	/**
	 * Checks that a topic has a handler.
	 * @throws IllegalArgumentException if it has none
	 */
	void require(String topic) {
		Set<String> known = this.current.keySet();
		if (!known.contains(topic)) {
			throw new IllegalArgumentException("No @ShardConsumer method of this instance consumes the topic '%s': %s"
				.formatted(topic, known.isEmpty() ? "it has none, or its application context has not started yet"
						: "it has handlers of " + new TreeSet<>(known)));
		}
	}

	/**
	 * Finds and checks the handlers of the beans, and adds those that are registered.
	 * @throws ShardkeeperConfigurationException if one is not supported, or a topic has
	 * two
	 */
	Map<String, ShardHandler> find() {
		Map<String, ShardHandler> found = new TreeMap<>(
				this.detection.detect(this.sources.topics(), this.sources::hasRecords));
		found.keySet().removeAll(this.removed);
		requireNew(found, this.registered);
		found.putAll(this.registered);
		this.current = Collections.unmodifiableMap(found);
		found.forEach(this.check);
		return found;
	}

	/**
	 * Returns the handlers of an object, checked; they are not registered by that.
	 * @param topic the topic of its only handler; {@code null} for those that the
	 * annotations name
	 * @throws ShardkeeperConfigurationException if one is not supported
	 */
	Map<String, ShardHandler> of(Object bean, @Nullable String topic) {
		Map<String, ShardHandler> found = this.detection.detect(bean, topic, this.sources.topics(),
				this.sources::hasRecords);
		found.forEach(this.check);
		return found;
	}

	/**
	 * Adds handlers that no bean has.
	 * @throws ShardkeeperConfigurationException if a topic has a handler already
	 */
	void register(Map<String, ShardHandler> added) {
		requireNew(this.current, added);
		requireNew(this.registered, added);
		this.registered.putAll(added);
		Map<String, ShardHandler> all = new TreeMap<>(this.current);
		all.putAll(added);
		this.current = Collections.unmodifiableMap(all);
	}

	private static void requireNew(Map<String, ShardHandler> known, Map<String, ShardHandler> added) {
		added.forEach((topic, handler) -> {
			ShardHandler other = known.get(topic);
			if (other != null) {
				throw new ShardkeeperConfigurationException(
						"%s cannot be registered for the topic '%s', which has a handler already: %s."
							.formatted(handler.name(), topic, other.name()),
						"Remove that one first, with ShardConsumers.remove, or register this one for another topic.");
			}
		});
	}

	void remove(Set<String> topics) {
		topics.forEach((topic) -> {
			if (this.registered.remove(topic) == null) {
				this.removed.add(topic);
			}
		});
		Map<String, ShardHandler> remaining = new TreeMap<>(this.current);
		remaining.keySet().removeAll(topics);
		this.current = Collections.unmodifiableMap(remaining);
	}

}
