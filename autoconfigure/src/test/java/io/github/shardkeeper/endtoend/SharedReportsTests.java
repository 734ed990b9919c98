package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.report.TopicReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/** Every instance reports the same of every shard. */
@Timeout(180)
@Tag("proof")
class SharedReportsTests {

	private static final int SHARDS = 12;

	private static final String[] PROPERTIES = { "shardkeeper.topics.orders.shards=" + SHARDS,
			"shardkeeper.consumer.on-failure=halt", "shardkeeper.consumer.show-exception-messages=true" };

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion);
	}

	private static GroupReport report(ConfigurableApplicationContext instance) {
		GroupReport report = instance.getBean(GroupReporter.class).report();
		assertThat(report.error()).isNull();
		return report;
	}

	private static Map<String, @Nullable String> byShard(ConfigurableApplicationContext instance,
			Function<ShardReport, @Nullable String> part) {
		Map<String, @Nullable String> found = new TreeMap<>();
		report(instance).shards().forEach((shard) -> found.put(shard.id(), part.apply(shard)));
		return found;
	}

	private static List<ConfigurableApplicationContext> startThree(EmbeddedGroup group) {
		// The others get some of its shards.
		ConfigurableApplicationContext one = group.start(Application.class, "one");
		eventually(() -> assertThat(report(one).members()).singleElement()
			.satisfies((member) -> assertThat(member.shards()).isEqualTo(SHARDS)));
		List<ConfigurableApplicationContext> instances = List.of(one, group.start(Application.class, "two"),
				group.start(Application.class, "three"));
		eventually(() -> assertThat(report(instances.get(0)).members()).hasSize(3)
			.allMatch((member) -> member.shards() == SHARDS / 3));
		return instances;
	}

	/** Sends a record that its handler never accepts, and returns its shard. */
	private static String poison(ConfigurableApplicationContext instance) {
		ShardId shard = instance.getBean(ShardTemplate.class).shardFor("orders", "poison");
		instance.getBean(ShardTemplate.class).send("orders", "poison", "poison");
		return shard.id();
	}

	private static void assertOneProblem(List<ConfigurableApplicationContext> instances, String shard) {
		Set<Map<String, @Nullable String>> seen = instances.stream()
			.map((instance) -> byShard(instance, ShardReport::problem))
			.collect(Collectors.toSet());
		assertThat(seen).as("the same on every instance").hasSize(1).allSatisfy((problems) -> {
			assertThat(problems.get(shard)).contains("poisoned <b> line");
			assertThat(problems.values()).filteredOn((problem) -> problem != null).hasSize(1);
		});
		assertThat(instances)
			.allSatisfy((instance) -> assertThat(report(instance).topics()).extracting(TopicReport::problems)
				.containsExactly(1));
	}

	@Test
	void problemOfAPoisonedRecordIsShownByEveryInstance() {
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				EmbeddedGroup group = EmbeddedGroup.onRedis(redis, PROPERTIES)) {
			List<ConfigurableApplicationContext> instances = startThree(group);
			Long keys = redis.call((commands) -> commands.exists(group.name() + ":{" + group.name() + "}:problems"));
			assertThat(keys).as("without problems").isZero();

			String shard = poison(instances.get(0));
			eventually(() -> assertOneProblem(instances, shard));

			redis.call((commands) -> commands.flushall());
			// The record is lost, but its shard stays halted.
			eventually(() -> assertOneProblem(instances, shard));
		}
	}

	@Test
	void problemMovesWithItsShard() {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(PROPERTIES)) {
			List<ConfigurableApplicationContext> instances = startThree(group);
			String shard = poison(instances.get(0));
			eventually(() -> assertOneProblem(instances, shard));
			String owner = byShard(instances.get(0), ShardReport::owner).get(shard);

			ConfigurableApplicationContext holder = instances.stream()
				.filter((instance) -> String.valueOf(owner).equals(report(instance).self()))
				.findFirst()
				.orElseThrow();
			List<ConfigurableApplicationContext> others = instances.stream()
				.filter((instance) -> instance != holder)
				.toList();
			holder.close();

			eventually(() -> assertOneProblem(others, shard));
		}
	}

	@Test
	void everyInstanceSaysWhyAShardIsWhereItIs() {
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				EmbeddedGroup group = EmbeddedGroup.onRedis(redis, PROPERTIES)) {
			List<ConfigurableApplicationContext> instances = startThree(group);
			eventually(() -> assertSameReasons(instances));
			assertThat(byShard(instances.get(1), ShardReport::why).values()).as("of moves to the later instances")
				.anyMatch((why) -> String.valueOf(why).contains(" moves from one~"));

			instances.get(0).close();
			List<ConfigurableApplicationContext> others = instances.subList(1, 3);
			eventually(() -> assertThat(report(others.get(0)).members()).hasSize(2)
				.allMatch((member) -> member.shards() == SHARDS / 2));
			eventually(() -> assertSameReasons(others));

			redis.call((commands) -> commands.flushall());
			eventually(() -> assertSameReasons(others));
		}
	}

	private static void assertSameReasons(List<ConfigurableApplicationContext> instances) {
		Set<Map<String, @Nullable String>> seen = instances.stream()
			.map((instance) -> byShard(instance, ShardReport::why))
			.collect(Collectors.toSet());
		assertThat(seen).as("the same on every instance").hasSize(1).allSatisfy((reasons) -> {
			assertThat(reasons).hasSize(SHARDS);
			assertThat(reasons).allSatisfy((shard, why) -> assertThat(why).startsWith("orders/" + shard + " "));
		});
	}

	@Test
	void problemsAreSharedInMemoryToo() {
		try (EmbeddedGroup group = EmbeddedGroup.inMemory(PROPERTIES)) {
			List<ConfigurableApplicationContext> instances = startThree(group);
			String shard = poison(instances.get(0));

			eventually(() -> assertOneProblem(instances, shard));
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("orders")
		void handle(String payload) {
			if (payload.contains("poison")) {
				throw new IllegalStateException("poisoned <b>\nline");
			}
		}

	}

}
