package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.ClientListArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.test.Disturbance;
import io.github.shardkeeper.test.Disturbance.Role;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisSentinel;
import io.github.shardkeeper.test.FaultyProxy;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A master that is cut off from its replicas must accept nothing, or two sides of a
 * partition write. Redis does that if it is configured, for scripts too; if it is not,
 * Shardkeeper warns.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
@Promise("Clear errors")
class MinReplicasTests {

	private static final Duration PATIENCE = Duration.ofSeconds(40);

	private static final String[] GUARDED = { "--min-replicas-to-write", "1", "--min-replicas-max-lag", "1" };

	private static final String UNGUARDED = "'min-replicas-to-write' is 0";

	private static final String TOO_LATE = "(seconds) and Sentinel's 'down-after-milliseconds' is";

	private static final String SENTINEL_UNREADABLE = "Whether Sentinel's 'down-after-milliseconds' is long enough";

	private static final String UNREADABLE = "Whether the master asks for replicas";

	private final List<AutoCloseable> opened = new ArrayList<>();

	private EmbeddedGroup instances;

	@AfterEach
	void close() throws Exception {
		if (this.instances != null) {
			this.instances.started().forEach(ConfigurableApplicationContext::close);
		}
		for (AutoCloseable each : this.opened) {
			each.close();
		}
	}

	private EmbeddedRedis master(String... arguments) {
		EmbeddedRedis master = EmbeddedRedis.startReplicating(arguments);
		this.opened.add(master);
		return master;
	}

	private EmbeddedRedis replicaOf(EmbeddedRedis master) {
		EmbeddedRedis replica = EmbeddedRedis.startReplicating("--replicaof", "127.0.0.1",
				String.valueOf(master.port()));
		this.opened.add(replica);
		return replica;
	}

	private ConfigurableApplicationContext start(String... properties) {
		this.instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=3",
				"management.health.shardkeeper.outage-tolerance=0s", "shardkeeper.redis.trust-empty=true");
		return this.instances.start(Application.class, "one", properties);
	}

	private ConfigurableApplicationContext startOn(EmbeddedRedis redis, String... properties) {
		return start(Stream.concat(Stream.of("spring.data.redis.port=" + redis.port()), Stream.of(properties))
			.toArray(String[]::new));
	}

	private ConfigurableApplicationContext startOnSentinels(String addresses, String... properties) {
		return start(
				Stream
					.concat(Stream.of("spring.data.redis.sentinel.master=" + EmbeddedRedisSentinel.MASTER_NAME,
							"spring.data.redis.sentinel.nodes=" + addresses), Stream.of(properties))
					.toArray(String[]::new));
	}

	/** Whether it could need memory or not: it stands before its first write. */
	@ParameterizedTest
	@OnEveryRedis
	@ValueSource(strings = { "redis.call('SET', KEYS[1], 1)", "redis.call('HDEL', KEYS[1], '')",
			"redis.pcall('HDEL', KEYS[1], '') redis.call('SET', KEYS[1], 1)" })
	void scriptIsRefusedBeforeItsFirstWrite(String writes) {
		EmbeddedRedis master = master(GUARDED);
		assertThat(master.<Long>call(
				(commands) -> commands.eval("return redis.call('EXISTS', KEYS[1])", ScriptOutputType.INTEGER, "key")))
			.isZero();
		assertThatExceptionOfType(RedisCommandExecutionException.class)
			.isThrownBy(() -> master.call((commands) -> commands.eval(writes, ScriptOutputType.STATUS, "key")))
			.withMessageContaining("NOREPLICAS Not enough good replicas to write");
		assertThat(master.<Long>call((commands) -> commands.dbsize())).isZero();
	}

	@Test
	@OnEveryRedis
	void consumptionSuspendsWithoutReplicasAndResumesInPlace(CapturedOutput output) {
		EmbeddedRedis master = master(GUARDED);
		EmbeddedRedis replica = replicaOf(master);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> master.call((commands) -> commands.info("replication")).contains("min_slaves_good_slaves:1"));
		ConfigurableApplicationContext one = startOn(master, "shardkeeper.session.lease=1500ms");
		awaitUp(one);
		Map<String, Long> tokens = tokens(one);
		assertThat(tokens).hasSize(3);

		// A replica that is slow for a moment is missing for a moment, too.
		long saidBefore = refusals(output);
		replica.kill();
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(one).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(one).getDetails().get("reason")).asString()
				.startsWith("The lease is not held, so nothing is consumed")
				.endsWith("Redis: NOREPLICAS Not enough good replicas to write; the master reaches fewer replicas than "
						+ "its 'min-replicas-to-write' requires, and accepts no writes until they are back or another "
						+ "node becomes the master: check the replicas and the network between them");
		});
		assertThat(output.getOut()).contains("The lease in group");
		assertThat(refusals(output)).as("said once, however often it is tried").isEqualTo(saidBefore + 1);

		replica.restart();
		awaitUp(one);
		assertThat(tokens(one)).isEqualTo(tokens);
		assertThat(output.getOut()).doesNotContain(UNGUARDED, UNREADABLE, "Lost orders");
	}

	private static long refusals(CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains("NOREPLICAS")).count();
	}

	@Test
	void masterThatRequiresNoReplicasWarnsUntilReplaced(CapturedOutput output) {
		EmbeddedRedis master = master();
		replicaOf(master);
		master.emptyWithReplicas(1);
		ConfigurableApplicationContext one = startOn(master);
		awaitUp(one);
		awaitWarned(one, output);
		closeSubscriptions(master);
		assertThat(health(one).getDetails()).containsKey("durability");

		master.call((commands) -> commands.configSet("min-replicas-to-write", "1"));
		closeSubscriptions(master);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(one).getDetails()).doesNotContainKey("durability"));
		assertThat(output.getOut()).containsOnlyOnce(UNGUARDED);
	}

	@Test
	void masterWithSentinelsWarnsWithoutReplica(CapturedOutput output) {
		EmbeddedRedisSentinel sentinels = EmbeddedRedisSentinel.start(0);
		this.opened.add(sentinels);
		ConfigurableApplicationContext one = startOnSentinels(sentinels.addresses());
		awaitUp(one);
		awaitWarned(one, output);
	}

	/** Also if the first one of them is down. */
	@Test
	void lagTooLongForSentinelsWarnsUntilShorter(CapturedOutput output) {
		EmbeddedRedisSentinel sentinels = guardedBySentinels();
		sentinels.sentinels().get(0).kill();
		ConfigurableApplicationContext one = startOnSentinels(sentinels.addresses());
		awaitUp(one);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(one).getDetails().get("durability")).asString()
				.contains("'min-replicas-max-lag' is 2 (seconds)", "'down-after-milliseconds' is 3000",
						"The lag + 2 s must not exceed 'down-after-milliseconds': set that to 4000 or more on every "
								+ "Sentinel, or 'min-replicas-max-lag' to 1 on every node"));
		assertThat(output.getOut().lines().filter((line) -> line.contains(TOO_LATE))).hasSize(1)
			.allMatch((line) -> line.contains(" WARN "));

		EmbeddedRedis master = sentinels.master();
		master.call((commands) -> commands.configSet("min-replicas-max-lag", "1"));
		closeSubscriptions(master);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(one).getDetails()).doesNotContainKey("durability"));
		assertThat(output.getOut()).containsOnlyOnce(TOO_LATE).doesNotContain(UNGUARDED, SENTINEL_UNREADABLE);
	}

	/** With the user that is configured for them; without one they would reply. */
	@Test
	void forbiddenReadOfSentinelsIsReportedOnce(CapturedOutput output) {
		EmbeddedRedisSentinel sentinels = guardedBySentinels();
		sentinels.sentinels()
			.forEach((sentinel) -> acl(sentinel, "on", ">secret", "+hello", "+auth", "+ping", "+client",
					"+sentinel|get-master-addr-by-name"));
		ConfigurableApplicationContext one = startOnSentinels(sentinels.addresses(),
				"spring.data.redis.sentinel.username=app", "spring.data.redis.sentinel.password=secret");
		awaitUp(one);
		awaitReportedAsUnreadable(SENTINEL_UNREADABLE, one, output);
		closeSubscriptions(sentinels.master());

		sentinels.sentinels().forEach((sentinel) -> acl(sentinel, "+sentinel|master"));
		closeSubscriptions(sentinels.master());
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(one).getDetails().get("durability")).asString().contains(TOO_LATE));
		assertThat(output.getOut()).containsOnlyOnce(SENTINEL_UNREADABLE)
			.contains("see to it that it is 4000 or more", "SENTINEL MASTER: NOPERM");
	}

	private static void acl(EmbeddedRedis sentinel, String... rules) {
		CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("app");
		List.of(rules).forEach(arguments::add);
		sentinel
			.call((commands) -> commands.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments));
	}

	/** They do reply the first question, for the master. */
	@Test
	void silentSentinelsDelayNothing(CapturedOutput output) {
		EmbeddedRedisSentinel sentinels = guardedBySentinels();
		FaultyProxy network = new FaultyProxy(sentinels.sentinels().get(0).port(), "\r\nmaster\r\n");
		this.opened.add(network);
		network.disturb(Disturbance.hold(Set.of(Role.CONTROL)));
		ConfigurableApplicationContext one = startOnSentinels("127.0.0.1:" + network.port());
		awaitUp(one);
		awaitReportedAsUnreadable(SENTINEL_UNREADABLE, one, output);
		assertThat(output.getOut().lines().filter((line) -> line.contains(SENTINEL_UNREADABLE)))
			.as("said by a thread that waits for nothing else")
			.allMatch((line) -> line.contains("-connect]"));

		network.heal();
		closeSubscriptions(sentinels.master());
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(one).getDetails().get("durability")).asString().contains(TOO_LATE));
	}

	private EmbeddedRedisSentinel guardedBySentinels() {
		EmbeddedRedisSentinel sentinels = EmbeddedRedisSentinel.start(1);
		this.opened.add(sentinels);
		EmbeddedRedis master = sentinels.master();
		master.call((commands) -> commands.configSet("min-replicas-max-lag", "2"));
		master.call((commands) -> commands.configSet("min-replicas-to-write", "1"));
		return sentinels;
	}

	@Test
	void waitingForReplicasDoesNotRemoveWarning(CapturedOutput output) {
		ConfigurableApplicationContext one = startOn(master(), "shardkeeper.redis.wait-for-replicas=1");
		awaitWarned(one, output);
	}

	@Test
	void masterWithoutReplicasCausesNoWarning(CapturedOutput output) {
		EmbeddedRedis single = master();
		ConfigurableApplicationContext one = startOn(single);
		awaitUp(one);
		awaitStatistics(single, "cmdstat_info:");

		assertThat(health(one).getDetails()).doesNotContainKey("durability");
		assertThat(output.getOut()).doesNotContain(UNGUARDED, UNREADABLE);
		assertThat(single.<String>call((commands) -> commands.info("commandstats"))).doesNotContain("cmdstat_config");
	}

	@Test
	void forbiddenReadIsReportedOnce(CapturedOutput output) {
		EmbeddedRedis master = master();
		master.call((commands) -> commands.aclSetuser("app",
				AclSetuserArgs.Builder.on()
					.nopass()
					.allKeys()
					.allChannels()
					.allCommands()
					.removeCommand(CommandType.CONFIG)));
		ConfigurableApplicationContext one = startOn(master, "shardkeeper.redis.wait-for-replicas=1",
				"spring.data.redis.username=app", "spring.data.redis.password=any");
		awaitStatistics(master, "cmdstat_config.*rejected_calls=1");
		closeSubscriptions(master);
		awaitStatistics(master, "cmdstat_config.*rejected_calls=2");
		awaitReportedAsUnreadable(UNREADABLE, one, output);
	}

	@Test
	void unavailableConfigCommandIsReportedOnce(CapturedOutput output) {
		awaitReportedAsUnreadable(UNREADABLE,
				startOn(master("--rename-command", "CONFIG", ""), "shardkeeper.redis.wait-for-replicas=1"), output);
	}

	private static void awaitReportedAsUnreadable(String what, ConfigurableApplicationContext instance,
			CapturedOutput output) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(output.getOut().lines().filter((line) -> line.contains(what))).hasSize(1)
				.allMatch((line) -> line.contains(" INFO ")));
		assertThat(output.getOut()).doesNotContain(UNGUARDED);
		assertThat(health(instance).getDetails()).doesNotContainKey("durability");
	}

	private static void awaitWarned(ConfigurableApplicationContext instance, CapturedOutput output) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(instance).getDetails().get("durability")).asString()
				.contains(UNGUARDED, "Set 'min-replicas-to-write' to 1 or more", "'min-replicas-max-lag'"));
		assertThat(output.getOut().lines().filter((line) -> line.contains(UNGUARDED))).hasSize(1)
			.allMatch((line) -> line.contains(" WARN "));
	}

	private static void awaitStatistics(EmbeddedRedis redis, String line) {
		Pattern pattern = Pattern.compile(line);
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> pattern.matcher(redis.call((commands) -> commands.info("commandstats"))).find());
	}

	private static void awaitUp(ConfigurableApplicationContext instance) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.UP);
			assertThat(instance.getBean(GroupReporter.class).report().shards()).hasSize(3)
				.allMatch((shard) -> shard.state().equals("OWNED"));
		});
	}

	private static Map<String, Long> tokens(ConfigurableApplicationContext instance) {
		Map<String, Long> tokens = new TreeMap<>();
		instance.getBean(GroupReporter.class)
			.report()
			.shards()
			.forEach((shard) -> tokens.put(shard.id(), shard.token()));
		return tokens;
	}

	/**
	 * Returns when they are open again; a log says so only of one that was open for a
	 * lease.
	 */
	private static void closeSubscriptions(EmbeddedRedis redis) {
		long closed = redis.<Long>call((commands) -> commands.clientKill(KillArgs.Builder.typePubsub()));
		assertThat(closed).isPositive();
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> redis.<String>call((commands) -> commands.clientList(ClientListArgs.Builder.typePubsub()))
				.lines()
				.count() >= closed);
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

}
