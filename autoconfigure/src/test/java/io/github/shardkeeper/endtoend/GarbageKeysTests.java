package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.api.sync.RedisCommands;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.DocumentedKeys;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Garbage under each key that the reference names, while a group runs and before it
 * starts: whatever an application does meanwhile works or is refused with a reason, other
 * topics are consumed, a value of another type is named, no line of the log is forged,
 * and everything continues when the key is gone. A key that is new in the reference is
 * covered, too.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(Lifecycle.PER_CLASS)
@Tag("proof")
class GarbageKeysTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String GARBAGE = "shardkeeper.hostile.garbage";

	private static final int ROUNDS = 2;

	/**
	 * The keys that are valid only together: with one of another type nobody can know who
	 * owns what, so the group waits.
	 */
	private static final Set<String> OF_CONTROL_PLANE = Set.of("group", "members", "sessions", "told", "loads",
			"reported", "shards", "changes", "concerns", "concernsAt");

	/**
	 * Read only while somebody waits for a lock that another instance holds, only when
	 * records come from an outbox, and never, but written.
	 */
	private static final Set<String> UNREAD = Set.of("shardkeeper:{visits-app}:lockTickets",
			"shardkeeper:{visits#0}:received:0", "shardkeeper:{visits#0}:pulse");

	private static final Set<String> READ_AT_THE_START = Set.of("shardkeeper:{visits-app/visits}:topic");

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private EmbeddedGroup group = newGroup();

	private ConfigurableApplicationContext running;

	private DocumentedKeys.@Nullable Key damaged;

	@BeforeAll
	void start() {
		this.running = this.group.start(Application.class, "one");
		awaitConsumption(this.running);
	}

	@AfterEach
	void closeOthers() {
		if (this.damaged != null) {
			// Also after a failure.
			repair(this.damaged);
			awaitConsumption(this.running);
		}
		this.group.started().stream().filter((instance) -> instance != this.running).forEach((instance) -> {
			if (instance.isActive()) {
				instance.close();
			}
		});
	}

	@AfterAll
	void close() {
		this.group.close();
		this.redis.close();
	}

	private EmbeddedGroup newGroup() {
		return EmbeddedGroup.onRedis(Stream.concat(Stream.of(AllOperations.SETTINGS),
				Stream.of("shardkeeper.topics.orders.start=latest", "shardkeeper.topics.other.shards=1",
						"shardkeeper.key-prefix=shardkeeper", "shardkeeper.session.lease=1s",
						"management.health.shardkeeper.outage-tolerance=0s",
						"spring.data.redis.port=" + this.redis.port()))
			.toArray(String[]::new));
	}

	static Stream<Arguments> damagesWhileRunning() {
		return damages(0);
	}

	static Stream<Arguments> damagesBeforeTheStart() {
		return damages(1);
	}

	/** One kind of damage per key, in turn, or all of them if that is wanted. */
	private static Stream<Arguments> damages(int first) {
		boolean all = "all".equals(System.getProperty(GARBAGE));
		List<DocumentedKeys.Key> keys = DocumentedKeys.all("visits-app", "orders");
		List<Arguments> damages = new ArrayList<>();
		for (int i = 0; i < keys.size(); i++) {
			for (Damage damage : Damage.values()) {
				if (all || damage.ordinal() == (first + i) % Damage.values().length) {
					damages.add(Arguments.of(keys.get(i).documented(), damage));
				}
			}
		}
		return damages.stream();
	}

	private DocumentedKeys.Key key(String documented, EmbeddedGroup of) {
		return DocumentedKeys.all(of.name(), "orders")
			.stream()
			.filter((key) -> key.documented().equals(documented))
			.findFirst()
			.orElseThrow();
	}

	@ParameterizedTest(name = "{1} in {0}")
	@MethodSource("damagesWhileRunning")
	void runningGroupSurvives(String documented, Damage damage, CapturedOutput output) {
		DocumentedKeys.Key key = key(documented, this.group);
		int before = output.getAll().length();

		damage(key, damage);

		use(this.running, key, damage, output, before, READ_AT_THE_START);
		repair(key);
		awaitConsumption(this.running);
		awaitForgotten(this.running, key);
		assertLogIsClean(output, before);
	}

	@ParameterizedTest(name = "{1} in {0}")
	@MethodSource("damagesBeforeTheStart")
	void newInstanceStarts(String documented, Damage damage, CapturedOutput output) {
		DocumentedKeys.Key key = key(documented, this.group);
		int before = output.getAll().length();
		damage(key, damage);

		ConfigurableApplicationContext started = this.group.start(Application.class, "two");

		use(started, key, damage, output, before, Set.of());
		repair(key);
		awaitConsumption(this.running);
		awaitForgotten(started, key);
		started.close();
		assertLogIsClean(output, before);
	}

	private void damage(DocumentedKeys.Key key, Damage damage) {
		this.damaged = key;
		this.redis.call((commands) -> {
			damage.put(commands, key);
			return "";
		});
	}

	private void repair(DocumentedKeys.Key key) {
		this.redis.call((commands) -> commands.del(key.name()));
		this.damaged = null;
	}

	/** Does everything with a damaged key. */
	private void use(ConfigurableApplicationContext instance, DocumentedKeys.Key key, Damage damage,
			CapturedOutput output, int before, Set<String> unread) {
		AllOperations operations = new AllOperations(instance);
		List<String> told = new ArrayList<>();
		Awaitility.await().atMost(PATIENCE).pollDelay(Duration.ZERO).untilAsserted(() -> {
			for (int i = 0; i < ROUNDS; i++) {
				operations.steps().forEach((step) -> told.addAll(run(step, key)));
				told.add(health(instance).getDetails().toString());
				told.add(String.valueOf(instance.getBean(GroupReporter.class).report()));
			}
			if (damage == Damage.WRONG_TYPE && !UNREAD.contains(key.documented())
					&& !unread.contains(key.documented())) {
				assertThat(told + output.getAll().substring(before)).contains(key.name());
			}
		});
		if (!isOfControlPlane(key)) {
			awaitOtherTopic();
		}
	}

	/** What the application has stored itself is read as what the application wants. */
	private static List<String> run(AllOperations.Step step, DocumentedKeys.Key key) {
		try {
			return step.run();
		}
		catch (IllegalArgumentException ex) {
			assertThat(key.documented()).endsWith(":state");
			assertThat(ex).message().contains("The state of orders/0").doesNotContain("\n", "\u001b");
			return List.of();
		}
	}

	private static void awaitForgotten(ConfigurableApplicationContext instance, DocumentedKeys.Key key) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.UP);
			assertThat(health(instance).getDetails().toString()).doesNotContain(key.name());
		});
	}

	private static boolean isOfControlPlane(DocumentedKeys.Key key) {
		String name = key.documented();
		return name.startsWith("shardkeeper:{visits-app}:")
				&& OF_CONTROL_PLANE.contains(name.substring(name.lastIndexOf(':') + 1));
	}

	/** A record of a topic that has nothing to do with the key is handled. */
	private void awaitOtherTopic() {
		int before = others();
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			this.running.getBean(ShardTemplate.class).send("other", "k", "good");
			assertThat(others()).isGreaterThan(before);
		});
	}

	private int others() {
		return this.group.started()
			.stream()
			.filter(ConfigurableApplicationContext::isActive)
			.mapToInt((instance) -> instance.getBean(Application.class).others.get())
			.sum();
	}

	/** Until a new record of each topic is handled, and nobody has to act. */
	private void awaitConsumption(ConfigurableApplicationContext instance) {
		int before = handled();
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			AllOperations.Step send = () -> instance.getBean(ShardTemplate.class).send("orders", "k", "good");
			assertThat(send.run()).isEmpty();
			assertThat(handled()).isGreaterThan(before);
			assertThat(health(instance).getStatus()).isEqualTo(Status.UP);
		});
		awaitOtherTopic();
	}

	private int handled() {
		return this.group.started()
			.stream()
			.filter(ConfigurableApplicationContext::isActive)
			.mapToInt((instance) -> instance.getBean(Application.class).handled.get())
			.sum();
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return Objects.requireNonNull(instance.getBean(ShardkeeperHealthIndicator.class).health());
	}

	private static void assertLogIsClean(CapturedOutput output, int before) {
		String log = output.getAll().substring(before);
		assertThat(log).doesNotContain("Unexpected failure", "NullPointerException", "ClassCastException");
		assertThat(log.lines()).noneMatch((line) -> line.startsWith(Damage.FORGED));
		// Connections of an earlier test in this JVM may be given up meanwhile, which
		// Netty logs.
		assertThat(log.lines().filter((line) -> line.contains(" i.g.s.") || line.contains("shardkeeper")))
			.hasSizeLessThan(300);
		assertThat(log.chars()).noneMatch((c) -> c == '\u001b' || c == '\u2028');
	}

	/** What others may have done to a key. */
	private enum Damage {

		WRONG_TYPE {
			@Override
			void put(RedisCommands<String, String> commands, DocumentedKeys.Key key) {
				// At once: a missing key is something else.
				String put = key.type().equals("string")
						? "redis.call('DEL', KEYS[1]) redis.call('LPUSH', KEYS[1], ARGV[1])"
						: "redis.call('SET', KEYS[1], ARGV[1])";
				commands.eval(put, ScriptOutputType.STATUS, new String[] { key.name() }, GARBAGE);
			}
		},

		/** Each value is replaced, and one is added. */
		GARBAGE_ENTRIES {
			@Override
			void put(RedisCommands<String, String> commands, DocumentedKeys.Key key) {
				add(commands, key, GARBAGE, GARBAGE, (value) -> GARBAGE);
			}
		},

		/** An unknown entry is added, and each JSON has a property that is unknown. */
		LATER_VERSION {
			@Override
			void put(RedisCommands<String, String> commands, DocumentedKeys.Key key) {
				add(commands, key, "later|orders/0", "9|{\"later\":[{}]}",
						(value) -> value.replaceFirst("\\{\"", "{\"later\":[{\"is\":null}],\""));
			}
		};

		private static final String FORGED = "FORGED-LINE";

		private static final String GARBAGE = "{\"broken\n" + FORGED + " \u001b[31m|<b>|~\r\u2028|";

		abstract void put(RedisCommands<String, String> commands, DocumentedKeys.Key key);

		private static void add(RedisCommands<String, String> commands, DocumentedKeys.Key key, String name,
				String value, UnaryOperator<String> changed) {
			switch (key.type()) {
				case "hash" -> {
					Map<String, String> fields = new HashMap<>(commands.hgetall(key.name()));
					fields.replaceAll((field, before) -> changed.apply(before));
					fields.put(name, value);
					commands.hset(key.name(), fields);
				}
				case "sorted set" -> commands.zadd(key.name(), 0, name);
				case "set" -> commands.sadd(key.name(), name);
				case "stream" -> {
					List<StreamMessage<String, String>> last = commands.xrevrange(key.name(), Range.unbounded(),
							Limit.from(1));
					Map<String, String> fields = new HashMap<>();
					last.forEach((entry) -> entry.getBody()
						.forEach((field, before) -> fields.put(field, changed.apply(before))));
					fields.put(name, value);
					commands.xadd(key.name(), fields);
				}
				case "string" -> commands.set(key.name(), value);
				default -> throw new IllegalArgumentException(key.type());
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application extends AllOperations.Application {

		final AtomicInteger others = new AtomicInteger();

		@ShardConsumer("other")
		void other(String payload) {
			this.others.incrementAndGet();
		}

	}

}
