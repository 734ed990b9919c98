package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.GroupReporter;
import io.github.shardkeeper.redis.testsupport.DocumentedRights;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.test.EmbeddedRedisCluster;
import io.github.shardkeeper.test.EmbeddedRedisSentinel;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications whose Redis user has the rights that the reference shows, and only the
 * keys of its group: nothing that they do is refused, on a single Redis, with Sentinels
 * and on a Redis Cluster.
 */
@OnEveryRedis
@ExtendWith(OutputCaptureExtension.class)
class LeastRightsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String USER = "restricted";

	private static final String[] CREDENTIALS = { "spring.data.redis.username=" + USER,
			"spring.data.redis.password=secret" };

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

		assertEverythingWorks(group);

		assertNothingRefused(List.of(redis));
	}

	@Test
	void sentinels() {
		EmbeddedRedisSentinel redis = closedLater(EmbeddedRedisSentinel.start(1));
		EmbeddedGroup group = group("spring.data.redis.sentinel.nodes=" + redis.addresses(),
				"spring.data.redis.sentinel.master=" + EmbeddedRedisSentinel.MASTER_NAME,
				"spring.data.redis.sentinel.username=" + USER, "spring.data.redis.sentinel.password=other-secret");
		List<EmbeddedRedis> nodes = Stream.concat(Stream.of(redis.master()), redis.replicas().stream()).toList();
		create(group, nodes);
		redis.sentinels().forEach((sentinel) -> {
			DocumentedRights.set(sentinel, USER, List.of("on", ">other-secret"));
			DocumentedRights.set(sentinel, USER, DocumentedRights.SENTINELS.rules());
		});

		assertEverythingWorks(group);

		assertNothingRefused(nodes);
		assertNothingRefused(redis.sentinels());
	}

	@Test
	void cluster() {
		EmbeddedRedisCluster redis = closedLater(EmbeddedRedisCluster.start(3));
		EmbeddedGroup group = group("spring.data.redis.cluster.nodes=" + redis.addresses());
		String key = "shardkeeper:{" + group.name() + "}:group";
		List<EmbeddedRedis> nodes = Stream
			.concat(Stream.of(redis.masterOf(key).orElseThrow()), redis.mastersWithout(key).stream())
			.toList();
		create(group, nodes);
		nodes.forEach((node) -> DocumentedRights.set(node, USER, DocumentedRights.CLUSTER.rules()));

		assertEverythingWorks(group);

		assertNothingRefused(nodes);
	}

	/** The client needs it before it knows a master. */
	@Test
	void clusterWithoutTheRightToItsNodes(CapturedOutput output) {
		EmbeddedRedisCluster redis = closedLater(EmbeddedRedisCluster.start(3));
		EmbeddedGroup group = group("spring.data.redis.cluster.nodes=" + redis.addresses(),
				"management.health.shardkeeper.outage-tolerance=0s");
		String key = "shardkeeper:{" + group.name() + "}:group";
		create(group, Stream.concat(Stream.of(redis.masterOf(key).orElseThrow()), redis.mastersWithout(key).stream())
			.toList());

		ConfigurableApplicationContext instance = group.start(AllOperations.Application.class, "one", CREDENTIALS);

		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(instance).getDetails().toString()).contains("NOPERM", "cluster|nodes");
			assertThat(output.getOut()).contains("cluster|nodes");
		});
	}

	private EmbeddedGroup group(String... properties) {
		EmbeddedGroup group = EmbeddedGroup.onRedis(Stream
			.of(AllOperations.SETTINGS, CREDENTIALS, properties, new String[] { "shardkeeper.key-prefix=shardkeeper" })
			.flatMap(Stream::of)
			.toArray(String[]::new));
		this.groups.add(group);
		return group;
	}

	/** Creates the user with the rights to the keys of one group. */
	private static void create(EmbeddedGroup group, List<EmbeddedRedis> nodes) {
		nodes.forEach((node) -> {
			DocumentedRights.set(node, USER, List.of("on", ">secret"));
			DocumentedRights.set(node, USER, DocumentedRights.NODES.rules());
			DocumentedRights.set(node, USER, DocumentedRights.ONE_GROUP.rules("shardkeeper", group.name(), "orders"));
		});
	}

	/** Two instances work, hand shards over and leave. */
	private static void assertEverythingWorks(EmbeddedGroup group) {
		ConfigurableApplicationContext one = group.start(AllOperations.Application.class, "one");
		AllOperations operations = new AllOperations(one);
		awaitHealthy(one);
		operations.disturbances().forEach(LeastRightsTests::perform);
		ConfigurableApplicationContext two = group.start(AllOperations.Application.class, "two");
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			operations.steps().forEach(LeastRightsTests::perform);
			assertThat(one.getBean(GroupReporter.class).report().members()).hasSize(2)
				.allMatch((member) -> member.shards() > 0);
			assertThat(handled(one)).isPositive();
			assertThat(handled(two)).isPositive();
		});
		one.close();
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			new AllOperations(two).steps().forEach(LeastRightsTests::perform);
			assertThat(two.getBean(GroupReporter.class).report().members()).singleElement()
				.matches((member) -> member.shards() > 1);
		});
		awaitHealthy(two);
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
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.UP);
			assertThat(health(instance).getDetails()).doesNotContainKeys("refused", "subscription", "clusterTools");
		});
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return Objects.requireNonNull(instance.getBean(ShardkeeperHealthIndicator.class).health());
	}

	private <T extends AutoCloseable> T closedLater(T server) {
		this.servers.add(server);
		return server;
	}

}
