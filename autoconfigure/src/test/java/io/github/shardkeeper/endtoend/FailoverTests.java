package io.github.shardkeeper.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.lettuce.core.RedisException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.endtoend.LineageChecker.Death;
import io.github.shardkeeper.endtoend.TraceChecker.State;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.checkpoint.RedisCheckpointStore;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.MemberReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.test.EmbeddedRedisSentinel;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A master is killed in the middle of consumption. When its replica has what it has
 * answered, consumption suspends in time and resumes automatically, in place, with
 * nothing lost, repeated in the state, or consumed by two. When it has not, acknowledged
 * writes are lost, changes of owners among them: live instances continue where they were,
 * shards of an instance that died at the same time are repeated, and no token is given
 * twice.
 */
@Tag("proof")
@Promise("Automatic recovery")
class FailoverTests {

	private static final int SHARDS = 8;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** Shorter than a failover takes, so that consumption has to suspend. */
	private static final Duration LEASE = Duration.ofMillis(2500);

	private static final Duration LONGER_THAN_A_FAILOVER = Duration.ofSeconds(10);

	/** Started when first needed. */
	private static EmbeddedRedisCluster cluster;

	private final String group = UUID.randomUUID().toString();

	@TempDir
	private Path directory;

	private final List<ConfigurableApplicationContext> instances = new ArrayList<>();

	private Duration lease = LEASE;

	private List<String> address = List.of();

	private LettuceConnectionFactory connections;

	private RedisConnector connector;

	private RedisCheckpointStore checkpoints;

	private Feeder feeder;

	private EmbeddedRedisSentinel sentinels;

	private void start(LettuceConnectionFactory factory, String... address) {
		this.connections = factory;
		this.connector = new RedisConnector(factory);
		this.checkpoints = new RedisCheckpointStore(this.connector, "shardkeeper", this.group, Duration.ofSeconds(10));
		this.address = List.of(address);
		List.of("one", "two", "three").forEach(this::startInstance);
		this.feeder = new Feeder(this.connector, SHARDS, Duration.ofMillis(20), 1, Duration.ofSeconds(1));
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(report().shards()).hasSize(SHARDS)
				.allMatch((shard) -> shard.state().equals("OWNED"))
				.extracting(ShardReport::owner)
				.containsAll(report().members().stream().map(MemberReport::id).toList()));
		awaitHandledAfter(Trace.nowMicros());
	}

	private ConfigurableApplicationContext startInstance(String name) {
		List<String> arguments = new ArrayList<>(this.address);
		arguments.addAll(List.of("--shardkeeper.group=" + this.group, "--shardkeeper.instance-id=" + name,
				"--shardkeeper.topics." + TracingInstance.TOPIC + ".shards=" + SHARDS,
				"--shardkeeper.session.lease=" + this.lease.toMillis() + "ms",
				"--shardkeeper.session.heartbeat-interval=200ms", "--shardkeeper.consumer.commit.interval=200ms",
				"--spring.main.banner-mode=off", "--trace.file=" + this.directory.resolve(name + ".trace")));
		ConfigurableApplicationContext instance = new SpringApplicationBuilder(TracingInstance.Application.class)
			.web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.run(arguments.toArray(String[]::new));
		this.instances.add(instance);
		return instance;
	}

	private GroupReport report() {
		return this.instances.get(0).getBean(GroupReporter.class).report();
	}

	@AfterEach
	void stop() {
		this.feeder.close();
		this.instances.forEach(ConfigurableApplicationContext::close);
		this.checkpoints.close();
		this.connector.stop();
		this.connections.destroy();
		if (this.sentinels != null) {
			this.sentinels.close();
		}
	}

	@AfterAll
	static void stopCluster() {
		if (cluster != null) {
			cluster.close();
		}
	}

	@Test
	@OnEveryRedis
	void sentinelFailoverLosesNothing() {
		startOnSentinel();
		EmbeddedRedis master = this.sentinels.master();
		EmbeddedRedis replica = this.sentinels.replicas().get(0);
		master.killInSync();
		Failover failover = awaitFailover("the master that Sentinels watch", () -> role(replica).equals("master"));

		suspended(failover);
		resumedInPlace(failover);
		everythingIsExact();
	}

	@Test
	@OnEveryRedis
	void clusterFailoverOfGroupLosesNothing() {
		startOnCluster();
		cluster.killMasterOf(groupKey());
		Failover failover = awaitFailover("the master of the group's slot",
				() -> cluster.masterOf(groupKey()).isPresent());

		suspended(failover);
		resumedInPlace(failover);
		everythingIsExact();
	}

	@Test
	void clusterFailoverOfShardsLosesNothing() {
		startOnCluster();
		String checkpoint = IntStream.range(0, SHARDS)
			.mapToObj((id) -> "shardkeeper:{" + this.group + "/" + ShardId.of(TracingInstance.TOPIC, id) + "}")
			.filter((key) -> !cluster.masterOf(key).equals(cluster.masterOf(groupKey())))
			.findFirst()
			.orElseThrow();
		cluster.killMasterOf(checkpoint);
		Failover failover = awaitFailover("the master of some shards' checkpoints",
				() -> cluster.masterOf(checkpoint).isPresent());

		resumedInPlace(failover);
		everythingIsExact();
	}

	@Test
	@OnEveryRedis
	@Promise("Tokens never repeat")
	void sentinelFailoverWithLostWritesRepeatsOnlyShardsOfDeadOwner() {
		startOnSentinel();
		EmbeddedRedis master = this.sentinels.master();
		EmbeddedRedis replica = this.sentinels.replicas().get(0);
		newOwnerDiesWithTheMaster(master, replica, () -> role(replica).equals("master"));
	}

	@Test
	@Promise("Tokens never repeat")
	void clusterFailoverWithLostWritesRepeatsOnlyShardsOfDeadOwner() {
		startOnCluster();
		newOwnerDiesWithTheMaster(cluster.masterOf(groupKey()).orElseThrow(), cluster.replicaOf(groupKey()),
				() -> cluster.masterOf(groupKey()).isPresent());
	}

	/** Its lease has not ended when there is a Redis again: so it may claim. */
	@Test
	void ownerSurvivesLossOfItsTakeOver() {
		this.lease = LONGER_THAN_A_FAILOVER;
		startOnCluster();
		EmbeddedRedis master = cluster.masterOf(groupKey()).orElseThrow();
		takeOverInWritesThatGetLost(master);
		master.kill();
		Failover failover = awaitFailover("the master of the group's slot, and a take-over is lost",
				() -> cluster.masterOf(groupKey()).isPresent());

		resumedInPlace(failover);
		checkThatEveryCallContinuesFromTheState();
	}

	private void newOwnerDiesWithTheMaster(EmbeddedRedis master, EmbeddedRedis replica, Callable<Boolean> isReplaced) {
		ConfigurableApplicationContext four = takeOverInWritesThatGetLost(master);
		// It becomes the master, and must not do so while the new owner still stops.
		replica.freeze();
		long killed = Trace.nowMicros();
		master.kill();
		// It cannot restore its shards, and no other member knows their state.
		this.instances.remove(four);
		four.close();
		replica.thaw();
		Failover failover = awaitFailover("a master, and a take-over is lost with the new owner", isReplaced);
		assertThat(Trace.read(this.directory).lines()).as("it had gone before there was a Redis that it could tell")
			.noneMatch((line) -> line.instance().equals("four") && line.beginMicros() > failover.notYetReplaced);
		checkThatEveryCallContinuesFromTheState(new Death("four", killed));
	}

	/** From here on all is lost that is acknowledged. */
	private ConfigurableApplicationContext takeOverInWritesThatGetLost(EmbeddedRedis master) {
		master.cutOffReplicas();
		ConfigurableApplicationContext four = startInstance("four");
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> Trace.read(this.directory)
				.lines()
				.stream()
				.filter((line) -> line.instance().equals("four"))
				.map(Trace.Line::shard)
				.distinct()
				.count() == SHARDS / 4);
		awaitHandledAfter(Trace.nowMicros());
		return four;
	}

	private void checkThatEveryCallContinuesFromTheState(Death... deaths) {
		this.feeder.stop();
		for (int id = 0; id < SHARDS; id++) {
			ShardId shard = ShardId.of(TracingInstance.TOPIC, id);
			List<Long> left = stream(shard);
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(state(shard)).as("committed state of %s", shard)
					.isEqualTo(stateAfter(lastCall(shard, left))));
			assertThat(LineageChecker.check(calls(shard), left, state(shard), List.of(deaths))).as("%s", shard)
				.isEmpty();
		}
	}

	private List<Trace.Line> calls(ShardId shard) {
		return Trace.read(this.directory).byShard().get(shard.id());
	}

	/** The last one that there can be. */
	private Trace.Line lastCall(ShardId shard, List<Long> left) {
		List<Trace.Line> calls = calls(shard);
		Trace.Line last = calls.get(calls.size() - 1);
		assertThat(last.number()).as("the last record of %s is handled", shard)
			.isGreaterThanOrEqualTo(left.get(left.size() - 1));
		return last;
	}

	private static State stateAfter(Trace.Line call) {
		return new State(call.sum(), call.count());
	}

	/** {@code null} until a state that got lost as a whole is written back. */
	private State state(ShardId shard) {
		Map<String, String> state = this.checkpoints.read(shard).state();
		return state.isEmpty() ? null : new State(Long.parseLong(state.get("sum")), Long.parseLong(state.get("count")));
	}

	private void startOnSentinel() {
		this.sentinels = EmbeddedRedisSentinel.start(1);
		start(RedisClients.factory(this.sentinels),
				"--spring.data.redis.sentinel.master=" + EmbeddedRedisSentinel.MASTER_NAME,
				"--spring.data.redis.sentinel.nodes=" + this.sentinels.addresses());
	}

	private void startOnCluster() {
		if (cluster == null) {
			cluster = EmbeddedRedisCluster.startWithReplicas(3);
		}
		cluster.restore();
		start(RedisClients.factory(cluster), "--spring.data.redis.cluster.nodes=" + cluster.addresses());
	}

	private String groupKey() {
		return "shardkeeper:{" + this.group + "}";
	}

	private static String role(EmbeddedRedis redis) {
		return redis.call((commands) -> commands.role()).get(0).toString();
	}

	private Failover awaitFailover(String what, Callable<Boolean> isOver) {
		long killed = Trace.nowMicros();
		AtomicLong notYet = new AtomicLong();
		// A Sentinel cuts the connections of a node that it makes the master.
		Awaitility.await()
			.atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(20))
			.ignoreExceptionsInstanceOf(RedisException.class)
			.until(() -> {
				long asked = Trace.nowMicros();
				boolean over = isOver.call();
				notYet.set(over ? notYet.get() : asked);
				return over;
			});
		long replaced = Trace.nowMicros();
		awaitHandledAfter(replaced);
		Map<String, Long> stood = new TreeMap<>();
		Trace.read(this.directory)
			.byShard()
			.forEach((shard, lines) -> stood.put(shard, Trace.longestGap(lines, killed, replaced).toMillis()));
		System.out.printf("kill -9 of %s: replaced after %d ms; measured: shards stood still for %s ms%n", what,
				(replaced - killed) / 1000, stood);
		return new Failover(killed, notYet.get());
	}

	/** No handler is called after its lease until there is a Redis again. */
	private void suspended(Failover failover) {
		long leaseEnd = failover.killed + LEASE.toNanos() / 1000;
		assertThat(failover.notYetReplaced).as("the failover takes longer than the lease").isGreaterThan(leaseEnd);
		assertThat(Trace.read(this.directory).lines())
			.noneMatch((line) -> line.beginMicros() > leaseEnd && line.beginMicros() < failover.notYetReplaced);
	}

	/** By the same instances, under the same tokens: no shard has moved. */
	private void resumedInPlace(Failover failover) {
		Trace.read(this.directory).byShard().forEach((shard, lines) -> {
			Trace.Line before = lines.stream()
				.filter((line) -> line.beginMicros() < failover.killed)
				.reduce((first, second) -> second)
				.orElseThrow();
			assertThat(lines).as("shard %s after the failover", shard)
				.filteredOn((line) -> line.beginMicros() > failover.killed)
				.isNotEmpty()
				.allMatch((line) -> line.token() == before.token() && line.instance().equals(before.instance()));
		});
	}

	/** Each record of the new master was counted once, and it has all records sent. */
	private void everythingIsExact() {
		this.feeder.stop();
		for (int id = 0; id < SHARDS; id++) {
			ShardId shard = ShardId.of(TracingInstance.TOPIC, id);
			List<Long> numbers = stream(shard);
			assertThat(numbers).as("sent to %s", shard)
				.isEqualTo(LongStream.rangeClosed(1, this.feeder.sent(id)).boxed().toList());
			Awaitility.await()
				.atMost(PATIENCE)
				.untilAsserted(() -> assertThat(this.checkpoints.read(shard).state()).as("%s", shard)
					.containsEntry("count", Long.toString(numbers.size()))
					.containsEntry("sum", Long.toString(numbers.stream().mapToLong(Long::longValue).sum())));
		}
		Trace.read(this.directory).byShard().forEach((shard, lines) -> {
			for (int i = 1; i < lines.size(); i++) {
				assertThat(lines.get(i).token()).as("tokens of shard %s", shard)
					.isGreaterThanOrEqualTo(lines.get(i - 1).token());
			}
		});
	}

	private List<Long> stream(ShardId shard) {
		String key = "shardkeeper:{" + shard.topic() + "#" + shard.id() + "}:stream:" + shard.id();
		return new StringRedisTemplate(this.connections).<String, String>opsForStream()
			.range(key, Range.unbounded())
			.stream()
			.map((entry) -> Long.parseLong(entry.getValue().get("v")))
			.toList();
	}

	/** Every shard has handled something that was sent later. */
	private void awaitHandledAfter(long micros) {
		Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(50)).until(() -> {
			Map<String, List<Trace.Line>> lines = Trace.read(this.directory).byShard();
			return lines.size() == SHARDS && lines.values()
				.stream()
				.allMatch((handled) -> handled.get(handled.size() - 1).beginMicros() > micros);
		});
	}

	/**
	 * Observations of a failover.
	 *
	 * @param killed when the old master had been killed
	 * @param notYetReplaced when there was last seen to be no new one
	 */
	private record Failover(long killed, long notYetReplaced) {

	}

}
