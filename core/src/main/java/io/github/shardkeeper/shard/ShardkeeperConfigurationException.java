package io.github.shardkeeper.shard;

import java.util.Collection;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.text.NearestName;

/**
 * Indicates that the configuration or code of the application cannot work. Fails startup;
 * a retry does not help.
 */
public class ShardkeeperConfigurationException extends RuntimeException {

	private final String description;

	private final String action;

	/**
	 * Creates the exception.
	 * @param description the problem, with the property or method
	 * @param action how to fix it
	 */
	public ShardkeeperConfigurationException(String description, String action) {
		this(description, action, null);
	}

	/**
	 * Creates the exception.
	 * @param description the problem, with the property or method
	 * @param action how to fix it
	 * @param cause the cause
	 */
	public ShardkeeperConfigurationException(String description, String action, @Nullable Throwable cause) {
		super(description + " " + action, cause);
		this.description = description;
		this.action = action;
	}

	/**
	 * Creates the exception for a topic that is not configured.
	 * @param where the element that names it; begins the sentence
	 * @param topic the topic
	 * @param known the configured topics
	 * @return the exception
	 */
	public static ShardkeeperConfigurationException unknownTopic(String where, String topic, Collection<String> known) {
		return new ShardkeeperConfigurationException(
				"%s names the topic '%s', which is not configured; known topics: %s.%s".formatted(where, topic, known,
						NearestName.question(topic, known)),
				("Add 'shardkeeper.topics.[%s].shards' or correct the name. The brackets may be left out "
						+ "around a name of letters, digits and dashes.")
					.formatted(topic));
	}

	/** Returns the problem: one or two sentences with the property or method. */
	public final String getDescription() {
		return this.description;
	}

	/** Returns how to fix it: one or two sentences. */
	public final String getAction() {
		return this.action;
	}

}
