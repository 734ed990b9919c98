package io.github.shardkeeper.consumer;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import io.github.shardkeeper.ShardConsumers.State;

/**
 * What the application wants of its handlers on this instance, by topic. Thread-safe.
 */
final class ConsumerStates {

	private final Predicate<String> autoStartup;

	private final Map<String, State> changed = new ConcurrentHashMap<>();

	/**
	 * Creates states that nobody has changed.
	 * @param autoStartup returns whether a topic is running before somebody starts it
	 */
	ConsumerStates(Predicate<String> autoStartup) {
		this.autoStartup = autoStartup;
	}

	State of(String topic) {
		State state = this.changed.get(topic);
		return (state != null) ? state : this.autoStartup.test(topic) ? State.RUNNING : State.STOPPED;
	}

	void set(String topic, State state) {
		this.changed.put(topic, state);
	}

	/** Forgets what the application wanted of a topic. */
	void reset(String topic) {
		this.changed.remove(topic);
	}

	boolean takesPart(String topic) {
		return of(topic) != State.STOPPED;
	}

	/** Returns the topics that this instance takes part in. */
	List<String> takingPart(Collection<String> topics) {
		return topics.stream().filter(this::takesPart).toList();
	}

}
