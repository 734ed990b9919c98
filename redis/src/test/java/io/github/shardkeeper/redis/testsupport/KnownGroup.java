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
 * A group that somebody was in before. One that a Redis has never heard of hands nothing
 * out for a lease, since that Redis may have been emptied; tests of something else do not
 * want to wait for that each time.
 */
public final class KnownGroup {

	private static final Duration LEASE = Duration.ofSeconds(3);

	private KnownGroup() {
	}

	/**
	 * Lets a member join the group, end the time for claims, and leave again.
	 * @param connector whose Redis the group is on
	 * @param keyPrefix what its keys begin with
	 * @param group its name
	 */
	public static void begin(RedisConnector connector, String keyPrefix, String group) {
		try (RedisCoordinationStore store = new RedisCoordinationStore(connector, keyPrefix, group,
				Duration.ofSeconds(10))) {
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
