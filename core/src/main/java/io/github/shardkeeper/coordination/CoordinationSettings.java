package io.github.shardkeeper.coordination;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;

/**
 * What a member of a group is configured with. Immutable.
 *
 * @param group the group's name
 * @param instance the instance's id
 * @param heartbeatInterval how often it says that it is alive
 * @param lease how long after an answered heartbeat it may consume
 * @param timeout how long after a heartbeat its session ends at the latest
 * @param settleTime how long the leader waits for further joins and leaves after one
 * @param version the version of the application
 * @param handover how shards change hands
 * @param capacity how much it takes compared with others, at least 1
 * @param zone where it runs, {@code null} when that does not matter
 */
public record CoordinationSettings(String group, String instance, Duration heartbeatInterval, Duration lease,
		Duration timeout, Duration settleTime, ApplicationVersion version, HandoverRules handover, int capacity,
		@Nullable String zone) {

}
