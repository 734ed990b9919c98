package io.github.shardkeeper.assignment;

import java.util.Set;

import io.github.shardkeeper.shard.ApplicationVersion;

/**
 * A member that may own shards, as far as an assignment depends on it. Immutable.
 *
 * @param topics the topics that it consumes; it can own shards of these only
 * @param version the version of the application that it runs
 */
public record Assignee(Set<String> topics, ApplicationVersion version) {

	public Assignee {
		topics = Set.copyOf(topics);
	}

}
