package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.protocol.HeartbeatReply.Alive;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A group without keys is new only where somebody says so, and only for members that have
 * never had a reply of it.
 */
class TrustedEmptinessTests {

	private static final MemberDescription DESCRIPTION = new MemberDescription(
			new TreeMap<>(Map.of("orders", TopicShards.count(4))), ApplicationVersion.UNKNOWN);

	private static final Duration LEASE = Duration.ofSeconds(10);

	private static final MemberId FIRST = new MemberId("first~1");

	private static final MemberId SECOND = new MemberId("second~1");

	private final String group = UUID.randomUUID().toString();

	private final CoordinationStore trusting = store(true);

	private final CoordinationStore careful = store(false);

	private CoordinationStore store(boolean trustsEmpty) {
		return new RedisCoordinationStore(RedisClients.sharedConnector(), "test", this.group, Duration.ofSeconds(60),
				ReplicaWait.NONE, trustsEmpty);
	}

	@AfterEach
	void close() {
		this.trusting.close();
		this.careful.close();
	}

	@Test
	void shardsOfANewGroupAreAssignedAtOnce() {
		join(this.trusting, FIRST, Duration.ZERO);

		Alive reply = heartbeat(FIRST);
		assertThat(reply.claimsUntilMillis()).isZero();
		assertThat(reply.longestLeaseMillis()).isEqualTo(LEASE.toMillis());
		assertThat(this.trusting.applyPlan(FIRST, reply.epoch(),
				List.of(new Transition.Assign(ShardId.of("orders", 0), 0, FIRST))))
			.isEqualTo(new PlanReply.Applied(1, 0));
	}

	@Test
	void emptinessIsNotTrustedByDefault() {
		join(this.careful, FIRST, Duration.ZERO);
		assertThat(heartbeat(FIRST).claimsUntilMillis()).isPositive();
	}

	@Test
	void memberThatHasKnownTheGroupDoesNotTakeItForNew() {
		join(this.trusting, FIRST, LEASE);
		assertThat(heartbeat(FIRST).claimsUntilMillis()).isPositive();
	}

	@Test
	void claimPeriodThatAnotherMemberHasOpenedIsNotEnded() {
		join(this.careful, FIRST, Duration.ZERO);
		join(this.trusting, SECOND, Duration.ZERO);
		assertThat(heartbeat(FIRST).claimsUntilMillis()).isPositive();
	}

	@Test
	void groupThatHasLostSomeOfItsKeysIsNotNew() {
		join(this.trusting, FIRST, Duration.ZERO);
		assertThat(new StringRedisTemplate(RedisClients.sharedFactory()).delete("test:{" + this.group + "}:shards"))
			.isTrue();

		join(this.trusting, SECOND, Duration.ZERO);
		assertThat(heartbeat(SECOND).claimsUntilMillis()).isPositive();
	}

	private static void join(CoordinationStore store, MemberId member, Duration longestLease) {
		store.joinGroup(member, DESCRIPTION, LEASE, LEASE.multipliedBy(2), longestLease, false);
	}

	private Alive heartbeat(MemberId member) {
		return (Alive) this.careful.heartbeat(member, Seen.NOTHING, true, LoadReport.NONE);
	}

}
