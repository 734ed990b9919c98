package io.github.shardkeeper.endtoend;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.testsupport.DocumentedRights;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An ACL user with the rights that the reference lists can do everything; a user that
 * lacks one of them learns which, from health, or from an exception if a caller has
 * requested the refused operation.
 */
@OnEveryRedis
@Tag("proof")
@Promise("Clear errors")
class MissingRightsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/**
	 * Redis carries them out before it knows who asks, and a client that speaks its older
	 * protocol sends the last one.
	 */
	private static final Set<String> OF_THE_HANDSHAKE = Set.of("hello", "auth", "ping");

	/** After lost writes, for retired topics, and where others read load reports. */
	private static final Set<String> OF_RARE_CASES = Set.of("hvals", "srem", "zrevrangebyscore");

	/** Called without a script. */
	private static final String OF_RETIRED_TOPICS = "srem";

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
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis(Stream
		.concat(Stream.of(AllOperations.SETTINGS),
				Stream.of("shardkeeper.key-prefix=shardkeeper", "shardkeeper.redis.wait-for-replicas=1",
						"shardkeeper.redis.wait-timeout=150ms", "spring.data.redis.username=" + USER,
						"spring.data.redis.password=secret", "spring.data.redis.port=" + this.redis.port()))
		.toArray(String[]::new));

	private Set<String> granted;

	private ConfigurableApplicationContext instance;

	private List<AllOperations.Step> steps;

	private List<AllOperations.Step> disturbances;

	private int rounds;

	@BeforeEach
	void start() throws IOException {
		this.redis.emptyWithReplicas(1);
		acl("SETUSER", Stream.concat(Stream.of(USER, "on", ">secret"), DocumentedRights.NODES.rules().stream())
			.toArray(String[]::new));
		this.granted = new LinkedHashSet<>(DocumentedRights.NODES.commands());
		this.instance = this.instances.start(AllOperations.Application.class, "one");
		AllOperations operations = new AllOperations(this.instance);
		this.steps = operations.steps();
		this.disturbances = Stream
			.concat(operations.disturbances().stream(),
					Stream.<AllOperations.Step>of(this::forgetsSessionsAndScripts, () -> kill("pubsub"),
							() -> kill("normal")))
			.toList();
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

	@Test
	void documentedRightsAreSufficient() throws IOException {
		assertThat(DocumentedRights.refused(this.redis)).allMatch((command) -> NOT_NEEDED.matcher(command).matches());
		// Commands of rare cases, too.
		assertThat(calledByScripts())
			.allMatch((command) -> this.granted.stream().anyMatch((whole) -> isPartOf(command, whole)));
	}

	/** More than that would not be the least. */
	@Test
	void everyDocumentedRightIsNeeded() throws IOException {
		Set<String> documented = new TreeSet<>(DocumentedRights.NODES.commands());
		documented.removeAll(OF_THE_HANDSHAKE);
		documented.removeAll(OF_RARE_CASES);
		assertThat(calledByScripts())
			.containsAll(OF_RARE_CASES.stream().filter((command) -> !command.equals(OF_RETIRED_TOPICS)).toList());
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			round();
			assertThat(needed()).containsAll(documented);
		});
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
		this.rounds = 0;
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			// Some refused steps are only repeated after a disturbance.
			round();
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

}
