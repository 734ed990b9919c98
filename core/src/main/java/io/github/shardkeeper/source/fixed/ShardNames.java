package io.github.shardkeeper.source.fixed;

import java.time.Duration;
import java.util.Collection;

/**
 * Names of the shards of a topic without records, from the application: its tenants, for
 * example. A bean of this type provides them for the topics whose
 * {@code shardkeeper.topics.<name>.names-bean} is its name. Thread-safe.
 * <p>
 * A name that is new is consumed at once; one that no instance lists any more is not
 * consumed any more, and keeps its state. An instance that cannot list them, because
 * {@link #names} throws, keeps the names of its last list.
 */
@FunctionalInterface
public interface ShardNames {

	/**
	 * Returns the names of all shards of a topic. Called once at startup, and then on a
	 * thread of its own while this instance consumes the topic. It may block for some
	 * seconds.
	 * @param topic the topic
	 * @return the names, in any order: 1 to 100 letters, digits, dots, dashes or
	 * underscores, beginning with a letter or digit; at most 100,000
	 */
	Collection<String> names(String topic);

	/**
	 * Returns the pause between two calls.
	 * @return the pause, at least 100 ms
	 */
	default Duration interval() {
		return Duration.ofSeconds(5);
	}

}
