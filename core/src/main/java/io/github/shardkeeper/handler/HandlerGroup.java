package io.github.shardkeeper.handler;

import java.util.Set;
import java.util.TreeSet;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.NearestName;

/**
 * Group whose handlers are found, one of those of the application. Immutable.
 *
 * @param name its name; empty for the one without a name
 * @param known the names of all groups of the application, itself included
 */
@Internal
public record HandlerGroup(String name, Set<String> known) {

	/** The only group of an application. */
	public static final HandlerGroup ONLY = new HandlerGroup("", Set.of(""));

	public HandlerGroup {
		known = Set.copyOf(known);
	}

	/**
	 * Returns whether a handler is one of this group.
	 * @param named the {@link ShardConsumer#group() group} that it names
	 * @param handler the handler, for messages
	 * @throws ShardkeeperConfigurationException if the application has no such group
	 */
	boolean has(String named, String handler) {
		if (this.known.contains(named)) {
			return this.name.equals(named);
		}
		Set<String> names = new TreeSet<>(this.known);
		names.remove("");
		if (named.isEmpty()) {
			throw new ShardkeeperConfigurationException(
					"The @ShardConsumer method %s names no group, and this application has only groups with a name: %s."
						.formatted(handler, names),
					"Write one of them as 'group' of the annotation, or set 'shardkeeper.group': then the method is of that group.");
		}
		throw new ShardkeeperConfigurationException(
				"The @ShardConsumer method %s is of the group '%s', which is not configured; known groups: %s.%s"
					.formatted(handler, named, names, NearestName.question(named, names)),
				"Configure its topics below 'shardkeeper.groups.%s', or correct the name. Without 'group' the method is of the group of 'shardkeeper.group'."
					.formatted(named));
	}

}
