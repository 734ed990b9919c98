package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStore.ReleaseReply;
import io.github.shardkeeper.protocol.HeartbeatReply;
import io.github.shardkeeper.protocol.HeartbeatReply.Seen;
import io.github.shardkeeper.protocol.LoadReport;
import io.github.shardkeeper.protocol.MemberDescription;
import io.github.shardkeeper.protocol.Transition;
import io.github.shardkeeper.protocol.leader.LeaderAction.SteadyTime;
import io.github.shardkeeper.protocol.leader.LeaderEvent.PlanReply;
import io.github.shardkeeper.protocol.leader.LeaderEvent.ReapReply;
import io.github.shardkeeper.protocol.member.HoldingAction;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.MemberId;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.testsupport.RunAlone;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cost of each script in a group of 1,000 members and 100,000 shards, when it does the
 * most that one call does. The times are those that Redis' process had on a processor,
 * whatever else ran there, and are printed; the limit is generous for slow machines.
 */
@RunAlone
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Promise("Flat cost")
class ScriptCostTests {

	private static final int MEMBERS = 1_000;

	private static final int SHARDS = 100_000;

	private static final int READ = 500;

	private static final int WRITTEN = 50;

	private static final int REPORTS = 25;

	private static final long LIMIT_MICROS = 50_000;

	private static final Duration LEASE = Duration.ofHours(1);

	private static final MemberDescription DESCRIPTION = new MemberDescription(
			new TreeMap<>(Map.of("many", TopicShards.count(SHARDS))), ApplicationVersion.UNKNOWN);

	private final Map<String, Long> micros = new LinkedHashMap<>();

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final LettuceConnectionFactory factory = RedisClients.factory(this.redis);

	private final RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", this.redis.port()));

	private final RedisCommands<String, String> commands = this.client.connect().sync();

	private final CoordinationStore store = store("large");

	private long epoch;

	@BeforeAll
	void createGroup() {
		found(this.store, "large");
		IntStream.range(0, MEMBERS)
			.forEach((i) -> this.store.joinGroup(member(i), DESCRIPTION, LEASE, LEASE.multipliedBy(2)));
		this.epoch = ((HeartbeatReply.Alive) this.store.heartbeat(member(0), Seen.NOTHING, true, LoadReport.NONE))
			.epoch();
		// Members 1 and 2 have as many as one script moves, the others share the rest.
		plan(0, SHARDS,
				(i) -> new Transition.Assign(shard(i), 0, member((i < 2 * WRITTEN) ? 1 + i / WRITTEN : 3 + i % 997)));
	}

	@AfterAll
	void stop() {
		System.out
			.println("Microseconds per script with " + MEMBERS + " members and " + SHARDS + " shards: " + this.micros);
		this.store.close();
		this.client.shutdown();
		this.factory.destroy();
		this.redis.close();
	}

	@Test
	@Order(1)
	void heartbeatWithoutNewsCostsAsMuchAsInASmallGroup() {
		CoordinationStore small = store("small");
		found(small, "small");
		small.joinGroup(member(0), DESCRIPTION, LEASE, LEASE);

		assertThat(commandsOfABeat(this.store)).isEqualTo(commandsOfABeat(small));
		small.close();
	}

	private Map<String, Long> commandsOfABeat(CoordinationStore beaten) {
		HeartbeatReply.Alive before = (HeartbeatReply.Alive) beaten.heartbeat(member(0), Seen.NOTHING, true,
				LoadReport.NONE);
		measure("heartbeat without news", () -> beaten.heartbeat(member(0), before.seen(), true, LoadReport.NONE));
		this.commands.configResetstat();
		beaten.heartbeat(member(0), before.seen(), true, LoadReport.NONE);
		Map<String, Long> calls = new TreeMap<>();
		this.commands.info("commandstats").lines().filter((line) -> line.startsWith("cmdstat_")).forEach((line) -> {
			String name = line.substring("cmdstat_".length(), line.indexOf(':'));
			calls.put(name, Long.parseLong(line.substring(line.indexOf("calls=") + 6, line.indexOf(','))));
		});
		assertThat(calls).containsEntry("evalsha", 1L);
		calls.keySet().removeIf((name) -> name.startsWith("config") || name.startsWith("info"));
		return calls;
	}

	@Test
	@Order(2)
	void reading() {
		this.store.claimShards(member(3), tokens(SHARDS, READ, 1));
		endClaims("large");
		measure("heartbeat with 500 changes",
				() -> this.store.heartbeat(member(3), Seen.NOTHING, false, LoadReport.NONE));
		measure("changes with 500 shards and 1,000 members", () -> this.store.readChanges(SHARDS - READ, -1));
		measure("join", () -> this.store.joinGroup(member(2), DESCRIPTION, LEASE, LEASE.multipliedBy(2)));
	}

	@Test
	@Order(3)
	void moving() {
		measure("nudge: " + WRITTEN,
				() -> this.store.notifyOwners(IntStream.range(0, WRITTEN).mapToObj((i) -> shard(i)).toList()));
		measure("plan: " + WRITTEN + " revoked",
				() -> plan(0, WRITTEN, (i) -> new Transition.Revoke(shard(i), gen(i), member(3 + i))));
		long after = this.store.readChanges(SHARDS, -1).generation() - WRITTEN + 1;
		measure("plan: " + WRITTEN + " retargeted",
				() -> plan(0, WRITTEN, (i) -> new Transition.Retarget(shard(i), after + i, member(203 - i))));
		measureRelease("release: " + WRITTEN + " to their targets", member(1), Duration.ZERO);
		plan(WRITTEN, 2 * WRITTEN, (i) -> new Transition.Revoke(shard(i), gen(i), member(3 + i % 900)));
		measureRelease("release: " + WRITTEN + " that rest", member(2), LEASE);
		// Before the claims, which open a time in which nothing is assigned.
		measure("plan: " + WRITTEN + " assigned",
				() -> plan(0, WRITTEN, (i) -> new Transition.Assign(shard(3 * SHARDS + i), 0, member(3 + i))));
		measure("claim: " + WRITTEN + " of others",
				() -> this.store.claimShards(member(1), tokens(0, WRITTEN, 9_000_000_000_000_000L)));
		measure("claim: " + WRITTEN + " that are new",
				() -> this.store.claimShards(member(1), tokens(2 * SHARDS, WRITTEN, 1)));
		measure("leave with " + WRITTEN + " shards", () -> this.store.leaveGroup(member(1), Duration.ZERO));
	}

	/** Number of shards of a retired topic that the store forgets at once. */
	@Test
	@Order(4)
	void forgetting() {
		int atOnce = RedisCoordinationStore.forgottenAtOnce(WRITTEN, MEMBERS);
		List<ShardId> past = IntStream.range(0, atOnce).mapToObj((i) -> ShardId.of("past", i)).toList();
		endClaims("large");
		past.forEach((shard) -> assertThat(
				this.store.applyPlan(member(0), this.epoch, List.of(new Transition.Assign(shard, 0, member(4)))))
			.isEqualTo(new PlanReply.Applied(1, 0)));
		this.store.releaseShards(member(4),
				this.store.readChanges(0, -1)
					.ownerships()
					.stream()
					.filter((shard) -> past.contains(shard.shard()))
					.map((shard) -> new HoldingAction.Release(shard.shard(), shard.token(), Token.NONE, false))
					.toList(),
				Duration.ZERO);
		List<String> arguments = new ArrayList<>(List.of(this.commands.hget("test:{large}:group", "membership")));
		past.forEach((shard) -> arguments.add(shard.toString()));
		try (RedisLink<String> link = new RedisLink<>(new RedisConnector(this.factory), StringCodec.UTF8,
				Duration.ofSeconds(10))) {
			List<String> keys = GroupKeys.names("test:{large}");
			// Loads the script.
			link.run(ControlScripts.STANDARD.forgetShards(), keys, List.of("0"));
			measure("forget: " + atOnce + " of a topic that was retired",
					() -> assertThat(link.<List<Object>>run(ControlScripts.STANDARD.forgetShards(), keys, arguments))
						.startsWith("FORGOTTEN", (long) atOnce));
		}
	}

	@Test
	@Order(5)
	void everyLeaseIsReadOnceAfterTheClockWasSetBack() {
		long later = System.currentTimeMillis() + LEASE.multipliedBy(24).toMillis();
		for (int i = 0; i < MEMBERS; i++) {
			if (i != 1) {
				this.commands.zadd("test:{large}:sessions", later, member(i).value());
			}
		}

		measure("heartbeat after the clock was set back",
				() -> this.store.heartbeat(member(2), Seen.NOTHING, false, LoadReport.NONE));

		assertThat(this.commands.zcount("test:{large}:sessions", Range.create(later, later))).isZero();
	}

	/** Each as long as one can be: 900 shards of a member come to less than half. */
	@Test
	@Order(4)
	void reportingLoads() {
		String report = "x".repeat(16_000);
		HeartbeatReply.Alive before = (HeartbeatReply.Alive) this.store.heartbeat(member(5), Seen.NOTHING, false,
				LoadReport.NONE);
		measure("heartbeat with a load report",
				() -> this.store.heartbeat(member(5), before.seen(), false, new LoadReport(report)));
		IntStream.range(6, 6 + REPORTS)
			.forEach((i) -> this.store.heartbeat(member(i), Seen.NOTHING, false, new LoadReport(report)));
		measure("loads: " + REPORTS, () -> assertThat(this.store.readLoads(1).reports()).hasSize(REPORTS));
	}

	@Test
	@Order(6)
	void looking() {
		for (int i = 2; i < MEMBERS; i++) {
			this.commands.zadd("test:{large}:sessions", 1, member(i).value());
		}
		long setBacks = ((HeartbeatReply.Alive) this.store.heartbeat(member(0), Seen.NOTHING, true, LoadReport.NONE))
			.setBacks();
		// None of them was silent for long enough.
		SteadyTime sinceNow = new SteadyTime(System.currentTimeMillis(), Long.MAX_VALUE, setBacks);
		SteadyTime always = new SteadyTime(0, Long.MAX_VALUE, setBacks);
		measure("reap: 998 late members", () -> this.store.reapMembers(member(0), this.epoch, sinceNow, Duration.ZERO));
		measure("reap: the dead and " + WRITTEN + " of their shards",
				() -> this.store.reapMembers(member(0), this.epoch, always, Duration.ZERO));
		// A member with more shards than one call frees takes several calls.
		assertThat(IntStream.range(0, 4)
			.mapToObj((i) -> (ReapReply.Looked) this.store.reapMembers(member(0), this.epoch, always, Duration.ZERO)))
			.flatExtracting(ReapReply.Looked::dead)
			.isNotEmpty();
	}

	private void measureRelease(String what, MemberId owner, Duration quiet) {
		List<HoldingAction.Release> releases = this.store.readChanges(0, -1)
			.ownerships()
			.stream()
			.filter((shard) -> owner.equals(shard.owner()))
			.limit(WRITTEN)
			.map((shard) -> new HoldingAction.Release(shard.shard(), shard.token(), Token.NONE, false))
			.toList();
		assertThat(releases).hasSize(WRITTEN);
		measure(what,
				() -> assertThat(this.store.releaseShards(owner, releases, quiet)).containsOnly(ReleaseReply.RELEASED));
	}

	private void plan(int from, int to, IntFunction<Transition> transition) {
		List<Transition> transitions = IntStream.range(from, to).mapToObj(transition).toList();
		assertThat(this.store.applyPlan(member(0), this.epoch, transitions))
			.isEqualTo(new PlanReply.Applied(to - from, 0));
	}

	/** An operation that is one script. */
	private void measure(String what, Runnable operation) {
		long before = cpuMicros();
		operation.run();
		long cost = cpuMicros() - before;
		assertThat(cost).as("microseconds of " + what).isBetween(1L, LIMIT_MICROS);
		this.micros.put(what, cost);
	}

	private long cpuMicros() {
		return this.commands.info("cpu")
			.lines()
			.filter((line) -> line.startsWith("used_cpu_user:") || line.startsWith("used_cpu_sys:"))
			.mapToLong((line) -> Math.round(Double.parseDouble(line.substring(line.indexOf(':') + 1)) * 1_000_000))
			.sum();
	}

	private CoordinationStore store(String group) {
		return new RedisCoordinationStore(new RedisConnector(this.factory), "test", group, Duration.ofSeconds(10));
	}

	/** A group past the claim period. */
	private void found(CoordinationStore founded, String group) {
		founded.joinGroup(member(0), DESCRIPTION, LEASE, LEASE.multipliedBy(2));
		endClaims(group);
	}

	private void endClaims(String group) {
		this.commands.hset("test:{" + group + "}:group", "claims", "0");
	}

	private static long gen(int shard) {
		return shard + 1;
	}

	private static Map<ShardId, Token> tokens(int from, int count, long token) {
		Map<ShardId, Token> tokens = new LinkedHashMap<>();
		IntStream.range(from, from + count).forEach((i) -> tokens.put(shard(i), new Token(token)));
		return tokens;
	}

	private static MemberId member(int number) {
		return MemberId.of("host-" + number, "session");
	}

	private static ShardId shard(int number) {
		return ShardId.of("many", number);
	}

}
