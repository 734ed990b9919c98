package io.github.shardkeeper.assignment;

import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;

/**
 * Member that may own shards, with what an assignment depends on. Immutable.
 *
 * @param id the id of the member
 * @param topics the topics that it consumes; it can own shards of these only
 * @param version the version of the application that it runs
 * @param capacity the share of work compared with other members, at least 1; no limit
 * @param zone the zone that it runs in, {@code null} if unknown
 */
public record Assignee(MemberId id, Set<String> topics, ApplicationVersion version, int capacity,
		@Nullable String zone) {

	public Assignee {
		Objects.requireNonNull(id, "id must not be null");
		Objects.requireNonNull(topics, "topics must not be null");
		Objects.requireNonNull(version, "version must not be null");
		topics = Set.copyOf(topics);
		if (capacity < 1) {
			throw new IllegalArgumentException("%s has a capacity of %d: it is at least 1".formatted(id, capacity));
		}
	}

	/**
	 * Creates a member of capacity 1 in no zone.
	 * @param id the id of the member
	 * @param topics the topics that it consumes
	 * @param version the version of the application that it runs
	 */
	public Assignee(MemberId id, Set<String> topics, ApplicationVersion version) {
		this(id, topics, version, 1, null);
	}

}
