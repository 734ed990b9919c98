package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.MemberReport;
import io.github.shardkeeper.report.PauseReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Acts of operators, on Redis, asked for on any instance. */
@Timeout(300)
@Tag("proof")
class SteeringTests {

	private static final String[] PROPERTIES = { "shardkeeper.topics.orders.shards=4",
			"management.endpoints.web.exposure.include=shards" };

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion);
	}

	private static GroupReport report(ConfigurableApplicationContext instance) {
		GroupReport report = instance.getBean(GroupReporter.class).report();
		assertThat(report.error()).isNull();
		return report;
	}

	private static void onTopic(ConfigurableApplicationContext instance, String action) {
		assertThat(instance.getBean(ShardOperations.class).onTopic("orders", null, request(action)).done()).isTrue();
	}

	private static void onInstance(ConfigurableApplicationContext asked, String action, String instance) {
		Map<String, String> request = request(action);
		request.put("instance", instance);
		assertThat(asked.getBean(ShardOperations.class).onGroup(null, request).done()).isTrue();
	}

	private static void place(ConfigurableApplicationContext asked, String action, ShardId shard, String to) {
		Map<String, String> request = request(action);
		request.put("to", to);
		assertThat(asked.getBean(ShardOperations.class).onShard(shard.topic(), shard.id(), null, request).done())
			.isTrue();
	}

	private static Map<String, String> request(String action) {
		return new HashMap<>(Map.of("action", action, "by", "anna", "reason", "a test"));
	}

	private static List<ConfigurableApplicationContext> startTwo(EmbeddedGroup group) {
		ConfigurableApplicationContext one = group.start(Application.class, "one");
		eventually(() -> assertThat(shardsOf(one, "one")).isEqualTo(4));
		ConfigurableApplicationContext two = group.start(Application.class, "two");
		eventually(() -> assertThat(shardsOf(two, "two")).isEqualTo(2));
		return List.of(one, two);
	}

	private static int shardsOf(ConfigurableApplicationContext asked, String instance) {
		return report(asked).members()
			.stream()
			.filter((member) -> member.instance().equals(instance))
			.mapToInt(MemberReport::shards)
			.sum();
	}

	private static void send(ConfigurableApplicationContext instance, String prefix) {
		for (int i = 0; i < 20; i++) {
			instance.getBean(ShardTemplate.class).send("orders", "key" + i, prefix + i);
		}
	}

	private static long handled(String prefix) {
		return Application.HANDLED.stream().filter((payload) -> payload.startsWith(prefix)).count();
	}

	@Test
	void pausedTopicIsResumedFromAnyInstance() {
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				EmbeddedGroup group = EmbeddedGroup.onRedis(redis, PROPERTIES)) {
			List<ConfigurableApplicationContext> instances = startTwo(group);
			ConfigurableApplicationContext one = instances.get(0);
			ConfigurableApplicationContext two = instances.get(1);
			send(one, "before");
			eventually(() -> assertThat(handled("before")).isEqualTo(20));

			onTopic(two, "pause");
			eventually(() -> assertThat(instances).allSatisfy((instance) -> assertThat(
					instance.getBean(ShardCoordinator.class).directives().pauseOf(ShardId.of("orders", 0)))
				.isNotNull()));
			send(one, "during");
			ConfigurableApplicationContext three = group.start(Application.class, "three");
			eventually(() -> assertThat(shardsOf(three, "three")).isPositive());

			assertThat(handled("during")).isZero();
			assertThat(List.of(one, two, three))
				.allSatisfy((instance) -> assertThat(report(instance).shards()).hasSize(4).allSatisfy((shard) -> {
					assertThat(shard.paused()).isNotNull().extracting(PauseReport::by).isEqualTo("anna");
					assertThat(shard.problem()).isNull();
					assertThat(shard.state()).isEqualTo("OWNED");
				}));
			assertThat(report(one).problems()).isEmpty();
			assertThat(List.of(one, two, three)).allSatisfy((instance) -> {
				Health health = instance.getBean(ShardkeeperHealthIndicator.class).health();
				assertThat(health.getStatus().getCode()).isEqualTo("UP");
				assertThat(health.getDetails().get("paused")).asString().contains("anna", "orders");
			});
			onTopic(three, "resume");
			eventually(() -> assertThat(handled("during")).isEqualTo(20));
			assertThat(report(two).shards()).extracting(ShardReport::paused).containsOnlyNulls();
		}
	}

	@Test
	void drainsPinsAndMovesAreFollowed() {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(PROPERTIES)) {
			List<ConfigurableApplicationContext> instances = startTwo(group);
			ConfigurableApplicationContext one = instances.get(0);
			ConfigurableApplicationContext two = instances.get(1);

			onInstance(two, "drain", "one");
			eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(4));
			assertThat(report(two).members()).filteredOn(MemberReport::draining)
				.extracting(MemberReport::instance)
				.containsExactly("one");
			eventually(() -> assertThat(report(one).shards()).extracting(ShardReport::why)
				.anyMatch((why) -> String.valueOf(why).endsWith("one is drained by anna: a test")));
			onInstance(one, "undrain", "one");
			eventually(() -> assertThat(shardsOf(two, "one")).isEqualTo(2));

			ShardId pinned = ownedBy(two, "two");
			place(two, "pin", pinned, "one");
			eventually(() -> assertThat(find(two, pinned).owner()).startsWith("one~"));
			eventually(() -> assertThat(shardsOf(two, "two")).isEqualTo(2));
			assertThat(find(two, pinned).pinnedTo()).isEqualTo("one");
			eventually(() -> assertThat(find(one, pinned).why()).contains("pinned to this instance by anna: a test"));

			ShardId moved = ownedBy(two, "two");
			place(one, "move", moved, "one");
			eventually(() -> assertThat(find(two, moved).owner()).startsWith("one~"));
			eventually(() -> assertThat(one.getBean(CoordinationStore.class).directives().read().requests()).isEmpty());
			eventually(() -> assertThat(find(two, moved).why()).contains("moved to this instance by anna"));
		}
	}

	@Test
	void garbageAndFullMemoryStopNobody() {
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				EmbeddedGroup group = EmbeddedGroup.onRedis(redis, PROPERTIES)) {
			List<ConfigurableApplicationContext> instances = startTwo(group);
			ConfigurableApplicationContext one = instances.get(0);
			onInstance(one, "drain", "two");
			eventually(() -> assertThat(shardsOf(one, "one")).isEqualTo(4));
			redis.call((commands) -> commands.configSet("maxmemory", "1"));
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> onTopic(one, "pause"));
			onInstance(one, "undrain", "two");
			eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(2));
			redis.call((commands) -> commands.configSet("maxmemory", "0"));

			String key = group.name() + ":{" + group.name() + "}:directives";
			redis.call((commands) -> commands.del(key));
			redis.call((commands) -> commands.set(key, "<b>something else"));
			ConfigurableApplicationContext three = group.start(Application.class, "three");
			eventually(() -> assertThat(shardsOf(three, "three")).isPositive());
			send(one, "garbage");
			eventually(() -> assertThat(handled("garbage")).isEqualTo(20));
			assertThat(three.getBean(ShardCoordinator.class).directiveProblem())
				.hasValueSatisfying((problem) -> assertThat(problem).contains(key, "DEL"));
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> onTopic(one, "pause"))
				.withMessageContaining(key);
		}
	}

	private static ShardId ownedBy(ConfigurableApplicationContext asked, String instance) {
		return report(asked).shards()
			.stream()
			.filter((shard) -> String.valueOf(shard.owner()).startsWith(instance + "~"))
			.map((shard) -> new ShardId(shard.topic(), shard.id()))
			.findFirst()
			.orElseThrow();
	}

	private static ShardReport find(ConfigurableApplicationContext asked, ShardId wanted) {
		return report(asked).shards()
			.stream()
			.filter((shard) -> shard.id().equals(wanted.id()))
			.findFirst()
			.orElseThrow();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		static final Set<String> HANDLED = ConcurrentHashMap.newKeySet();

		@ShardConsumer("orders")
		void handle(String payload) {
			HANDLED.add(payload);
		}

	}

}
