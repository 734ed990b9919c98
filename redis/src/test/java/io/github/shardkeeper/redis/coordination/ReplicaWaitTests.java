package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.Acquisition;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitReply;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.Commit.CommitNumber;
import io.github.shardkeeper.directive.Directive;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.member.HoldingAction.Release;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * With {@code shardkeeper.redis.wait-for-replicas} an ownership counts when replicas have
 * it, and not before.
 */
@OnEveryRedis
@Tag("proof")
class ReplicaWaitTests {

	private static final SteadyTime ALWAYS = new SteadyTime(0, Long.MAX_VALUE, 0);

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final ReplicaWait ONE = new ReplicaWait(1, Duration.ofMillis(200));

	private static final ShardId SHARD = ShardId.of("orders", 1);

	private static final Directive PAUSE = Directive.of(Directive.Kind.PAUSE, "orders", null, "ann", "");

	private static final Token TOKEN = new Token(1_767_225_600_123_456L);

	private final String group = UUID.randomUUID().toString();

	private LettuceConnectionFactory factory;

	private RedisConnector connector;

	private RedisCheckpointStore checkpoints;

	private void connect(LettuceConnectionFactory connections) {
		this.factory = connections;
		this.connector = new RedisConnector(connections);
		this.checkpoints = checkpoints();
	}

	private RedisCheckpointStore checkpoints() {
		return new RedisCheckpointStore(this.connector, "test", this.group, TIMEOUT, ONE);
	}

	@AfterEach
	void close() {
		this.checkpoints.close();
		this.connector.stop();
		this.factory.destroy();
	}

	@Test
	void newOwnerConsumesOnceAReplicaHasItsFence() {
		withReplica((replica) -> {
			assertThat(this.checkpoints.acquireNow(SHARD, TOKEN)).isInstanceOf(Acquisition.Acquired.class);
			assertThat(fence(replica)).isEqualTo(TOKEN.toString());

			replica.freeze();
			Token next = new Token(TOKEN.value() + 1);
			assertRefused(() -> this.checkpoints.acquireNow(SHARD, next));
			// Neither for the one who asks again, nor over a new connection.
			assertRefused(() -> this.checkpoints.acquireNow(SHARD, next));
			try (RedisCheckpointStore other = checkpoints()) {
				assertRefused(() -> other.acquireNow(SHARD, next));
			}

			replica.thaw();
			Awaitility.await()
				.ignoreExceptionsInstanceOf(StoreUnavailableException.class)
				.untilAsserted(() -> assertThat(this.checkpoints.acquireNow(SHARD, next))
					.isInstanceOf(Acquisition.Acquired.class));
			assertThat(fence(replica)).isEqualTo(next.toString());
		});
	}

	/** Nor do commits, heartbeats and joins wait behind those that do. */
	@Test
	void onlyChangesOfOwnershipAndOfDirectivesWaitForReplicas() {
		withReplica((replica) -> {
			this.checkpoints.acquireNow(SHARD, TOKEN);
			try (RedisCoordinationStore store = new RedisCoordinationStore(this.connector, "test", this.group, TIMEOUT,
					ONE)) {
				MemberId member = MemberId.of("a", "1");
				replica.freeze();
				store.joinGroup(member, new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN),
						Duration.ofSeconds(30), Duration.ofSeconds(60));
				HeartbeatReply.Alive alive = (HeartbeatReply.Alive) store.heartbeat(member, Seen.NOTHING, true,
						LoadReport.NONE);
				assertThat(this.checkpoints
					.commit(SHARD, TOKEN, Commit.of(CommitNumber.ofWhole(1), new Offset("1-0"), Map.of()))
					.join()).isEqualTo(CommitReply.COMMITTED);

				assertRefused(
						() -> store.applyPlan(member, alive.epoch(), List.of(new Transition.Assign(SHARD, 0, member))));
				assertRefused(() -> store.notifyOwners(List.of(SHARD)));
				assertRefused(() -> store.releaseShards(member, List.of(new Release(SHARD, TOKEN, Token.NONE, false)),
						Duration.ZERO));
				assertRefused(() -> store.claimShards(member, Map.of(SHARD, TOKEN)));
				assertRefused(() -> store.reapMembers(member, alive.epoch(), ALWAYS, Duration.ZERO));
				assertRefused(() -> store.forgetShards("payments"));
				assertRefused(() -> store.directives().put(PAUSE));
				// What is already stored may be on no replica either.
				assertRefused(() -> store.directives().put(PAUSE));
				assertThat(store.directives().read().all()).extracting(Directive::name).containsExactly(PAUSE.name());
				assertRefused(() -> store.directives().clear(PAUSE.kind(), PAUSE.subject()));
				assertRefused(() -> store.directives().clear(PAUSE.kind(), PAUSE.subject()));
				assertRefused(() -> store.leaveGroup(member, Duration.ZERO));
			}
			finally {
				replica.thaw();
			}
		});
	}

	/**
	 * From Redis 7.2 on, {@code WAIT} counts only what was written on its own connection.
	 * So what is repeated on another one, because the reply was lost, writes something
	 * even if there is nothing left to do.
	 */
	@Test
	void repeatedChangeOfOwnershipWritesForItsOwnWait() {
		try (EmbeddedRedis master = EmbeddedRedis.startReplicating()) {
			try (EmbeddedRedis replica = EmbeddedRedis.startReplicating("--replicaof", "127.0.0.1",
					String.valueOf(master.port()))) {
				master.emptyWithReplicas(1);
				// No replica follows from now on, so only writes move the offset.
				replica.kill();
			}
			Awaitility.await()
				.until(() -> master.call((commands) -> commands.info("replication")).contains("connected_slaves:0"));
			connect(RedisClients.factory(master));
			repetitions().forEach((what, change) -> {
				change.run();
				long before = replicationOffset(master);
				change.run();
				assertThat(replicationOffset(master)).as(what).isGreaterThan(before);
			});
		}
	}

	/** In this order; none waits. */
	private Map<String, Runnable> repetitions() {
		RedisCoordinationStore store = new RedisCoordinationStore(this.connector, "test", this.group, TIMEOUT);
		RedisCheckpointStore data = new RedisCheckpointStore(this.connector, "test", this.group, TIMEOUT);
		MemberId member = MemberId.of("a", "1");
		store.joinGroup(member, new MemberDescription(new TreeMap<>(), ApplicationVersion.UNKNOWN),
				Duration.ofSeconds(30), Duration.ofSeconds(60));
		HeartbeatReply.Alive leads = (HeartbeatReply.Alive) store.heartbeat(member, Seen.NOTHING, true,
				LoadReport.NONE);
		long epoch = leads.epoch();
		store.endClaims(member, epoch, leads.claimsUntilMillis());
		Map<String, Runnable> changes = new LinkedHashMap<>();
		// Before there are claims.
		changes.put("forget", () -> store.forgetShards("payments"));
		changes.put("pause", () -> store.directives().put(PAUSE));
		changes.put("resume", () -> store.directives().clear(PAUSE.kind(), PAUSE.subject()));
		changes.put("nudge", () -> store.notifyOwners(List.of(SHARD)));
		changes.put("claim", () -> store.claimShards(member, Map.of(SHARD, TOKEN)));
		changes.put("presentation", () -> store.presentShards(member, Map.of(SHARD, TOKEN)));
		changes.put("acquire", () -> data.acquireNow(SHARD, TOKEN));
		changes.put("seek", () -> data.seek(SHARD, new Offset("1-0"), false));
		changes.put("complete, pending", () -> data.complete(SHARD, TOKEN, 0, 0));
		changes.put("consumedSince", () -> data.consumedSince("orders"));
		changes.put("release", () -> store.releaseShards(member, List.of(new Release(SHARD, TOKEN, Token.NONE, false)),
				Duration.ZERO));
		changes.put("plan", () -> store.applyPlan(member, epoch, List.of(new Transition.Assign(SHARD, 0, member))));
		changes.put("plan of another leader",
				() -> store.applyPlan(member, epoch + 1, List.of(new Transition.Assign(SHARD, 0, member))));
		changes.put("reap", () -> store.reapMembers(member, epoch, ALWAYS, Duration.ZERO));
		changes.put("reap of another leader", () -> store.reapMembers(member, epoch + 1, ALWAYS, Duration.ZERO));
		changes.put("leave", () -> store.leaveGroup(member, Duration.ZERO));
		changes.put("claim of one who has left", () -> store.claimShards(member, Map.of(SHARD, TOKEN)));
		return changes;
	}

	private static long replicationOffset(EmbeddedRedis redis) {
		String info = redis.call((commands) -> commands.info("replication"));
		Matcher offset = Pattern.compile("master_repl_offset:(\\d+)").matcher(info);
		assertThat(offset.find()).isTrue();
		return Long.parseLong(offset.group(1));
	}

	@Test
	void replicaOfTheShardsOwnNodeCountsOnACluster() {
		try (EmbeddedRedisCluster cluster = EmbeddedRedisCluster.startWithReplicas(3)) {
			connect(RedisClients.factory(cluster));
			assertThat(this.checkpoints.acquireNow(SHARD, TOKEN)).isInstanceOf(Acquisition.Acquired.class);
			cluster.replicaOf(fenceKey(SHARD)).kill();
			Token next = new Token(TOKEN.value() + 1);
			assertRefused(() -> this.checkpoints.acquireNow(SHARD, next));

			ShardId elsewhere = SHARD;
			for (int id = 2; cluster.masterOf(fenceKey(elsewhere)).equals(cluster.masterOf(fenceKey(SHARD))); id++) {
				elsewhere = ShardId.of("orders", id);
			}
			assertThat(this.checkpoints.acquireNow(elsewhere, next)).isInstanceOf(Acquisition.Acquired.class);
		}
	}

	private void withReplica(Consumer<EmbeddedRedis> story) {
		try (EmbeddedRedis master = EmbeddedRedis.startReplicating();
				EmbeddedRedis replica = EmbeddedRedis.startReplicating("--replicaof", "127.0.0.1",
						String.valueOf(master.port()))) {
			master.emptyWithReplicas(1);
			connect(RedisClients.factory(master));
			story.accept(replica);
		}
	}

	private static void assertRefused(ThrowingCallable change) {
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(change)
			.withMessageContaining("only 0 of 1 replicas")
			.withMessageContaining("shardkeeper.redis.wait-for-replicas");
	}

	private String fence(EmbeddedRedis replica) {
		return replica.call((commands) -> commands.hget(fenceKey(SHARD), "fence"));
	}

	private String fenceKey(ShardId shard) {
		return "test:{" + this.group + "/" + shard + "}:checkpoint";
	}

}
