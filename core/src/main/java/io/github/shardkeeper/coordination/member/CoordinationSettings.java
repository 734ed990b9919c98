package io.github.shardkeeper.coordination.member;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.shard.ApplicationVersion;

/**
 * Settings of a member of a group. Immutable.
 *
 * @param group the group's name
 * @param instance the instance's id
 * @param heartbeatInterval the time between two heartbeats
 * @param lease the time after an answered heartbeat for which the member may consume
 * @param timeout the time after a heartbeat at which its session ends at the latest
 * @param settleTime the time for which the leader waits for further joins and leaves
 * @param version the version of the application
 * @param handover the rules of handovers
 * @param capacity the share of shards compared with other members, at least 1
 * @param zone the zone in which it runs, {@code null} for none
 * @param awayTimeout the time for which its shards are kept when it leaves; zero if they
 * are given to others
 */
public record CoordinationSettings(String group, String instance, Duration heartbeatInterval, Duration lease,
		Duration timeout, Duration settleTime, ApplicationVersion version, HandoverRules handover, int capacity,
		@Nullable String zone, Duration awayTimeout) {

	/**
	 * Creates the settings of a member whose shards are given to others when it leaves.
	 */
	public CoordinationSettings(String group, String instance, Duration heartbeatInterval, Duration lease,
			Duration timeout, Duration settleTime, ApplicationVersion version, HandoverRules handover, int capacity,
			@Nullable String zone) {
		this(group, instance, heartbeatInterval, lease, timeout, settleTime, version, handover, capacity, zone,
				Duration.ZERO);
	}

	/** Returns whether it restarts in place. */
	boolean restartsInPlace() {
		return !this.awayTimeout.isZero();
	}

}
