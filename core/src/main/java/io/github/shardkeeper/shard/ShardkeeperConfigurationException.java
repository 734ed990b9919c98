package io.github.shardkeeper.shard;

import java.util.Collection;

import org.jspecify.annotations.Nullable;

/**
 * The application's configuration or code cannot work as it is. Stops the start; a retry
 * does not help.
 */
public class ShardkeeperConfigurationException extends RuntimeException {

	private final String description;

	private final String action;

	/**
	 * Creates the exception.
	 * @param description what is wrong, naming the property or method
	 * @param action what to write instead
	 */
	public ShardkeeperConfigurationException(String description, String action) {
		this(description, action, null);
	}

	/**
	 * Creates the exception.
	 * @param description what is wrong, naming the property or method
	 * @param action what to write instead
	 * @param cause where it showed
	 */
	public ShardkeeperConfigurationException(String description, String action, @Nullable Throwable cause) {
		super(description + " " + action, cause);
		this.description = description;
		this.action = action;
	}

	/**
	 * A topic is named that is not configured.
	 * @param where who names it, the beginning of a sentence
	 * @param topic the topic
	 * @param known the topics that are configured
	 * @return the exception
	 */
	public static ShardkeeperConfigurationException unknownTopic(String where, String topic, Collection<String> known) {
		return new ShardkeeperConfigurationException(
				"%s names the topic '%s', which is not configured; known topics: %s.".formatted(where, topic, known),
				("Add 'shardkeeper.topics.[%s].shards' or correct the name. The brackets may be left out "
						+ "around a name of letters, digits and dashes.")
					.formatted(topic));
	}

	/**
	 * What is wrong.
	 * @return one or two sentences naming the property or method
	 */
	public final String getDescription() {
		return this.description;
	}

	/**
	 * What to write instead.
	 * @return one or two sentences
	 */
	public final String getAction() {
		return this.action;
	}

}
