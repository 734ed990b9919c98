package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.TopicGroups;
import io.github.shardkeeper.checkpoint.TopicGroups.Claim;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.loop.LoopThreads;
import io.github.shardkeeper.operations.housekeeping.TopicTrimming;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.checkpoint.RedisTopicGroups;
import io.github.shardkeeper.redis.stream.RedisStreamSource;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.TrimRule;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Appends;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Trimming of streams, with the checkpoints of several groups in Redis.
 */
@Tag("proof")
class TrimmingTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	/** Redis takes whole nodes, of 100 entries unless it is configured in another way. */
	private static final int NODE = 100;

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private final String prefix = UUID.randomUUID().toString();

	private LettuceConnectionFactory factory;

	private RedisConnector connector;

	private StringRedisTemplate redis;

	private RedisStreamSource source;

	private final List<TopicTrimming> trimmings = new ArrayList<>();

	private final List<RedisTopicGroups> groups = new ArrayList<>();

	private ReplicaWait wait = ReplicaWait.NONE;

	@BeforeEach
	void useTheSharedRedis() {
		use(RedisClients.sharedFactory());
	}

	private void use(LettuceConnectionFactory factory) {
		this.factory = factory;
		this.connector = new RedisConnector(factory);
		this.redis = new StringRedisTemplate(factory);
		this.source = new RedisStreamSource(this.connector, this.prefix, Map.of("orders", 1), TIMEOUT);
	}

	@AfterEach
	void close() {
		this.trimmings.forEach(TopicTrimming::stop);
		this.groups.forEach(RedisTopicGroups::close);
		this.source.close();
		this.connector.stop();
		if (this.factory != RedisClients.sharedFactory()) {
			this.factory.destroy();
		}
	}

	@Test
	@OnEveryRedis
	@Promise("Nothing lost")
	void trimmingStopsAtSlowestGroup() {
		List<Offset> offsets = append(1000);
		checkpoint("fast", offsets.get(999));
		checkpoint("slow", offsets.get(399));
		start("fast", new TrimRule(50L, null, false));
		start("slow", null);

		await().atMost(PATIENCE).until(() -> length() <= 600 + NODE);
		assertThat(length()).as("records that the slow group still needs").isGreaterThanOrEqualTo(600);
		checkpoint("slow", offsets.get(899));
		await().atMost(PATIENCE).until(() -> length() <= 100 + NODE);
		assertThat(length()).isGreaterThanOrEqualTo(100);
	}

	@Test
	void maxLengthIsKept() {
		List<Offset> offsets = append(1000);
		checkpoint("app", offsets.get(999));
		start("app", new TrimRule(500L, null, false));

		await().atMost(PATIENCE).until(() -> length() <= 500 + NODE);
		assertThat(length()).isGreaterThanOrEqualTo(500);
	}

	@Test
	void groupWithoutCheckpointBlocksTrimmingUntilRemoved() {
		List<Offset> offsets = append(1000);
		checkpoint("app", offsets.get(999));
		registered("gone");
		start("app", new TrimRule(50L, null, false));
		awaitRounds(3);
		assertThat(length()).isEqualTo(1000);

		this.redis.opsForSet().remove(this.prefix + ":{orders}:groups", "gone");
		await().atMost(PATIENCE).until(() -> length() <= 50 + NODE);
	}

	@Test
	void withoutGroupsNothingIsTrimmed() {
		append(1000);
		start(null, new TrimRule(50L, null, false));
		awaitRounds(3);

		assertThat(length()).isEqualTo(1000);
	}

	@Test
	void beyondCheckpointsTrimsUnhandledRecords() {
		append(1000);
		registered("slow");
		start("slow", new TrimRule(50L, null, true));

		await().atMost(PATIENCE).until(() -> length() <= 50 + NODE);
		assertThat(length()).isGreaterThanOrEqualTo(50);
	}

	@Test
	void maxAgeTrimsHandledRecordsOnly() {
		List<Offset> offsets = append(1000);
		checkpoint("app", offsets.get(499));
		start("app", new TrimRule(null, Duration.ofMillis(1), false));

		await().atMost(PATIENCE).until(() -> length() <= 501 + NODE);
		assertThat(length()).isGreaterThanOrEqualTo(500);
	}

	@Test
	void youngRecordsStay() {
		List<Offset> offsets = append(1000);
		checkpoint("app", offsets.get(999));
		start("app", new TrimRule(null, Duration.ofHours(1), false));
		awaitRounds(3);

		assertThat(length()).isEqualTo(1000);
	}

	@Test
	void keyOfOtherTypeDoesNotBlockTrimmingOfOthers() {
		List<Offset> offsets = append(1000);
		this.source.raise("orders", 2);
		this.redis.opsForValue().set(this.prefix + ":{orders#1}:stream:1", "no stream");
		checkpoint("app", offsets.get(999));
		this.redis.opsForHash().put(this.prefix + ":{app/orders/1}:checkpoint", "offset", "1-0");
		start("app", new TrimRule(50L, null, false));

		await().atMost(PATIENCE).until(() -> length() <= 50 + NODE);
	}

	@Test
	@Promise("Nothing lost")
	void forgottenGroupLosesNoRecords() {
		List<Offset> offsets = append(1000);
		checkpoint("fast", offsets.get(999));
		checkpoint("slow", offsets.get(399));
		start("slow", null);
		start("fast", new TrimRule(50L, null, false));
		await().atMost(PATIENCE).until(() -> length() <= 600 + NODE);

		for (List<String> lost : List.of(List.of("groups", "trims"), List.of("groups"))) {
			lost.forEach((kind) -> this.redis.delete(this.prefix + ":{orders}:" + kind));
			awaitRounds(5);
			assertThat(length()).as("records that the slow group still needs without %s", lost)
				.isGreaterThanOrEqualTo(600);
			assertThat(this.redis.opsForSet().members(this.prefix + ":{orders}:groups"))
				.containsExactlyInAnyOrder("fast", "slow");
		}
		checkpoint("slow", offsets.get(899));
		await().atMost(PATIENCE).until(() -> length() <= 100 + NODE);
	}

	@Test
	@Promise("Nothing lost")
	void trimmingWaitsForGroupsToRegisterAgain() {
		RedisTopicGroups app = groups("app");
		app.register(Set.of("orders"));
		String trims = this.prefix + ":{orders}:trims";
		assertThat(claim(app, Duration.ofHours(1)).settled()).as("a new topic").isFalse();
		assertThat(claim(app, Duration.ZERO)).isEqualTo(new Claim(Set.of("app"), true));
		longAgo(trims);
		assertThat(claim(app, Duration.ofMinutes(1)).settled()).isTrue();

		this.redis.opsForHash().put(trims, "server", "another process, before a failover");
		assertThat(claim(app, Duration.ofMinutes(1)).settled()).isFalse();
		longAgo(trims);
		groups("slow").register(Set.of("orders"));
		assertThat(claim(app, Duration.ofMinutes(1))).isEqualTo(new Claim(Set.of("app", "slow"), true));
		this.redis.opsForSet().remove(this.prefix + ":{orders}:groups", "slow");
		assertThat(claim(app, Duration.ofMinutes(1))).isEqualTo(new Claim(Set.of("app"), false));
		assertThat(claim(app, Duration.ofMinutes(1)).settled()).as("still").isFalse();
		longAgo(trims);
		assertThat(claim(app, Duration.ofMinutes(1)).settled()).isTrue();
		this.redis.opsForHash().put(trims, "settling", "9999999999999");
		assertThat(claim(app, Duration.ofMinutes(1)).settled()).as("after the clock was set back").isFalse();
	}

	/**
	 * A failover that loses a group, and with it that there were two, leaves no trace.
	 */
	@Test
	@OnEveryRedis
	@Promise("Nothing lost")
	void withoutInfoRightOnlyUnconditionalTrimmingRuns() {
		try (EmbeddedRedis restricted = EmbeddedRedis.start()) {
			use(RedisClients.factory(restricted));
			RedisTopicGroups app = groups("app");
			app.register(Set.of("orders"));
			String trims = this.prefix + ":{orders}:trims";
			claim(app, Duration.ofMinutes(1));
			longAgo(trims);
			assertThat(claim(app, Duration.ofMinutes(1)).settled()).isTrue();

			restricted.call((commands) -> commands.aclSetuser("default",
					AclSetuserArgs.Builder.removeCommand(CommandType.INFO)));
			for (int i = 0; i < 3; i++) {
				longAgo(trims);
				assertThat(claim(app, Duration.ofMinutes(1))).isEqualTo(new Claim(Set.of("app"), false));
			}
			assertThat(this.connector.refusedOperations().reasons()).hasEntrySatisfying(
					"trim what all groups have handled",
					(text) -> assertThat(text).contains("can't run this command", "grant +info"));
			List<Offset> offsets = append(1000);
			checkpoint("app", offsets.get(0));
			this.redis.delete(this.prefix + ":{orders}:trimming");
			start("app", new TrimRule(50L, null, true));
			await().atMost(PATIENCE).until(() -> length() <= 50 + NODE);
			this.trimmings.forEach(TopicTrimming::stop);

			restricted.call(
					(commands) -> commands.aclSetuser("default", AclSetuserArgs.Builder.addCommand(CommandType.INFO)));
			assertThat(claim(app, Duration.ofMinutes(1)).settled()).as("groups get their time").isFalse();
			longAgo(trims);
			assertThat(claim(app, Duration.ofMinutes(1)).settled()).isTrue();
			assertThat(this.connector.refusedOperations().reasons()).isEmpty();
		}
	}

	private Claim claim(RedisTopicGroups groups, Duration settling) {
		this.redis.delete(this.prefix + ":{orders}:trimming");
		return groups.claimTrimming("orders", Duration.ofMinutes(1), settling);
	}

	/** As if that had been so for an hour. */
	private void longAgo(String trims) {
		long settling = Long.parseLong(String.valueOf(this.redis.opsForHash().get(trims, "settling")));
		this.redis.opsForHash().put(trims, "settling", String.valueOf(settling - 3_600_000));
	}

	@Test
	@Promise("Nothing lost")
	void trimmingWaitsForCheckpointsOnReplicas() {
		try (EmbeddedRedis master = EmbeddedRedis.startReplicating();
				EmbeddedRedis replica = EmbeddedRedis.startReplicating("--replicaof", "127.0.0.1",
						String.valueOf(master.port()))) {
			master.emptyWithReplicas(1);
			use(RedisClients.factory(master));
			this.wait = new ReplicaWait(1, Duration.ofMillis(200));
			List<Offset> offsets = append(1000);
			RedisTopicGroups app = groups("app");
			app.register(Set.of("orders"));
			replica.freeze();
			checkpointOnly("app", offsets.get(999));

			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> app.offsets(Set.of("app"), List.of(SHARD)))
				.withMessageContaining("replicas");
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> app.register(Set.of("orders")))
				.withMessageContaining("replicas");
			start("app", new TrimRule(50L, null, false));
			replica.thaw();
			await().atMost(PATIENCE).until(() -> length() <= 50 + NODE);
			assertThat(replica
				.<String>call((commands) -> commands.hget(this.prefix + ":{app/orders/0}:checkpoint", "offset")))
				.isEqualTo(offsets.get(999).value());
			app.copyOffsets(copy(offsets.get(5), 7, 1));
			assertThat(app.offsets(Set.of("app"), List.of(SHARD))).isEqualTo(Map.of(SHARD, List.of(offsets.get(5))));
		}
	}

	@Test
	@OnEveryRedis
	@Promise("Automatic recovery")
	void fullRedisIsTrimmed() {
		try (EmbeddedRedis full = EmbeddedRedis.start("--maxmemory-policy", "noeviction")) {
			use(RedisClients.factory(full));
			List<Offset> offsets = append(1000);
			checkpointOnly("app", offsets.get(999));
			full.call((commands) -> commands.configSet("maxmemory", "1"));
			start("app", new TrimRule(50L, null, false));

			await().atMost(PATIENCE).until(() -> length() <= 50 + NODE);
			assertThat(length()).isGreaterThanOrEqualTo(50);
		}
	}

	/** Otherwise Redis would stay full: trimming waits for the copy. */
	@Test
	void fullRedisAcceptsCopiesOfOffsets() {
		try (EmbeddedRedis full = EmbeddedRedis.start("--maxmemory-policy", "noeviction")) {
			use(RedisClients.factory(full));
			List<Offset> offsets = append(1000);
			checkpoint("app", offsets.get(0));
			groups("app").copyOffsets(copy(offsets.get(0), 7, 1));
			full.call((commands) -> commands.configSet("maxmemory", "1"));

			groups("app").copyOffsets(copy(offsets.get(999), 7, 2));
			start("app", new TrimRule(50L, null, false));

			await().atMost(PATIENCE).until(() -> length() <= 50 + NODE);
		}
	}

	@Test
	void oneInstanceTrimsAtATime() {
		RedisTopicGroups one = groups("app");
		RedisTopicGroups other = groups("other");

		assertThat(one.claimTrimming("orders", Duration.ofMinutes(1), Duration.ZERO)).isNotNull();
		assertThat(other.claimTrimming("orders", Duration.ofMinutes(1), Duration.ZERO)).isNull();
		assertThat(one.claimTrimming("orders", Duration.ofMinutes(1), Duration.ZERO)).isNull();
		assertThat(other.claimTrimming("visits", Duration.ofMinutes(1), Duration.ZERO)).isNotNull();
	}

	/** The checkpoint may be in a database, which other groups cannot read. */
	@Test
	void copyOfAnOffsetCountsUntilTheShardIsAcquiredHere() {
		List<Offset> offsets = append(1000);
		checkpoint("app", offsets.get(0));
		RedisTopicGroups app = groups("app");
		app.copyOffsets(copy(offsets.get(899), 7, 1));
		assertThat(app.offsets(Set.of("app"), List.of(SHARD))).isEqualTo(Map.of(SHARD, List.of(offsets.get(899))));
		start("app", new TrimRule(50L, null, false));
		await().atMost(PATIENCE).until(() -> length() <= 100 + NODE);
		assertThat(length()).isGreaterThanOrEqualTo(100);

		try (RedisCheckpointStore checkpoints = new RedisCheckpointStore(this.connector, this.prefix, "app", TIMEOUT,
				ReplicaWait.NONE)) {
			checkpoints.acquireNow(SHARD, new Token(7));
		}
		assertThat(app.offsets(Set.of("app"), List.of(SHARD))).isEqualTo(Map.of(SHARD, List.of(offsets.get(0))));
	}

	/** An instance that was frozen may send its copy late. */
	@Test
	void copyOfAnOffsetReplacesNoneOfALaterCommit() {
		List<Offset> offsets = append(3);
		checkpointOnly("app", offsets.get(0));
		RedisTopicGroups app = groups("app");
		app.copyOffsets(copy(offsets.get(1), 8, 2));
		app.copyOffsets(copy(offsets.get(2), 7, 99));
		app.copyOffsets(copy(offsets.get(2), 8, 1));
		assertThat(app.offsets(Set.of("app"), List.of(SHARD))).isEqualTo(Map.of(SHARD, List.of(offsets.get(1))));

		app.copyOffsets(copy(offsets.get(0), 8, 10));
		assertThat(app.offsets(Set.of("app"), List.of(SHARD))).as("after a seek")
			.isEqualTo(Map.of(SHARD, List.of(offsets.get(0))));
		try (RedisCheckpointStore checkpoints = new RedisCheckpointStore(this.connector, this.prefix, "app", TIMEOUT,
				ReplicaWait.NONE)) {
			checkpoints.acquireNow(SHARD, new Token(9));
		}
		app.copyOffsets(copy(offsets.get(2), 8, 11));
		assertThat(app.offsets(Set.of("app"), List.of(SHARD))).as("acquired here")
			.isEqualTo(Map.of(SHARD, List.of(offsets.get(0))));
	}

	private static Map<ShardId, TopicGroups.Copy> copy(Offset offset, long token, long commit) {
		return Map.of(SHARD, new TopicGroups.Copy(offset, new Token(token), commit));
	}

	/** Until so many claims were made and have run out. */
	private void awaitRounds(int rounds) {
		Set<Long> seen = new HashSet<>();
		String key = this.prefix + ":{orders}:trimming";
		boolean[] before = { false };
		await().atMost(PATIENCE).pollInterval(Duration.ofMillis(5)).until(() -> {
			boolean claimed = Boolean.TRUE.equals(this.redis.hasKey(key));
			if (claimed && !before[0]) {
				seen.add(System.nanoTime());
			}
			before[0] = claimed;
			return seen.size() > rounds;
		});
	}

	private void start(String group, TrimRule rule) {
		RedisTopicGroups ofGroup = groups((group != null) ? group : "nobody");
		TopicTrimming trimming = new TopicTrimming((rule != null) ? Map.of("orders", rule) : Map.of(), Set.of(),
				() -> (group != null) ? Set.of("orders") : Set.of(), SourceRegistry.of(this.source),
				(topic) -> this.source, ofGroup,
				MemberRuntime
					.of(new LoopThreads(MonotonicClock.SYSTEM, LoopMeters.NONE, LoopThreads.DEFAULT_STALL_LIMIT)),
				Duration.ofMillis(100), 0);
		this.trimmings.add(trimming);
		trimming.start();
	}

	private RedisTopicGroups groups(String group) {
		RedisTopicGroups created = new RedisTopicGroups(this.connector, this.prefix, group, TIMEOUT, this.wait);
		this.groups.add(created);
		return created;
	}

	private void registered(String group) {
		groups(group).register(Set.of("orders"));
	}

	/** Writes the same keys as a group's own commits. */
	private void checkpoint(String group, Offset offset) {
		registered(group);
		checkpointOnly(group, offset);
	}

	private void checkpointOnly(String group, Offset offset) {
		this.redis.opsForHash().put(this.prefix + ":{" + group + "/orders/0}:checkpoint", "offset", offset.value());
	}

	private List<Offset> append(int count) {
		return Appends.append(this.source, Collections.nCopies(count, new NewRecord(SHARD, "k", "v".getBytes())));
	}

	private long length() {
		return this.redis.opsForStream().size(this.prefix + ":{orders#0}:stream:0");
	}

}
