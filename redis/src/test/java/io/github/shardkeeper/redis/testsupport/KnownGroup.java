package io.github.shardkeeper.redis.testsupport;

import java.time.Duration;
import java.util.TreeMap;

import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;

/**
 * Group that Redis knows already. A group that is new to a Redis assigns nothing for a
 * lease, because that Redis may have been emptied; most tests need not wait for that.
 */
public final class KnownGroup {

	private static final Duration LEASE = Duration.ofSeconds(3);

	private KnownGroup() {
	}

	/**
	 * Begins a group on the shared Redis whose name is also its key prefix.
	 * @param name the name of the group
	 */
	public static void begin(String name) {
		begin(RedisClients.sharedConnector(), name, name);
	}

	/**
	 * Lets a member join the group, end the claim period, and leave.
	 * @param connector the connector to Redis
	 * @param keyPrefix the prefix of the keys
	 * @param group the name of the group
	 */
	public static void begin(RedisConnector connector, String keyPrefix, String group) {
		try (RedisCoordinationStore store = new RedisCoordinationStore(connector, keyPrefix, group,
				Duration.ofSeconds(60))) {
			MemberId founder = MemberId.of("founder", "1");
			store.joinGroup(founder, new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN), LEASE,
					LEASE.multipliedBy(5));
			HeartbeatReply.Alive leads = (HeartbeatReply.Alive) store.heartbeat(founder, Seen.NOTHING, true,
					LoadReport.NONE);
			store.endClaims(founder, leads.epoch(), leads.claimsUntilMillis());
			store.leaveGroup(founder, Duration.ZERO);
		}
	}

}
