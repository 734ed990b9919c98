package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.actuate.ShardsEndpoint;
import io.github.shardkeeper.history.MoveHistory;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.DocumentedKeys;
import io.github.shardkeeper.redis.testsupport.DocumentedRights;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.test.EmbeddedRedisSentinel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Applications whose Redis user has the rights that the reference shows, and only the
 * keys of its group: nothing that they do is refused, on a single Redis, with Sentinels
 * and on a Redis Cluster; a right that is missing on one of several servers is named; and
 * no key of another group can be read or written.
 */
@OnEveryRedis
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
class LeastRightsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String USER = "restricted";

	private static final String[] CREDENTIALS = { "spring.data.redis.username=" + USER,
			"spring.data.redis.password=secret" };

	/** Sessions survive a machine with much to do, and there is something to move. */
	private static final String[] SETTINGS = { "shardkeeper.key-prefix=shardkeeper",
			"shardkeeper.topics.orders.shards=4", "shardkeeper.session.lease=3s", "shardkeeper.session.timeout=10s",
			"management.health.shardkeeper.outage-tolerance=0s" };

	/**
	 * The client works without them, and an optional check is left out where it is not
	 * permitted.
	 */
	private static final Pattern NOT_NEEDED = Pattern
		.compile("client(\\|setinfo|\\|setname)?|config(\\|get)?|cluster(\\|myid)?");

	private final List<EmbeddedGroup> groups = new ArrayList<>();

	private final List<AutoCloseable> servers = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		this.groups.forEach(EmbeddedGroup::close);
		for (AutoCloseable server : this.servers) {
			server.close();
		}
	}

	@Test
	void singleRedis() {
		EmbeddedRedis redis = closedLater(EmbeddedRedis.start());
		EmbeddedGroup group = group("spring.data.redis.port=" + redis.port());
		create(group, List.of(redis));

		assertEverythingWorks(group);

		assertNothingRefused(List.of(redis));
	}

	@Test
	void anotherDatabase() {
		EmbeddedRedis redis = closedLater(EmbeddedRedis.start());
		EmbeddedGroup group = group("spring.data.redis.port=" + redis.port(), "spring.data.redis.database=3");
		create(group, List.of(redis));
		DocumentedRights.set(redis, USER, DocumentedRights.DATABASE.rules());

		ConfigurableApplicationContext one = group.start(AllOperations.Application.class, "one");
		awaitHealthy(one);
		eventually(() -> {
			new AllOperations(one).steps().forEach(LeastRightsTests::perform);
			assertThat(handled(one)).isPositive();
		});

		assertNothingRefused(List.of(redis));
	}

	@Test
	void sentinels() {
		EmbeddedRedisSentinel redis = closedLater(EmbeddedRedisSentinel.start(1));
		EmbeddedGroup group = group(redis, "shardkeeper.redis.wait-for-replicas=1");
		List<EmbeddedRedis> nodes = nodes(redis);
		create(group, nodes);
		createOnSentinels(redis, DocumentedRights.SENTINELS.rules());

		assertEverythingWorks(group);

		assertNothingRefused(nodes);
		assertNothingRefused(redis.sentinels());
	}

	/** Nobody is told the address of a master. */
	@Test
	void sentinelsWithoutARightOfTheirUser(CapturedOutput output) {
		EmbeddedRedisSentinel redis = closedLater(EmbeddedRedisSentinel.start(1));
		EmbeddedGroup group = group(redis);
		create(group, nodes(redis));
		String right = "sentinel|get-master-addr-by-name";
		createOnSentinels(redis, without(DocumentedRights.SENTINELS.rules(), "+" + right));

		ConfigurableApplicationContext instance = group.start(AllOperations.Application.class, "one");

		assertNamed(instance, output, right);

		createOnSentinels(redis, DocumentedRights.SENTINELS.rules());
		awaitHealthy(instance);
	}

	@Test
	void missingRightBehindSentinels(CapturedOutput output) {
		EmbeddedRedisSentinel redis = closedLater(EmbeddedRedisSentinel.start(1));
		EmbeddedGroup group = group(redis);
		create(group, nodes(redis));
		createOnSentinels(redis, DocumentedRights.SENTINELS.rules());
		ConfigurableApplicationContext instance = group.start(AllOperations.Application.class, "one");
		awaitHealthy(instance);

		DocumentedRights.set(redis.master(), USER, List.of("-zadd"));

		assertNamed(instance, output, "+zadd");

		DocumentedRights.set(redis.master(), USER, List.of("+zadd"));
		awaitHealthy(instance);
	}

	@Test
	void cluster() {
		EmbeddedRedisCluster redis = closedLater(EmbeddedRedisCluster.start(3));
		EmbeddedGroup group = group(redis);
		List<EmbeddedRedis> nodes = nodes(redis, group);
		create(group, nodes);
		nodes.forEach((node) -> DocumentedRights.set(node, USER, DocumentedRights.CLUSTER.rules()));

		assertEverythingWorks(group);

		assertNothingRefused(nodes);
	}

	/** The client needs it before it knows a master. */
	@Test
	void clusterWithoutTheRightToItsNodes(CapturedOutput output) {
		EmbeddedRedisCluster redis = closedLater(EmbeddedRedisCluster.start(3));
		EmbeddedGroup group = group(redis);
		List<EmbeddedRedis> nodes = nodes(redis, group);
		create(group, nodes);

		ConfigurableApplicationContext instance = group.start(AllOperations.Application.class, "one");

		assertNamed(instance, output, "cluster|nodes");

		nodes.forEach((node) -> DocumentedRights.set(node, USER, DocumentedRights.CLUSTER.rules()));
		awaitHealthy(instance);
	}

	/** Users are not replicated, so one may have been forgotten on one of the nodes. */
	@Test
	void missingRightOnOneNodeOfACluster(CapturedOutput output) {
		EmbeddedRedisCluster redis = closedLater(EmbeddedRedisCluster.start(3));
		EmbeddedGroup group = group(redis);
		List<EmbeddedRedis> nodes = nodes(redis, group);
		create(group, nodes);
		nodes.forEach((node) -> DocumentedRights.set(node, USER, DocumentedRights.CLUSTER.rules()));
		ConfigurableApplicationContext instance = group.start(AllOperations.Application.class, "one");
		awaitHealthy(instance);
		String ofGroup = "shardkeeper:{" + group.name() + "}:group";
		EmbeddedRedis ofControlPlane = redis.masterOf(ofGroup).orElseThrow();
		List<String> elsewhere = IntStream.range(0, 4)
			.mapToObj((shard) -> "orders/" + shard)
			.filter((shard) -> redis.masterOf("shardkeeper:{" + group.name() + "/" + shard + "}:checkpoint")
				.orElseThrow() != ofControlPlane)
			.toList();
		assertThat(elsewhere).as("four shards are not all in the slots of one node").isNotEmpty();

		redis.mastersWithout(ofGroup).forEach((node) -> DocumentedRights.set(node, USER, List.of("-hset")));

		ShardTemplate template = instance.getBean(ShardTemplate.class);
		eventually(() -> {
			IntStream.range(0, 20).forEach((key) -> template.send("orders", "key" + key, "good"));
			assertThat(health(instance).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(instance).getDetails().toString()).contains("NOPERM", "+hset");
			assertThat(report(instance)).filteredOn((shard) -> shard.problem() != null)
				.extracting((shard) -> shard.topic() + "/" + shard.id())
				.containsExactlyElementsOf(elsewhere);
			assertThat(output.getOut()).contains("NOPERM").contains("+hset");
		});

		redis.mastersWithout(ofGroup).forEach((node) -> DocumentedRights.set(node, USER, List.of("+hset")));
		awaitHealthy(instance);
		eventually(() -> assertThat(report(instance)).allMatch((shard) -> shard.problem() == null));
	}

	@Test
	void keysOfOtherGroupsCannotBeTouched() {
		EmbeddedRedis redis = closedLater(EmbeddedRedis.start());
		EmbeddedGroup group = group("spring.data.redis.port=" + redis.port());
		create(group, List.of(redis));
		List<String> others = List.of(group.name() + "2", "x" + group.name(), "orders",
				group.name().substring(0, group.name().length() - 1));
		RedisClient client = closedLater(RedisClient.create(RedisURI.Builder.redis("127.0.0.1", redis.port())
			.withAuthentication(USER, "secret".toCharArray())
			.build()));
		try (StatefulRedisConnection<String, String> connection = client.connect();
				StatefulRedisPubSubConnection<String, String> subscription = client.connectPubSub()) {
			RedisCommands<String, String> commands = connection.sync();
			for (DocumentedKeys.Key own : DocumentedKeys.all(group.name(), "orders")) {
				assertThat(commands.type(own.name())).as(own.name()).isEqualTo("none");
			}
			for (String other : others) {
				for (DocumentedKeys.Key key : DocumentedKeys.all(other, "orders")) {
					if (!key.isOfGroup()) {
						continue;
					}
					assertRefused(key.name(), () -> commands.type(key.name()));
					assertRefused(key.name(), () -> commands.unlink(key.name()));
					assertRefused(key.name(), () -> commands.eval("return redis.call('HSET', KEYS[1], 'owner', 'me')",
							ScriptOutputType.INTEGER, key.name()));
				}
				String channel = "shardkeeper:{" + other + "}:member:one";
				assertRefused(channel, () -> commands.publish(channel, "!"));
				assertRefused(channel, () -> subscription.sync().subscribe(channel));
			}
			for (DocumentedKeys.Key key : DocumentedKeys.all(group.name(), "payments")) {
				if (!key.isOfGroup()) {
					assertRefused(key.name(), () -> commands.type(key.name()));
				}
			}
		}
	}

	/** An application that is configured with the group of somebody else. */
	@Test
	void applicationOfAnotherGroupIsRefused(CapturedOutput output) {
		EmbeddedRedis redis = closedLater(EmbeddedRedis.start());
		EmbeddedGroup group = group("spring.data.redis.port=" + redis.port());
		create(group, List.of(redis));

		ConfigurableApplicationContext stranger = group.start(AllOperations.Application.class, "one",
				"shardkeeper.group=other");

		eventually(() -> {
			assertThat(health(stranger).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(stranger).getDetails().toString()).contains("NOPERM");
			assertThat(output.getOut()).contains("NOPERM");
		});
		List<String> touched = redis.call((commands) -> commands.keys("shardkeeper:{other*"));
		assertThat(touched).isEmpty();
	}

	private EmbeddedGroup group(EmbeddedRedisSentinel redis, String... properties) {
		return group(
				Stream
					.concat(Stream.of("spring.data.redis.sentinel.nodes=" + redis.addresses(),
							"spring.data.redis.sentinel.master=" + EmbeddedRedisSentinel.MASTER_NAME,
							"spring.data.redis.sentinel.username=" + USER,
							"spring.data.redis.sentinel.password=other-secret"), Stream.of(properties))
					.toArray(String[]::new));
	}

	private EmbeddedGroup group(EmbeddedRedisCluster redis) {
		return group("spring.data.redis.cluster.nodes=" + redis.addresses());
	}

	private EmbeddedGroup group(String... properties) {
		EmbeddedGroup group = EmbeddedGroup.onRedis(Stream.of(AllOperations.SETTINGS, SETTINGS, CREDENTIALS, properties)
			.flatMap(Stream::of)
			.toArray(String[]::new));
		this.groups.add(group);
		return group;
	}

	private static List<EmbeddedRedis> nodes(EmbeddedRedisSentinel redis) {
		return Stream.concat(Stream.of(redis.master()), redis.replicas().stream()).toList();
	}

	private static List<EmbeddedRedis> nodes(EmbeddedRedisCluster redis, EmbeddedGroup group) {
		String key = "shardkeeper:{" + group.name() + "}:group";
		return Stream.concat(Stream.of(redis.masterOf(key).orElseThrow()), redis.mastersWithout(key).stream()).toList();
	}

	/** Creates the user with the rights to the keys of one group. */
	private static void create(EmbeddedGroup group, List<EmbeddedRedis> nodes) {
		nodes.forEach((node) -> {
			DocumentedRights.set(node, USER, List.of("on", ">secret"));
			DocumentedRights.set(node, USER, DocumentedRights.NODES.rules());
			DocumentedRights.set(node, USER, DocumentedRights.ONE_GROUP.rules("shardkeeper", group.name(), "orders"));
		});
	}

	private static void createOnSentinels(EmbeddedRedisSentinel redis, List<String> rules) {
		redis.sentinels().forEach((sentinel) -> {
			DocumentedRights.set(sentinel, USER, List.of("on", ">other-secret"));
			DocumentedRights.set(sentinel, USER, rules);
		});
	}

	private static List<String> without(List<String> rules, String rule) {
		assertThat(rules).contains(rule);
		return rules.stream().filter((each) -> !each.equals(rule)).toList();
	}

	/** Two instances work, hand shards over, are steered and leave. */
	private static void assertEverythingWorks(EmbeddedGroup group) {
		ConfigurableApplicationContext one = group.start(AllOperations.Application.class, "one");
		AllOperations operations = new AllOperations(one);
		awaitHealthy(one);
		operations.disturbances().forEach(LeastRightsTests::perform);
		ConfigurableApplicationContext two = group.start(AllOperations.Application.class, "two");
		eventually(() -> {
			operations.steps().forEach(LeastRightsTests::perform);
			IntStream.range(0, 20)
				.forEach((key) -> perform(() -> one.getBean(ShardTemplate.class).send("orders", "key" + key, "good")));
			assertThat(one.getBean(GroupReporter.class).report().members()).hasSize(2)
				.allMatch((member) -> member.shards() > 0);
			assertThat(handled(one)).isPositive();
			assertThat(handled(two)).isPositive();
		});
		assertCanBeSteered(one);
		assertLettersAreStored(one);
		one.close();
		eventually(() -> {
			new AllOperations(two).steps().forEach(LeastRightsTests::perform);
			assertThat(two.getBean(GroupReporter.class).report().members()).singleElement()
				.matches((member) -> member.shards() > 2);
		});
		awaitHealthy(two);
	}

	private static void assertCanBeSteered(ConfigurableApplicationContext one) {
		ShardOperations operations = one.getBean(ShardOperations.class);
		perform(() -> operations.onTopic("orders", null, request("pause", Map.of())));
		perform(() -> operations.onTopic("orders", null, request("resume", Map.of())));
		perform(() -> operations.onShard("orders", "0", null, request("pin", Map.of("to", "two"))));
		eventually(() -> assertThat(report(one)).filteredOn((shard) -> shard.id().equals("0"))
			.allMatch((shard) -> String.valueOf(shard.owner()).startsWith("two~")));
		perform(() -> operations.onShard("orders", "0", null, request("unpin", Map.of())));
		perform(() -> operations.onGroup(null, request("drain", Map.of("instance", "two"))));
		eventually(() -> assertThat(report(one)).allMatch((shard) -> String.valueOf(shard.owner()).startsWith("one~")));
		perform(() -> operations.onGroup(null, request("undrain", Map.of("instance", "two"))));
		eventually(() -> assertThat(report(one)).anyMatch((shard) -> String.valueOf(shard.owner()).startsWith("two~")));
		eventually(() -> assertThat(one.getBean(MoveHistory.class).read(null, 100).entries())
			.anyMatch((entry) -> entry.move().from() != null));
		perform(() -> operations.onShard("orders", "0", null, request("seek", Map.of("to", "earliest"))));
	}

	private static void assertLettersAreStored(ConfigurableApplicationContext one) {
		DeadLetters letters = one.getBean(DeadLetters.class);
		perform(() -> one.getBean(ShardTemplate.class).send("orders", "k", "bad"));
		eventually(() -> assertThat(letters.list(DeadLetterFilter.topic("orders"), null, 1).letters()).isNotEmpty());
		perform(() -> letters.drop(DeadLetterFilter.topic("orders")));
	}

	private static Map<String, String> request(String action, Map<String, String> fields) {
		Map<String, String> request = new HashMap<>(fields);
		request.put("action", action);
		return request;
	}

	private static void assertNamed(ConfigurableApplicationContext instance, CapturedOutput output, String right) {
		eventually(() -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(instance).getDetails().toString()).contains("NOPERM", right);
			assertThat(output.getOut()).contains("NOPERM").contains(right);
		});
	}

	private static void assertRefused(String name, ThrowingCallable command) {
		assertThatExceptionOfType(RedisCommandExecutionException.class).as(name)
			.isThrownBy(command)
			.withMessageContaining("NOPERM");
	}

	private static List<ShardReport> report(ConfigurableApplicationContext instance) {
		return instance.getBean(GroupReporter.class).report().shards();
	}

	private static int handled(ConfigurableApplicationContext instance) {
		return instance.getBean(AllOperations.Application.class).handled.get();
	}

	private static void perform(AllOperations.Step step) {
		assertThat(step.run()).noneMatch((refusal) -> refusal.contains("NOPERM"));
	}

	private static void assertNothingRefused(List<EmbeddedRedis> nodes) {
		assertThat(nodes).allSatisfy((node) -> assertThat(DocumentedRights.refused(node))
			.allMatch((refused) -> NOT_NEEDED.matcher(refused).matches()));
	}

	private static void awaitHealthy(ConfigurableApplicationContext instance) {
		eventually(() -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.UP);
			assertThat(health(instance).getDetails()).doesNotContainKeys("refused", "subscription", "clusterTools");
		});
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return Objects.requireNonNull(instance.getBean(ShardkeeperHealthIndicator.class).health());
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(assertion);
	}

	private <T extends AutoCloseable> T closedLater(T server) {
		this.servers.add(server);
		return server;
	}

}
