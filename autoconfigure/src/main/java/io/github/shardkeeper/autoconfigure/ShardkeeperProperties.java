package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of Shardkeeper. Immutable.
 *
 * @param enabled Whether Shardkeeper is set up at all.
 * @param group Name of the group of instances that share the topics' shards. Defaults to
 * spring.application.name.
 * @param instanceId Id of this instance, shown to people and part of its member ids.
 * Defaults to the host name and the process id.
 * @param version Version of this application. While instances of several versions are
 * there, shards move to the newest. Defaults to spring.application.version.
 * @param store Where membership, ownership, offsets and state are kept.
 * @param keyPrefix Text that all keys in Redis begin with.
 * @param session How instances stay members of the group.
 * @param rebalance How shards are distributed.
 * @param consumer How handlers are run.
 * @param topics Topics by name, each with its number of shards ("shards"). Names with
 * other characters than letters, digits and dashes are written in brackets.
 */
@ConfigurationProperties("shardkeeper")
public record ShardkeeperProperties(@DefaultValue("true") boolean enabled, @Nullable String group,
		@Nullable String instanceId, @Nullable String version, @DefaultValue("redis") Store store,
		@DefaultValue("shardkeeper") String keyPrefix, @DefaultValue Session session, @DefaultValue Rebalance rebalance,
		@DefaultValue Consumer consumer, @DefaultValue Map<String, Topic> topics) {

	/** Where things are kept. */
	public enum Store {

		/** In Redis, for any number of instances. */
		REDIS,

		/** In this process, for tests and a first look; gone when it ends. */
		MEMORY

	}

	/**
	 * How instances stay members of the group.
	 *
	 * @param heartbeatInterval Time between two heartbeats, each of which is one command.
	 * @param lease How long after its last answered heartbeat an instance may consume. A
	 * dead instance's shards move after this time. At least three heartbeat intervals.
	 * @param timeout How long a slow instance (silent, but its process lives) keeps its
	 * shards. At least as long as the lease.
	 */
	public record Session(@DefaultValue("500ms") Duration heartbeatInterval, @DefaultValue("3s") Duration lease,
			@DefaultValue("15s") Duration timeout) {

	}

	/**
	 * How shards are distributed.
	 *
	 * @param settleTime How long the leader waits for further joins and leaves after one,
	 * so that they are planned together.
	 */
	public record Rebalance(@DefaultValue("100ms") Duration settleTime) {

	}

	/**
	 * How handlers are run.
	 *
	 * @param threads Number of threads that all shards of this instance share. Not used
	 * with spring.threads.virtual.enabled.
	 */
	public record Consumer(@DefaultValue("16") int threads) {

	}

	/**
	 * A topic.
	 *
	 * @param shards Number of shards, the same on every instance.
	 */
	public record Topic(@DefaultValue("1") int shards) {

	}

}
