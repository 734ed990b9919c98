package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.ZSetOperations.TypedTuple;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.cluster.lock.LockStore.Request;
import io.github.shardkeeper.cluster.signal.SignalStore.Handled;
import io.github.shardkeeper.cluster.signal.SignalStore.Listening;
import io.github.shardkeeper.coordination.store.GroupDiagnostics.Kind;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.checkpoint.RedisTopicGroups;
import io.github.shardkeeper.redis.cluster.ClusterLink;
import io.github.shardkeeper.redis.cluster.RedisLockStore;
import io.github.shardkeeper.redis.cluster.RedisParameterStore;
import io.github.shardkeeper.redis.cluster.RedisSignalStore;
import io.github.shardkeeper.redis.cluster.RedisViewStore;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.redis.coordination.RedisMoveHistory;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Texts and keys that others have made far longer than anything that is written there are
 * not sent to members: Redis measures what it has sent.
 */
@OnEveryRedis
class ReadBoundsTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final MemberDescription DESCRIPTION = new MemberDescription(
			new TreeMap<>(Map.of("orders", TopicShards.count(1))), ApplicationVersion.UNKNOWN);

	private static final ShardId SHARD = ShardId.of("orders", 0);

	/** Longer than the longest description of a member. */
	private static final String LONG = "x".repeat(4_500_000);

	/** Of a reply, and of the question how much was sent. */
	private static final int MOST_BYTES = 100_000;

	/** Of its own: what it has sent is measured. */
	private static final EmbeddedRedis REDIS = EmbeddedRedis.start();

	private final LettuceConnectionFactory factory = RedisClients.factory(REDIS);

	private final RedisConnector connector = new RedisConnector(this.factory);

	private final StringRedisTemplate keys = new StringRedisTemplate(this.factory);

	private final String group = UUID.randomUUID().toString();

	private final String base = "test:{" + this.group + "}:";

	private final RedisCoordinationStore store = new RedisCoordinationStore(this.connector, "test", this.group,
			TIMEOUT);

	private final RedisCheckpointStore checkpoints = new RedisCheckpointStore(this.connector, "test", this.group,
			TIMEOUT);

	private final ClusterLink tools = new ClusterLink(this.connector, "test", this.group, TIMEOUT, ReplicaWait.NONE);

	private final MemberId member = new MemberId("one~1");

	private long epoch;

	@BeforeEach
	void foundGroup() {
		this.store.joinGroup(this.member, DESCRIPTION, LEASE, LEASE);
		HeartbeatReply.Alive alive = (HeartbeatReply.Alive) heartbeat();
		this.epoch = alive.epoch();
	}

	@AfterEach
	void close() {
		this.tools.close();
		this.checkpoints.close();
		this.store.close();
		this.connector.stop();
		this.factory.destroy();
	}

	@AfterAll
	static void closeRedis() {
		REDIS.close();
	}

	private HeartbeatReply heartbeat() {
		return this.store.heartbeat(this.member, Seen.NOTHING, true, LoadReport.NONE);
	}

	@ParameterizedTest
	@ValueSource(strings = { "problems", "format", "leader", "sizes", "unreadable", "token", "directives" })
	void longFieldOfTheGroupIsNotReturnedAndTheGroupIsRebuilt(String field) {
		this.keys.opsForHash().put(this.base + "group", field, LONG);

		assertSendsLittle(() -> assertThat(heartbeat()).isInstanceOf(HeartbeatReply.Expired.class));
		assertSendsLittle(() -> this.store.joinGroup(this.member, DESCRIPTION, LEASE, LEASE));
		assertThat(heartbeat()).isInstanceOf(HeartbeatReply.Alive.class);
	}

	@Test
	void longRecordOfAMemberIsUnreadable() {
		this.keys.opsForHash().put(this.base + "members", this.member.value(), "A|3000|3000|" + LONG);

		assertSendsLittle(() -> assertRefused(() -> this.store.readChanges(0, -1), "bytes: too long"));
		assertThat(heartbeat()).isInstanceOf(HeartbeatReply.Expired.class);
	}

	@Test
	void longRecordOfAShardIsUnreadable() {
		this.store.endClaims(this.member, this.epoch, Long.MAX_VALUE);
		this.store.claimShards(this.member, Map.of(SHARD, new Token(5)));
		assertThat(this.store.readChanges(0, -1).ownerships()).hasSize(1);
		this.keys.opsForHash().put(this.base + "shards", SHARD.toString(), "OWNED|5|" + LONG + "||1|0");

		assertSendsLittle(() -> assertRefused(() -> this.store.readChanges(0, -1), "bytes: too long"));
		assertThat(heartbeat()).isInstanceOf(HeartbeatReply.Expired.class);
	}

	/** The leader has not read it. */
	@Test
	void longRecordOfAShardIsNotInTheAnswerToAHeartbeat() {
		this.store.claimShards(this.member, Map.of(SHARD, new Token(5)));
		this.keys.opsForHash().put(this.base + "shards", SHARD.toString(), "OWNED|5|" + LONG + "||1|0");

		assertSendsLittle(this::heartbeat);
		assertThat(heartbeat()).isInstanceOf(HeartbeatReply.Expired.class);
	}

	@Test
	void longLoadReportIsLeftOut() {
		this.store.heartbeat(this.member, Seen.NOTHING, true, new LoadReport("1|records||orders:1=0"));
		assertThat(this.store.readLoads(0).reports()).containsKey(this.member);
		this.keys.opsForHash().put(this.base + "loads", this.member.value(), LONG);

		assertSendsLittle(() -> assertThat(this.store.readLoads(0).reports()).isEmpty());
	}

	@Test
	void namesOfFarTooManyNotesAreNotListed() {
		this.keys.opsForHash().putAll(this.base + "problems", entries(10_001));

		assertSendsLittle(() -> assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> this.store.diagnostics().names(Kind.PROBLEMS).join())
			.withMessageContaining(this.base + "problems has 10001 entries"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "offset", "ahead", "seek", "before", "fence", "commit", "acquired" })
	void longFieldOfACheckpointIsNamed(String field) {
		this.checkpoints.acquireNow(SHARD, new Token(1));
		String key = "test:{" + this.group + "/" + SHARD + "}:checkpoint";
		this.keys.opsForHash().put(key, field, LONG);

		assertSendsLittle(() -> assertRefused(() -> this.checkpoints.acquireNow(SHARD, new Token(2)), key, field));
		assertSendsLittle(() -> assertRefused(() -> this.checkpoints.read(SHARD), key, field));
	}

	@Test
	void farTooManyGroupsOfATopicAreNotReturned() {
		RedisTopicGroups groups = new RedisTopicGroups(this.connector, "test", this.group, TIMEOUT, ReplicaWait.NONE);
		this.keys.opsForSet().add("test:{orders}:groups", entries(10_001).keySet().toArray(String[]::new));

		assertSendsLittle(
				() -> assertRefused(() -> groups.claimTrimming("orders", Duration.ofSeconds(1), Duration.ZERO),
						"test:{orders}:groups names 10001 groups"));
		groups.close();
	}

	@Test
	void longDescriptionOfAMemberIsNotInAView() {
		this.keys.opsForHash().put(this.base + "members", this.member.value(), "A|3000|3000|" + LONG);
		RedisViewStore views = new RedisViewStore(this.tools);

		assertSendsLittle(() -> assertRefused(() -> views.read(this.member, "one"), "one~1", "bytes: too long"));
	}

	@Test
	void longSignalAndLongAcknowledgementAreUnreadable() {
		RedisSignalStore signals = new RedisSignalStore(this.tools);
		this.keys.opsForHash().put(this.base + "signals", "rebuild", "1|1|1|a|" + LONG);
		this.keys.opsForHash().put(this.base + "signalAcks", "rebuild|" + this.member, "1|FAILED|" + LONG);

		assertSendsLittle(() -> assertThat(signals.acknowledge(this.member,
				Map.of("rebuild", new Listening(Handled.NOTHING, Duration.ofHours(1)))))
			.hasEntrySatisfying("rebuild",
					(latest) -> assertThat(latest.unreadable()).startsWith("1|1|1|a|x").endsWith(" bytes)")));
		this.keys.opsForHash().put(this.base + "signalAcks", "rebuild|" + this.member, "1|FAILED|" + LONG);
		assertSendsLittle(() -> assertThat(signals.acknowledgements("rebuild").get(this.member).message())
			.contains("cannot be read", "too long"));
	}

	@Test
	void longEntryOfALockIsCut() {
		this.keys.opsForHash().put(this.base + "locks", "l", LONG);
		RedisLockStore locks = new RedisLockStore(this.tools);

		assertSendsLittle(() -> assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(
					() -> locks.acquire(new Request(this.member, "l", "one.1", Duration.ZERO, Duration.ZERO, false)))
			.withMessageContaining(" bytes)"));
	}

	@Test
	void longAndFarTooManyParametersAreNotReturned() {
		RedisParameterStore parameters = new RedisParameterStore(this.tools);
		this.keys.opsForHash().put(this.base + "parameters", "speed", "1|1|V|ann|" + LONG);
		assertSendsLittle(() -> assertThat(parameters.read(0).entries()).singleElement()
			.satisfies((entry) -> assertThat(entry.unreadable()).contains("'speed'", "too long")));

		this.keys.opsForHash().putAll(this.base + "parameters", entries(10_001));
		assertSendsLittle(
				() -> assertRefused(() -> parameters.read(0), this.base + "parameters has 10002 entries", "HDEL"));
	}

	@Test
	void onlyAsManyChangesOfAParameterAreReturnedAsAreKept() {
		RedisParameterStore parameters = new RedisParameterStore(this.tools);
		this.keys.opsForZSet()
			.add(this.base + "parameterHistory",
					IntStream.range(0, 20_000)
						.mapToObj("speed|%016d|1|V|ann|1"::formatted)
						.map((change) -> TypedTuple.of(change, 0.0))
						.collect(Collectors.toSet()));
		this.keys.opsForZSet().add(this.base + "parameterHistory", "speed|9|1|V|ann|" + LONG, 0);

		assertSendsLittle(() -> assertThat(parameters.history("speed")).hasSizeBetween(99, 100));
	}

	@Test
	void longAndForeignFieldsOfTheHistoryAreNotReturned() {
		RedisMoveHistory history = new RedisMoveHistory(this.connector, "test", this.group, TIMEOUT,
				new MoveHistory.Bounds(1_000, Duration.ofHours(1)));
		Map<String, String> move = new HashMap<>(Map.of("shard", "orders/0", "from", "", "to", "one~1", "token", "5",
				"cause", "JOIN", "planned", "1", "released", "1", "assigned", "1"));
		this.keys.opsForStream().add(this.base + "moves", move);
		move.put("why", LONG);
		move.put("later", LONG);
		this.keys.opsForStream().add(this.base + "moves", move);
		this.keys.opsForStream().add(this.base + "moves", Map.of("phases", LONG));
		move.put("shard", LONG);
		this.keys.opsForStream().add(this.base + "moves", move);

		assertSendsLittle(() -> {
			MoveHistory.Page page = history.read(null, 10);
			assertThat(page.entries()).hasSize(2).last().satisfies((entry) -> assertThat(entry.move().why()).isNull());
			assertThat(page.more()).isFalse();
		});
	}

	@Test
	void partsOfAHistoryWithLongEntriesAreSmall() {
		RedisMoveHistory history = new RedisMoveHistory(this.connector, "test", this.group, TIMEOUT,
				new MoveHistory.Bounds(1_000, Duration.ofHours(1)));
		for (int i = 0; i < 100; i++) {
			this.keys.opsForStream().add(this.base + "moves", Map.of("phases", "orders/0 5 1 1 1\n".repeat(5_000)));
		}
		MoveHistory.Page page = history.readAfter(null, 100);
		assertThat(page.phases()).isNotEmpty();
		assertThat(page.more()).isTrue();
		int pages = 1;
		while (page.next() != null) {
			page = history.readAfter(page.next(), 100);
			pages++;
		}
		assertThat(pages).isBetween(8, 12);
	}

	private static Map<String, String> entries(int number) {
		Map<String, String> entries = new HashMap<>();
		for (int i = 0; i < number; i++) {
			entries.put("entry-of-somebody-else-" + i, "x");
		}
		return entries;
	}

	private static void assertRefused(ThrowingCallable call, String... words) {
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(call)
			.satisfies((failure) -> assertThat(failure.getMessage()).contains(words).hasSizeLessThan(2_000));
	}

	/** Performs a call, of which Redis sends little over the network. */
	private void assertSendsLittle(Runnable call) {
		long before = sent();
		call.run();
		assertThat(sent() - before).isLessThan(MOST_BYTES);
	}

	private long sent() {
		Matcher bytes = Pattern.compile("total_net_output_bytes:(\\d+)")
			.matcher(REDIS.call((commands) -> commands.info("stats")));
		assertThat(bytes.find()).isTrue();
		return Long.parseLong(bytes.group(1));
	}

}
