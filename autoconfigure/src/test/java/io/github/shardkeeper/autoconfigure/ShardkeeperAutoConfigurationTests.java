package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jmx.JmxAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.RecordTooLargeException;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.actuate.ShardsEndpoint;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;
import io.github.shardkeeper.autoconfigure.properties.UnknownPropertyFailureAnalyzer;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.coordination.member.HeartbeatScheduler;
import io.github.shardkeeper.coordination.memory.MemoryCoordinationStore;
import io.github.shardkeeper.protocol.HandoverRules;
import io.github.shardkeeper.redis.coordination.RedisCoordinationStore;
import io.github.shardkeeper.shard.ApplicationVersion;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ShardkeeperAutoConfigurationTests {

	private final ApplicationContextRunner redis = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class,
						DataRedisAutoConfiguration.class, JacksonAutoConfiguration.class))
		.withPropertyValues("shardkeeper.group=orders", "shardkeeper.topics.orders.shards=2",
				"management.endpoints.web.exposure.include=shards",
				"spring.data.redis.port=" + EmbeddedRedis.shared().port());

	private final ApplicationContextRunner memory = this.redis.withPropertyValues("shardkeeper.store=memory");

	@Test
	void wiresEverythingOnRedis() {
		this.redis.run((context) -> assertThat(context).hasNotFailed()
			.hasSingleBean(ShardCoordinator.class)
			.hasSingleBean(HeartbeatScheduler.class)
			.hasSingleBean(ShardConsumerRunner.class)
			.hasSingleBean(ShardTemplate.class)
			.hasSingleBean(ShardsEndpoint.class)
			.hasSingleBean(ShardkeeperHealthIndicator.class)
			.hasSingleBean(RedisCoordinationStore.class));
	}

	@Test
	void wiresEverythingInMemory() {
		this.memory.run((context) -> assertThat(context).hasNotFailed()
			.hasSingleBean(MemoryCoordinationStore.class)
			.doesNotHaveBean(RedisCoordinationStore.class));
	}

	@Test
	void endpointOverJmxHasTheSameOperations() {
		this.memory
			.withConfiguration(AutoConfigurations.of(JmxAutoConfiguration.class, EndpointAutoConfiguration.class,
					JmxEndpointAutoConfiguration.class))
			.withUserConfiguration(OneHandler.class)
			.withPropertyValues("spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=shards")
			.run((context) -> {
				MBeanServer server = context.getBean(MBeanServer.class);
				ObjectName name = new ObjectName("org.springframework.boot:type=Endpoint,name=Shards");
				Awaitility.await()
					.untilAsserted(() -> assertThat(jmx(server, name, "groups", null, null, "OWNED", null, null, "1"))
						.asString()
						.contains("matching=2", "next=orders/0"));
				assertThat(jmx(server, name, "topic", "orders", null, null, null, null, null)).asString()
					.contains("topic=orders");
				assertThat(jmx(server, name, "shard", "orders", "1")).asString().contains("deadLetters=0");
				assertThat(jmx(server, name, "shard", "orders", "2")).isNull();
				assertThatThrownBy(() -> jmx(server, name, "groups", null, null, null, null, null, "1001"))
					.hasStackTraceContaining("'limit' is '1001', but must be a number from 0 to 1000");
			});
	}

	private static @Nullable Object jmx(MBeanServer server, ObjectName name, String operation,
			@Nullable Object... arguments) throws JMException {
		String[] types = new String[arguments.length];
		Arrays.fill(types, String.class.getName());
		return server.invoke(name, operation, arguments, types);
	}

	@Test
	void memoryStoreNeedsNoRedisClient() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.lettuce", "org.springframework.data.redis"))
			.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=orders")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void missingRedisClientFailsStartup() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.lettuce", "org.springframework.data.redis"))
			.withPropertyValues("shardkeeper.group=orders")
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "Lettuce",
					"spring-boot-starter-data-redis"));
	}

	@Test
	void missingRedisModuleFailsStartup() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("io.github.shardkeeper.redis"))
			.withPropertyValues("shardkeeper.group=orders")
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "'shardkeeper-redis' is not on",
					"shardkeeper-spring-boot-starter"));
	}

	@Test
	void canBeDisabled() {
		this.redis.withPropertyValues("shardkeeper.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ShardCoordinator.class));
	}

	@Test
	void groupDefaultsToApplicationName() {
		this.memory.withPropertyValues("shardkeeper.group=", "spring.application.name=shop")
			.run((context) -> assertThat(context.getBean(CoordinationSettings.class).group()).isEqualTo("shop"));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					shardkeeper.gruop=orders                      | shardkeeper.gruop                        | Write 'shardkeeper.group'
					shardkeeper.topics.orders.shardz=2            | shardkeeper.topics.orders.shardz         | Write 'shardkeeper.topics.orders.shards'
					shardkeeper.topics.orders.consumer.orderring=key | shardkeeper.topics.orders.consumer.orderring | Write 'shardkeeper.topics.orders.consumer.ordering'
					shardkeeper.consumer.commit.intervall=1s      | shardkeeper.consumer.commit.intervall    | Write 'shardkeeper.consumer.commit.interval'
					shardkeeper.topics.orders.eu.shards=2         | shardkeeper.topics.orders.eu.shards      | 'shardkeeper.topics[orders.eu]'
					shardkeeper.group.name=orders                 | shardkeeper.group.name                   | Write 'shardkeeper.group'
					shardkeeper.something-else=1                  | shardkeeper.something-else               | consumer, template
					shardkeeper.session.lease=${no.lease:}        | shardkeeper.session.lease                | Give it a value
					shardkeeper.topics.orders.consumer.ordering=  | shardkeeper.topics.orders.consumer.ordering | check that the variable is set
					""")
	void unknownPropertiesFailStartup(String value, String named, String fix) {
		this.memory.withPropertyValues(value).run((context) -> {
			FailureAnalysis analysis = Stream
				.iterate(context.getStartupFailure(), Objects::nonNull, Throwable::getCause)
				.map((failure) -> new UnknownPropertyFailureAnalyzer().analyze(failure))
				.filter(Objects::nonNull)
				.findFirst()
				.orElseThrow();
			assertThat(analysis.getDescription()).contains("'" + named + "'");
			assertThat(analysis.getAction()).contains(fix);
		});
	}

	/** Other software may set environment variables that begin with the prefix. */
	@Test
	void unknownEnvironmentVariablesAreIgnored() {
		this.memory
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.replace("systemEnvironment",
						new SystemEnvironmentPropertySource("systemEnvironment",
								Map.of("SHARDKEEPER_GRUOP", "orders"))))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void mapsOfATopicAcceptAllKeys() {
		this.memory
			.withPropertyValues("shardkeeper.topics.orders.weights.0=5", "shardkeeper.topics.orders.pinned.[1]=a",
					"shardkeeper.topics.[visits.eu_west].shards=2", "shardkeeper.topics.orders.zones.0=eu",
					"shardkeeper.topics.orders.consumer.retry-queue.delays[0]=1s", "shardkeeper.instanceId=one")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void versionDefaultsToApplicationVersion() {
		this.memory.run((context) -> assertThat(context.getBean(CoordinationSettings.class).version())
			.isEqualTo(ApplicationVersion.UNKNOWN));
		this.memory.withPropertyValues("shardkeeper.version=", "spring.application.version=1.4.2")
			.run((context) -> assertThat(context.getBean(CoordinationSettings.class).version())
				.isEqualTo(new ApplicationVersion("1.4.2")));
		this.memory.withPropertyValues("shardkeeper.version=117", "spring.application.version=1.4.2")
			.run((context) -> assertThat(context.getBean(CoordinationSettings.class).version())
				.isEqualTo(new ApplicationVersion("117")));
	}

	@Test
	void endpointIsAbsentUnlessExposed() {
		this.memory.withPropertyValues("management.endpoints.web.exposure.include=health")
			.run((context) -> assertThat(context).doesNotHaveBean(ShardsEndpoint.class));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					shardkeeper.group=or{d}ers                     | shardkeeper.group                       | letters, digits
					shardkeeper.group=or ders                      | shardkeeper.group                       | letters, digits
					shardkeeper.group=or\\u0007ders                | or\\u0007ders                           | letters, digits
					shardkeeper.group=                             | spring.application.name                 | shardkeeper.group
					shardkeeper.instance-id=a~b                    | shardkeeper.instance-id                 | letters, digits
					shardkeeper.topics.[a{b}].shards=2             | a{b}                                    | letters, digits
					shardkeeper.topics.[a b].shards=2              | a b                                     | letters, digits
					shardkeeper.topics.orders.shards=0             | shardkeeper.topics.orders.shards        | from 1
					shardkeeper.topics.orders.start=earlist        | shardkeeper.topics.orders.start         | Set it to 'earliest'
					shardkeeper.topics.orders.start=               | shardkeeper.topics.orders.start         | Leave it out
					shardkeeper.key-prefix={x}                     | shardkeeper.key-prefix                  | without braces
					shardkeeper.consumer.threads=0                 | shardkeeper.consumer.threads            | from 1 to 10000
					shardkeeper.consumer.threads=100000            | shardkeeper.consumer.threads            | from 1 to 10000
					shardkeeper.consumer.buffer.total-size=0B      | shardkeeper.consumer.buffer.total-size  | 1 or more
					management.endpoint.shards.roles=              | management.endpoint.shards.roles        | at least one role
					shardkeeper.session.lease=1s                   | shardkeeper.session.heartbeat-interval  | at least 1500ms, or the heartbeat interval to at most 333ms.
					shardkeeper.session.lease=20ms                 | shardkeeper.session.lease' is 20ms      | Set the lease to at least 1500ms.
					shardkeeper.session.on-leave=keep              | shardkeeper.instance-id                 | ${HOSTNAME}
					shardkeeper.session.timeout=2s                 | shardkeeper.session.lease               | at least 3s
					shardkeeper.session.heartbeat-interval=1ms     | shardkeeper.session.heartbeat-interval  | 10ms or more
					shardkeeper.rebalance.settle-time=-1ms         | shardkeeper.rebalance.settle-time       | 0s or more
					shardkeeper.handover.timeout=31s               | spring.lifecycle.timeout-per-shutdown-phase | at most 30s
					shardkeeper.handover.timeout=31s               | shardkeeper.handover.timeout            | at least 31s
					shardkeeper.handover.timeout=1ms               | shardkeeper.handover.timeout            | 100ms or more
					shardkeeper.handover.quiet-period=-1ms         | shardkeeper.handover.quiet-period       | 0s or more
					shardkeeper.handover.quiet-period=25h          | shardkeeper.handover.quiet-period       | 1d or less
					shardkeeper.handover.quiet-period=-1d          | shardkeeper.handover.quiet-period' is -1d | 0s or more
					shardkeeper.handover.crash-quiet-period=-1ms   | shardkeeper.handover.crash-quiet-period | 0s or more
					shardkeeper.handover.max-concurrent-moves=-1   | shardkeeper.handover.max-concurrent-moves | 1 or more
					shardkeeper.redis.wait-for-replicas=-1         | shardkeeper.redis.wait-for-replicas     | 0 for none
					shardkeeper.assignment.strategy=random         | shardkeeper.assignment.strategy | Write one of sticky, range, round-robin
					shardkeeper.topics.orders.strategy=random      | shardkeeper.topics.orders.strategy      | Write one of sticky, range, round-robin
					shardkeeper.assignment.capacity=0              | shardkeeper.assignment.capacity         | from 1 to 1000000
					shardkeeper.assignment.capacity=1000001        | shardkeeper.assignment.capacity         | from 1 to 1000000
					shardkeeper.assignment.zone=eu 1               | shardkeeper.assignment.zone             | letters, digits
					shardkeeper.assignment.timeout=9ms             | shardkeeper.assignment.timeout          | 10ms or more
					shardkeeper.assignment.timeout=61s             | shardkeeper.assignment.timeout          | 1m or less
					shardkeeper.topics.orders.weights.0=0          | shardkeeper.topics.orders.weights.0 | from 1 to 1000000
					shardkeeper.topics.orders.weights.0=-5         | shardkeeper.topics.orders.weights.0     | from 1 to 1000000
					shardkeeper.topics.orders.weights.1=5000000000 | is 5000000000 | from 1 to 1000000
					shardkeeper.topics.orders.weights.2=5          | shardkeeper.topics.orders.weights.2     | shards are 0 to 1
					shardkeeper.topics.orders.zones.01=eu          | shardkeeper.topics.orders.zones.01      | shards are 0 to 1
					shardkeeper.topics.orders.zones.0=eu 1         | shardkeeper.topics.orders.zones.0       | letters, digits
					shardkeeper.topics.orders.pinned.x=host        | shardkeeper.topics.orders.pinned.x      | shards are 0 to 1
					shardkeeper.topics.orders.pinned.0=ho~st       | shardkeeper.topics.orders.pinned.0      | letters, digits
					shardkeeper.consumer.commit.interval=500us     | shardkeeper.consumer.commit.interval' is 500us | 1ms or more
					shardkeeper.consumer.retry.excludes=java.lang.String | java.lang.String                  | classes of exceptions
					shardkeeper.topics.orders.consumer.retry.excludes=java.io.IOException,java.util.List | java.util.List | classes of exceptions
					""")
	void invalidPropertyFailsStartupWithItsFix(String property, String names, String fix) {
		String value = property.replace("\\u0007", "\u0007");
		this.memory.withPropertyValues(value)
			.run((context) -> assertStartupFailed(context.getStartupFailure(), names, fix));
	}

	@Test
	void allInvalidPropertiesAreReportedTogether() {
		this.memory
			.withPropertyValues("shardkeeper.consumer.threads=0", "shardkeeper.consumer.max-ahead=0",
					"shardkeeper.topics.orders.consumer.batch-size=0", "shardkeeper.topics.visits.shards=0")
			.run((context) -> {
				FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
				assertThat(analysis.getDescription().lines()).containsExactly("1. 'shardkeeper.consumer.threads' is 0.",
						"2. 'shardkeeper.consumer.max-ahead' is 0.",
						"3. 'shardkeeper.topics.orders.consumer.batch-size' is 0.",
						"4. 'shardkeeper.topics.visits.shards' is 0.");
				assertThat(analysis.getAction().lines()).containsExactly("1. Set it to a number from 1 to 10000.",
						"2. Set it to a number from 1 to 100000.", "3. Set it to a number from 1 to 100000.",
						"4. Set it to a number from 1 to 100000.");
			});
	}

	@Test
	void keysThatWaitNeedABoundAndADelay() {
		this.memory
			.withPropertyValues("shardkeeper.consumer.park-key.max-records=0",
					"shardkeeper.topics.orders.consumer.park-key.max-keys=0",
					"shardkeeper.topics.orders.consumer.on-failure=park-key",
					"shardkeeper.topics.orders.consumer.retry-queue.delays=")
			.run((context) -> {
				FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
				assertThat(analysis.getDescription()).contains("'shardkeeper.consumer.park-key.max-records' is 0.",
						"'shardkeeper.topics.orders.consumer.park-key.max-keys' is 0.",
						"'shardkeeper.topics.orders.consumer.on-failure' is 'park-key', but "
								+ "'shardkeeper.topics.orders.consumer.retry-queue.delays' is empty.");
				assertThat(analysis.getAction()).contains("Set it to a number from 1 to 1000000.",
						"Set it to a number from 1 to 100000.", "Set at least one delay");
			});
	}

	@Test
	@Promise("Clear errors")
	void unknownPlaceholderInHandlerFailsStartup() {
		this.memory.withBean(OfUnknownTopic.class)
			.run((context) -> assertStartupFailed(context.getStartupFailure(),
					"OfUnknownTopic.handle(String) is '${nope}'", "'${name:default}'"));
	}

	@Test
	@Promise("Clear errors")
	void handlerWithoutRecordParameterFailsStartup() {
		String broadcast = "shardkeeper.topics.orders.mode=broadcast";
		for (ApplicationContextRunner runner : List.of(this.memory, this.memory.withPropertyValues(broadcast),
				this.redis, this.redis.withPropertyValues(broadcast))) {
			runner.withBean(Forgetful.class)
				.run((context) -> assertStartupFailed(context.getStartupFailure(),
						"Forgetful.handle(ShardContext, ShardState) takes no record", "interval = \"10s\""));
		}
	}

	@Test
	void defaultInstanceIdsDiffer() {
		this.memory
			.run((one) -> this.memory.run((other) -> assertThat(one.getBean(CoordinationSettings.class).instance())
				.isNotEqualTo(other.getBean(CoordinationSettings.class).instance())));
	}

	@Test
	void startOnRedisMustBeAnEntryId() {
		this.redis.withPropertyValues("shardkeeper.topics.orders.start=2026-11-21")
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "one looks like 1795234348101-0",
					"Set it to 'earliest'"));
		this.redis.withPropertyValues("shardkeeper.topics.orders.start=1795234348101")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void handoverTimeoutFitsTheShutdownPhase() {
		this.memory.run((context) -> assertThat(handover(context)).isEqualTo(new HandoverRules(Duration.ofSeconds(30),
				HandoverRules.OnTimeout.HOLD, Duration.ZERO, Duration.ZERO, 0)));
		this.memory.withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=2m")
			.run((context) -> assertThat(handover(context).timeout()).isEqualTo(Duration.ofSeconds(50)));
		this.memory
			.withPropertyValues("spring.lifecycle.timeout-per-shutdown-phase=2m", "shardkeeper.handover.timeout=2m",
					"shardkeeper.handover.on-timeout=force", "shardkeeper.handover.quiet-period=1s",
					"shardkeeper.handover.crash-quiet-period=5s", "shardkeeper.handover.max-concurrent-moves=7")
			.run((context) -> assertThat(handover(context)).isEqualTo(new HandoverRules(Duration.ofMinutes(2),
					HandoverRules.OnTimeout.FORCE, Duration.ofSeconds(1), Duration.ofSeconds(5), 7)));
	}

	private static HandoverRules handover(AssertableApplicationContext context) {
		return context.getBean(CoordinationSettings.class).handover();
	}

	@Test
	void replicaWaitIsLimitedByTheLease() {
		this.memory.withPropertyValues("shardkeeper.redis.wait-for-replicas=1", "shardkeeper.redis.wait-timeout=1500ms")
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "shardkeeper.redis.wait-timeout",
					"at most 1s, or the lease to at least 4500ms"));
		this.memory.withPropertyValues("shardkeeper.redis.wait-for-replicas=1", "shardkeeper.redis.wait-timeout=0ms")
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "shardkeeper.redis.wait-timeout",
					"1ms or more"));
		this.memory.withPropertyValues("shardkeeper.redis.wait-for-replicas=0", "shardkeeper.redis.wait-timeout=1500ms")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	@Promise("Clear errors")
	void unknownTopicFailsStartup() {
		this.memory.withUserConfiguration(UnknownTopic.class)
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "'parcels'",
					"shardkeeper.topics.[parcels].shards"));
		this.memory.withUserConfiguration(UnknownTopic.class)
			.withPropertyValues("shardkeeper.topics.parcel.shards=2")
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "Did you mean 'parcel'?",
					"correct the name"));
	}

	@Test
	void twoHandlersForOneTopicFailStartup() {
		this.memory.withUserConfiguration(TwoHandlers.class)
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "two @ShardConsumer methods",
					"Keep one"));
	}

	@Test
	void unsupportedSignatureFailsStartup() {
		this.memory.withUserConfiguration(BadSignature.class)
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "BadHandler.handle(String, Integer)",
					"each at most once"));
	}

	@Test
	void unknownStoreFailsStartup() {
		this.redis.withPropertyValues("shardkeeper.store=foo")
			.withBean(Sender.class)
			.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining("shardkeeper.store")
				.hasStackTraceContaining("foo"));
	}

	@Test
	@Promise("Clear errors")
	void wrongPasswordFailsStartup() {
		try (EmbeddedRedis locked = EmbeddedRedis.start("--requirepass", "secret")) {
			this.redis.withUserConfiguration(OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + locked.port(), "spring.data.redis.password=wrong")
				.run((context) -> assertStartupFailed(context.getStartupFailure(), "refuses",
						"spring.data.redis.password"));
			this.redis.withUserConfiguration(OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + locked.port())
				.run((context) -> assertStartupFailed(context.getStartupFailure(), "password",
						"spring.data.redis.password"));
			this.redis.withUserConfiguration(OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + locked.port(), "spring.data.redis.password=secret")
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@Test
	@Promise("Clear errors")
	void startsWithoutRedisAndConsumesOnceItAnswers() {
		try (EmbeddedRedis away = EmbeddedRedis.start()) {
			away.kill();
			this.redis.withUserConfiguration(OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + away.port(),
						"management.health.shardkeeper.outage-tolerance=0s")
				.run((context) -> {
					assertThat(context).hasNotFailed();
					ShardkeeperHealthIndicator health = context.getBean(ShardkeeperHealthIndicator.class);
					Health down = health.health();
					assertThat(down.getStatus()).isEqualTo(Status.DOWN);
					assertThat(down.getDetails().get("reason").toString()).contains("The lease is not held", "Redis");
					assertThat(context.getBean(ShardsEndpoint.class).groups().groups().get(0).error()).isNotNull();

					away.restart();
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> health.health().getStatus().equals(Status.UP));
					context.getBean(ShardTemplate.class).send("orders", "key", "hello");
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> context.getBean(Handler.class).received.isDone());
				});
		}
	}

	/** The kernel accepts connections, but nothing replies. */
	@Test
	@Tag("proof")
	@Promise("Clear errors")
	void silentRedisDelaysStartupForLimitedTime() {
		try (EmbeddedRedis hanging = EmbeddedRedis.start()) {
			hanging.freeze();
			this.redis.withUserConfiguration(OneHandler.class, StartWatch.class)
				.withPropertyValues("spring.data.redis.port=" + hanging.port(),
						"shardkeeper.topics.orders.start=latest", "management.health.shardkeeper.outage-tolerance=0s")
				.run((context) -> {
					assertThat(context).hasNotFailed();
					assertThat(context.getBean(StartWatch.class).taken).isLessThan(Duration.ofSeconds(8));
					ShardkeeperHealthIndicator health = context.getBean(ShardkeeperHealthIndicator.class);
					assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);

					hanging.thaw();
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> health.health().getStatus().equals(Status.UP));
				});
		}
	}

	@Test
	@Tag("proof")
	@Promise("Automatic recovery")
	void consumptionStopsWithoutRedisAndRecovers() {
		try (EmbeddedRedis comesAndGoes = EmbeddedRedis.start()) {
			this.redis.withUserConfiguration(OneHandler.class)
				.withPropertyValues("spring.data.redis.port=" + comesAndGoes.port(), "shardkeeper.session.lease=1500ms",
						"management.health.shardkeeper.outage-tolerance=3s")
				.run((context) -> {
					ShardkeeperHealthIndicator health = context.getBean(ShardkeeperHealthIndicator.class);
					awaitStatus(health, Status.UP);
					comesAndGoes.kill();
					awaitStatus(health, Status.UNKNOWN);
					assertThat(health.health().getDetails().get("reason")).asString().contains("The lease is not held");
					awaitStatus(health, Status.DOWN);
					comesAndGoes.restart();
					awaitStatus(health, Status.UP);
					context.getBean(ShardTemplate.class).send("orders", "key", "hello");
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> context.getBean(Handler.class).received.isDone());
				});
		}
	}

	private static void awaitStatus(ShardkeeperHealthIndicator health, Status status) {
		Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> health.health().getStatus().equals(status));
	}

	@Test
	void instanceWithoutHandlersSendsAndDoesNotJoin() {
		this.redis.run((context) -> {
			assertThat(context.getBean(ShardTemplate.class).send("orders", "key", "value").offset()).isNotNull();
			assertThat(context.getBean(ShardCoordinator.class).member()).isEmpty();
			assertThat(context.getBean(ShardkeeperHealthIndicator.class).health().getStatus()).isEqualTo(Status.UP);
		});
	}

	@Test
	void selectorBeanSelectsShardsOfAllOrNamedTopics() {
		this.memory.withPropertyValues("shardkeeper.topics.visits.shards=5")
			.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1)
			.run((context) -> assertThat(context.getBean(ShardTemplate.class).send("visits", "k", "v").shard().id())
				.isEqualTo("4"));
		this.memory
			.withPropertyValues("shardkeeper.topics.visits.shards=5", "shardkeeper.topics.visits.selector=third",
					"shardkeeper.topics.orders.selector=last")
			.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1)
			.withBean("third", ShardSelector.class, () -> (topic, record, shards) -> 2)
			.run((context) -> {
				ShardTemplate template = context.getBean(ShardTemplate.class);
				assertThat(template.send("visits", "k", "v").shard().id()).isEqualTo("2");
				assertThat(template.send("orders", "k", "v").shard().id()).isEqualTo("1");
			});
		this.memory.withPropertyValues("shardkeeper.topics.orders.selector=lats")
			.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1)
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "'shardkeeper.topics.orders.selector'",
					"last"));
	}

	/** A second selector would change the shards of topics that name none. */
	@Test
	void severalSelectorsFailStartupUnlessOneIsPrimaryOrAllTopicsNameTheirs() {
		ApplicationContextRunner two = this.memory
			.withPropertyValues("shardkeeper.topics.visits.shards=5", "shardkeeper.topics.visits.selector=third")
			.withBean("third", ShardSelector.class, () -> (topic, record, shards) -> 2);
		two.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1)
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "last, third",
					"'shardkeeper.topics.orders.selector'"));
		two.withBean("last", ShardSelector.class, () -> (topic, record, shards) -> shards - 1,
				(definition) -> definition.setPrimary(true))
			.run((context) -> {
				ShardTemplate template = context.getBean(ShardTemplate.class);
				assertThat(template.send("visits", "k", "v").shard().id()).isEqualTo("2");
				assertThat(template.send("orders", "k", "v").shard().id()).isEqualTo("1");
			});
	}

	@Test
	void templateLimitsAreConfigured() {
		this.memory.withPropertyValues("shardkeeper.max-record-size=10B")
			.run((context) -> assertThatExceptionOfType(RecordTooLargeException.class)
				.isThrownBy(() -> context.getBean(ShardTemplate.class).send("orders", "k", "1234567890"))
				.withMessageContaining("allows 10."));
	}

	@ParameterizedTest
	@CsvSource({ "max-in-flight=0, Set it to 1 or more", "max-in-flight-size=600MB, at most 512MB",
			"max-in-flight-size=1KB, at least the size of one record",
			"retries=101, Set it to a number from 0 to 100" })
	void invalidTemplateLimitsFailStartup(String setting, String fix) {
		this.memory.withPropertyValues("shardkeeper.template." + setting)
			.run((context) -> assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.template." + setting.substring(0, setting.indexOf('=')) + "'", fix));
	}

	@Test
	void invalidSizeOfRecordsFailsStartup() {
		this.memory.withPropertyValues("shardkeeper.max-record-size=0B")
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "'shardkeeper.max-record-size'",
					"at most 512MB"));
		this.memory.withPropertyValues("shardkeeper.max-record-size=32MB")
			.run((context) -> assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.template.max-in-flight-size'", "at least the size of one record"));
	}

	@ParameterizedTest
	@CsvSource({ "retention=100ms, Set it to 1s or more", "retention=2d, Set it to 1d or less",
			"max-count=0, Set it to a number from 1 to 10000000" })
	void invalidMemoryOfRecordIdsFailsStartup(String setting, String fix) {
		this.memory.withPropertyValues("shardkeeper.redis.record-ids." + setting)
			.run((context) -> assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.redis.record-ids." + setting.substring(0, setting.indexOf('=')) + "'", fix));
	}

	@Test
	void recordsWithAnIdAndRetriesAreSentOnce() {
		for (ApplicationContextRunner runner : List.of(this.memory, this.redis)) {
			runner
				.withPropertyValues("shardkeeper.key-prefix=" + UUID.randomUUID(), "shardkeeper.template.retries=2",
						"shardkeeper.redis.record-ids.max-count=2")
				.run((context) -> {
					ShardTemplate template = context.getBean(ShardTemplate.class);
					Outgoing record = Outgoing.of("hello").withId("id-1");
					assertThat(template.send("orders", record)).isEqualTo(template.send("orders", record));
				});
		}
	}

	@Test
	void groupRegistersWithItsCoordinatedTopics() {
		for (String mode : List.of("coordinated", "broadcast")) {
			this.redis.withUserConfiguration(OneHandler.class)
				.withPropertyValues("shardkeeper.key-prefix=trim-" + mode, "shardkeeper.topics.orders.mode=" + mode,
						"shardkeeper.instance-id=one", "shardkeeper.topics.orders.trim.max-length=100")
				.run((context) -> {
					StringRedisTemplate commands = context.getBean(StringRedisTemplate.class);
					// Written right after the set of groups.
					Awaitility.await()
						.atMost(Duration.ofSeconds(20))
						.until(() -> commands.hasKey("trim-" + mode + ":{orders}:trimming"));
					assertThat(commands.opsForSet().members("trim-" + mode + ":{orders}:groups"))
						.isEqualTo(mode.equals("broadcast") ? Set.of() : Set.of("orders"));
				});
		}
	}

	@ParameterizedTest
	@CsvSource({ "max-length=0, Set it to 1 or more", "max-age=1ms, Set it to 1s or more" })
	void invalidTrimmingFailsStartup(String setting, String fix) {
		this.memory.withPropertyValues("shardkeeper.topics.orders.trim." + setting)
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "'shardkeeper.topics.orders.trim.",
					fix));
	}

	@Test
	void shutdownWaitsForRecordsInFlight() {
		List<CompletableFuture<ShardTemplate.Appended>> sent = new ArrayList<>();
		this.redis.run((context) -> {
			ShardTemplate template = context.getBean(ShardTemplate.class);
			for (int i = 0; i < 5000; i++) {
				sent.add(template.sendAsync("orders", "k", "value"));
			}
		});

		assertThat(sent).hasSize(5000).allSatisfy((future) -> assertThat(future).isCompleted());
	}

	/** Measures how long the start of all beans takes. */
	static final class StartWatch implements SmartLifecycle, ApplicationListener<ContextRefreshedEvent> {

		private MonotonicTime begun = MonotonicClock.SYSTEM.now();

		private Duration taken = Duration.ZERO;

		@Override
		public void start() {
			this.begun = MonotonicClock.SYSTEM.now();
		}

		@Override
		public void onApplicationEvent(ContextRefreshedEvent event) {
			this.taken = this.begun.until(MonotonicClock.SYSTEM.now());
		}

		@Override
		public void stop() {
		}

		@Override
		public boolean isRunning() {
			return false;
		}

		@Override
		public int getPhase() {
			return Integer.MIN_VALUE;
		}

	}

	private static void assertStartupFailed(Throwable failure, String names, String fix) {
		assertThat(failure).as("the start must fail").isNotNull();
		FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(failure);
		assertThat(analysis).as("analysis of %s", failure).isNotNull();
		assertThat(analysis.getCause()).isInstanceOf(ShardkeeperConfigurationException.class);
		assertThat(List.of(analysis.getDescription() + " " + analysis.getAction())).allSatisfy((text) -> {
			assertThat(text).contains(names);
			assertThat(analysis.getAction()).contains(fix);
		});
	}

	static class OfUnknownTopic {

		@ShardConsumer("${nope}")
		void handle(String payload) {
		}

	}

	static class Forgetful {

		@ShardConsumer("orders")
		void handle(ShardContext shard, ShardState state) {
		}

	}

	static class Sender {

		Sender(ShardTemplate template) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OneHandler {

		@Bean
		Handler handler() {
			return new Handler();
		}

	}

	static class Handler {

		final CompletableFuture<String> received = new CompletableFuture<>();

		@ShardConsumer("orders")
		void handle(String payload) {
			this.received.complete(payload);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UnknownTopic {

		@ShardConsumer("parcels")
		void handle(String payload) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoHandlers {

		@ShardConsumer("orders")
		void one(String payload) {
		}

		@ShardConsumer("orders")
		void two(String payload) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BadSignature {

		@Bean
		BadHandler badHandler() {
			return new BadHandler();
		}

	}

	static class BadHandler {

		@ShardConsumer("orders")
		void handle(String payload, Integer another) {
		}

	}

}
