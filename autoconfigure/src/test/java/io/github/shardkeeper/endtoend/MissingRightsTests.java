package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.cluster.BarrierBrokenException;
import io.github.shardkeeper.cluster.ClusterLock;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.cluster.DoubleBarrier;
import io.github.shardkeeper.cluster.DoubleBarriers;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.operations.GroupReporter;
import io.github.shardkeeper.coordination.MemberRuntime;
import io.github.shardkeeper.coordination.TopicGroups;
import io.github.shardkeeper.operations.TopicTrimming;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.ShardTrimmer;
import io.github.shardkeeper.source.TopicSources;
import io.github.shardkeeper.source.TrimRule;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An ACL user with the rights that the reference lists can do everything; a user that
 * lacks one of them learns which, from health, or from an exception if a caller has
 * requested the refused operation.
 */
@OnEveryRedis
class MissingRightsTests {

	private static final Path REFERENCE = Path.of("..", "docs", "reference", "redis-keys.md");

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final DeadLetterFilter LETTERS = DeadLetterFilter.topic("orders");

	/**
	 * Redis carries them out before it knows who asks, and a client that speaks its older
	 * protocol sends the last one.
	 */
	private static final Set<String> OF_THE_HANDSHAKE = Set.of("hello", "auth", "ping");

	/** Operations that take some time. */
	private static final List<String> LATE = List.of("xread", "xtrim", "xdel", "zrem", "xrange", "client|id",
			"client|unblock");

	/**
	 * The client tells its name, and what keeps a cut off master from writing is looked
	 * at where that is allowed.
	 */
	private static final Pattern NOT_NEEDED = Pattern.compile("client(\\|setinfo)?|config(\\|get)?");

	/** So many times the rest is done before connections are closed again. */
	private static final int ROUNDS_PER_DISTURBANCE = 20;

	private static final String USER = "restricted";

	private static final RedisClient CLIENT = RedisClient.create();

	private final EmbeddedRedis redis = EmbeddedRedis.startReplicating();

	private final EmbeddedRedis replica = EmbeddedRedis.startReplicating("--replicaof", "127.0.0.1",
			String.valueOf(this.redis.port()));

	private final StatefulRedisConnection<String, String> admin = CLIENT
		.connect(RedisURI.create("127.0.0.1", this.redis.port()));

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.topics.orders.trim.max-length=1000", "shardkeeper.topics.orders.trim.max-age=1h",
			"shardkeeper.key-prefix=shardkeeper", "shardkeeper.session.lease=500ms", "shardkeeper.session.timeout=1s",
			"shardkeeper.session.heartbeat-interval=50ms", "shardkeeper.consumer.commit.interval=20ms",
			"shardkeeper.consumer.retry.max-attempts=1", "shardkeeper.consumer.on-failure=retry-queue",
			"shardkeeper.consumer.retry-queue.delays=10ms", "shardkeeper.redis.wait-for-replicas=1",
			"shardkeeper.redis.wait-timeout=150ms", "shardkeeper.assignment.strategy=load-aware",
			"spring.data.redis.username=" + USER, "spring.data.redis.password=secret",
			"spring.data.redis.port=" + this.redis.port());

	private Set<String> granted;

	private ConfigurableApplicationContext instance;

	private List<Step> steps;

	private List<Step> disturbances;

	private int rounds;

	@BeforeEach
	void start() throws IOException {
		this.redis.emptyWithReplicas(1);
		List<String> rules = documentedRules();
		acl("SETUSER", Stream.concat(Stream.of(USER, "on", ">secret"), rules.stream()).toArray(String[]::new));
		this.granted = expanded(rules);
		this.instance = this.instances.start(Application.class, "one");
		this.steps = steps();
		this.disturbances = disturbances();
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			round();
			assertThat(needed()).containsAll(LATE);
		});
		awaitHealthy();
	}

	@AfterEach
	void close() {
		this.instances.started().forEach(ConfigurableApplicationContext::close);
		this.admin.close();
		this.replica.close();
		this.redis.close();
	}

	/** Returns the rights that the reference shows, without the password. */
	private static List<String> documentedRules() throws IOException {
		String reference = Files.readString(REFERENCE).replace("\\\n", " ");
		Matcher line = Pattern.compile("(?m)^ACL SETUSER visits on '>secret' (.*)$").matcher(reference);
		assertThat(line.find()).isTrue();
		return Arrays.stream(line.group(1).trim().split("\\s+")).map((rule) -> rule.replace("'", "")).toList();
	}

	private Set<String> expanded(List<String> rules) {
		Set<String> commands = new LinkedHashSet<>();
		for (String rule : rules) {
			if (rule.startsWith("+@")) {
				this.admin.sync()
					.dispatch(CommandType.ACL, new ArrayOutput<>(StringCodec.UTF8),
							new CommandArgs<>(StringCodec.UTF8).add("CAT").add(rule.substring(2)))
					.forEach((command) -> commands.add((String) command));
			}
			else if (rule.startsWith("+")) {
				commands.add(rule.substring(1));
			}
		}
		return commands;
	}

	@Test
	void documentedRightsAreSufficient() throws IOException {
		List<Object> refused = this.admin.sync()
			.dispatch(CommandType.ACL, new ArrayOutput<>(StringCodec.UTF8),
					new CommandArgs<>(StringCodec.UTF8).add("LOG"));

		assertThat(refused).allMatch((entry) -> entry instanceof List<?> fields
				&& NOT_NEEDED.matcher((String) fields.get(fields.indexOf("object") + 1)).matches());
		// Commands of rare cases, too.
		assertThat(calledByScripts())
			.allMatch((command) -> this.granted.stream().anyMatch((whole) -> isPartOf(command, whole)));
	}

	@TestFactory
	Stream<DynamicTest> whoLacksOneIsToldWhich() {
		return Stream.concat(
				needed().stream()
					.map((command) -> DynamicTest.dynamicTest(command, () -> missingRightIsReported(command))),
				Stream.of(DynamicTest.dynamicTest("none any more", this::isOver)));
	}

	private void isOver() {
		grant(this.granted);
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			this.steps.forEach(Step::run);
			assertThat(health().getDetails().toString()).doesNotContain("NOPERM");
			assertThat(health().getStatus()).isEqualTo(Status.UP);
		});
	}

	private void missingRightIsReported(String command) {
		Set<String> others = new LinkedHashSet<>(this.granted);
		others.removeIf((other) -> isPartOf(command, other) || isPartOf(other, command));
		grant(others);
		List<String> told = new ArrayList<>();
		Pattern rule = Pattern.compile("\\+" + Pattern.quote(command) + "\\b");
		this.rounds = 0;
		Awaitility.await().atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(100)).until(() -> {
			told.clear();
			told.addAll(round());
			told.add(health().getDetails().toString());
			return told.toString();
		}, (texts) -> rule.matcher(texts).find());
	}

	private List<String> round() {
		List<String> told = new ArrayList<>();
		this.steps.forEach((step) -> told.addAll(step.run()));
		if (this.rounds++ % ROUNDS_PER_DISTURBANCE == 0) {
			this.disturbances.forEach((step) -> told.addAll(step.run()));
		}
		return told;
	}

	private void awaitHealthy() {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health().getStatus()).isEqualTo(Status.UP);
			assertThat(health().getDetails()).doesNotContainKeys("refused", "subscription");
		});
	}

	private Health health() {
		return this.instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	/**
	 * Returns the commands that the user has called, also in scripts, if they have a
	 * right of their own.
	 */
	private List<String> needed() {
		Set<String> called = new TreeSet<>();
		Matcher line = Pattern.compile("cmdstat_([^:]+):")
			.matcher(this.redis.call((commands) -> commands.info("commandstats")));
		while (line.find()) {
			called.add(line.group(1).toLowerCase(Locale.ROOT));
		}
		return this.granted.stream()
			.filter((command) -> called.stream().anyMatch((one) -> isPartOf(one, command) || isPartOf(command, one)))
			.filter((command) -> !OF_THE_HANDSHAKE.contains(command))
			.toList();
	}

	/** Whether it is the same, or the subcommand of a command. */
	private static boolean isPartOf(String command, String whole) {
		return command.equals(whole) || command.startsWith(whole + "|");
	}

	private static Set<String> calledByScripts() throws IOException {
		Set<String> commands = new TreeSet<>();
		// Not those of tests, which are on the class path, too.
		String main = RedisConnector.class.getProtectionDomain().getCodeSource().getLocation().toString();
		for (Resource script : new PathMatchingResourcePatternResolver()
			.getResources("classpath*:io/github/shardkeeper/**/*.lua")) {
			if (!script.getURL().toString().contains(main)) {
				continue;
			}
			Matcher call = Pattern.compile("redis\\.p?call\\('([A-Z]+)'")
				.matcher(script.getContentAsString(StandardCharsets.UTF_8));
			while (call.find()) {
				commands.add(call.group(1).toLowerCase(Locale.ROOT));
			}
		}
		return commands;
	}

	private void grant(Set<String> commands) {
		acl("SETUSER", Stream.concat(Stream.of(USER, "-@all"), commands.stream().map((command) -> "+" + command))
			.toArray(String[]::new));
	}

	private void acl(String action, String... arguments) {
		CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8).add(action);
		List.of(arguments).forEach(args::add);
		this.admin.sync().dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), args);
	}

	/** Everything that an application does, or has done, in the course of time. */
	private List<Step> steps() {
		ShardTemplate template = this.instance.getBean(ShardTemplate.class);
		DeadLetters letters = this.instance.getBean(DeadLetters.class);
		return List.of(() -> template.send("orders", "k", "good"), () -> template.send("orders", "k", "bad"),
				() -> letters.list(LETTERS, null, 1).letters().forEach((letter) -> letters.drop(letter.id())),
				() -> letters.sendBack(LETTERS), () -> letters.count("orders"), () -> letters.waiting("orders"),
				() -> this.instance.getBean(ShardStateReader.class).read(SHARD, Long.class),
				() -> this.instance.getBean(GroupReporter.class).report(), this::lock, this::meet, this::signal,
				() -> this.instance.getBean(ClusterParameters.class).set("speed", "1", ClusterParameters.Update.ALWAYS),
				() -> this.instance.getBean(ClusterParameters.class).history("speed"));
	}

	private void lock() {
		ClusterLock lock = this.instance.getBean(ClusterLocks.class).get("lock");
		if (lock.tryLock()) {
			lock.unlock();
		}
	}

	private void meet() {
		DoubleBarrier barrier = this.instance.getBean(DoubleBarriers.class).get("barrier");
		try {
			barrier.abort();
			barrier.enter(1, Duration.ofMillis(100));
			barrier.leave(Duration.ofMillis(100));
		}
		catch (TimeoutException | BarrierBrokenException ex) {
			// The store does not answer, or the session has ended.
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void signal() {
		try {
			this.instance.getBean(ClusterSignals.class).send("signal", "payload").awaitAll(Duration.ofMillis(100));
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Some more of it, after which it takes some time until records are handled again.
	 */
	private List<Step> disturbances() {
		ShardPositions positions = this.instance.getBean(ShardPositions.class);
		ShardTopics topics = this.instance.getBean(ShardTopics.class);
		return List.of(() -> positions.seek(SHARD, new StartPosition.Latest()),
				() -> topics.raise("orders", 1 + topics.shards("orders")), this::forgetsSessionsAndScripts,
				() -> kill("pubsub"), () -> kill("normal"));
	}

	/** Members join again. */
	private void forgetsSessionsAndScripts() {
		this.admin.sync().del("shardkeeper:{" + this.instances.name() + "}:sessions");
		this.admin.sync().scriptFlush();
	}

	private void kill(String type) {
		this.admin.sync()
			.dispatch(CommandType.CLIENT, new IntegerOutput<>(StringCodec.UTF8),
					new CommandArgs<>(StringCodec.UTF8).add("KILL").add("TYPE").add(type).add("SKIPME").add("yes"));
	}

	/** Something that may be refused. */
	@FunctionalInterface
	private interface Step {

		void perform();

		/** Message of a refusal, if any. */
		default List<String> run() {
			try {
				perform();
				return List.of();
			}
			catch (StoreUnavailableException ex) {
				return List.of(ex.getMessage());
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) {
			state.increment(payload, 1);
			if (payload.equals("bad")) {
				throw new IllegalStateException("bad");
			}
			state.put("last", payload);
			state.remove("last");
		}

		@ClusterParameter("speed")
		private volatile int speed = 1;

		@OnClusterSignal("signal")
		void signaled() {
		}

		/** Its interval is too long for a test. */
		@Bean
		static BeanDefinitionRegistryPostProcessor noDefaultTrimming() {
			return (registry) -> registry.removeBeanDefinition("shardkeeperTopicTrimming");
		}

		@Bean
		TopicTrimming trimming(ShardConsumerRunner runner, TopicSources sources, ShardTrimmer trimmer,
				TopicGroups groups, MemberRuntime runtime) {
			return new TopicTrimming(Map.of("orders", new TrimRule(1000L, Duration.ofHours(1), false)), runner::topics,
					sources, (topic) -> trimmer, groups, runtime, Duration.ofMillis(100),
					ShardConsumerRunner.PHASE + 1);
		}

	}

}
