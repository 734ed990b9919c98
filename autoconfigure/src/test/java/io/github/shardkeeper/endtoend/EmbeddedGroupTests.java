package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(60)
class EmbeddedGroupTests {

	private static final String[] PROPERTIES = { "shardkeeper.topics.orders.shards=4",
			"shardkeeper.consumer.commit.mode=batch" };

	static Stream<Supplier<EmbeddedGroup>> stores() {
		return Stream.of(() -> EmbeddedGroup.inMemory(PROPERTIES), () -> EmbeddedGroup.onRedis(PROPERTIES));
	}

	@ParameterizedTest
	@MethodSource("stores")
	void instancesShareShardsStateAndRecords(Supplier<EmbeddedGroup> groups) {
		try (EmbeddedGroup group = groups.get()) {
			ConfigurableApplicationContext one = group.start(Counting.class, "one");
			send(one);
			ConfigurableApplicationContext two = group.start(Counting.class, "two");
			awaitOwners(two, Map.of("one", 2L, "two", 2L));
			send(two);
			one.close();
			send(two);

			awaitOwners(two, Map.of("two", 4L));
			awaitCounts(two, 3);
			assertThat(group.started()).containsExactly(one, two);
		}
	}

	@Test
	@Tag("proof")
	void shardsOfKilledInstanceMoveAfterItsLease() {
		try (EmbeddedGroup group = EmbeddedGroup.onRedis(PROPERTIES)) {
			ConfigurableApplicationContext one = group.start(Counting.class, "one");
			ConfigurableApplicationContext two = group.start(Counting.class, "two");
			awaitOwners(two, Map.of("one", 2L, "two", 2L));
			send(one);
			group.kill("one");
			send(two);

			awaitOwners(two, Map.of("two", 4L));
			awaitCounts(two, 2);
			assertThat(one.isRunning()).isTrue();
		}
	}

	@Test
	@Tag("proof")
	void redisOfTheTestMayBeRestarted() {
		try (EmbeddedRedis redis = EmbeddedRedis.start("--appendonly", "yes");
				EmbeddedGroup group = EmbeddedGroup.onRedis(redis, PROPERTIES)) {
			ConfigurableApplicationContext one = group.start(Counting.class, "one");
			send(one);
			awaitCounts(one, 1);
			redis.kill();
			redis.restart();
			Awaitility.await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> {
				one.getBean(ShardTemplate.class).shardFor("orders", "ann");
				return redis.call((commands) -> commands.ping()).equals("PONG");
			});
			awaitCounts(one, 1);
		}
	}

	@Test
	void applicationMayBringItsOwnSource() {
		try (EmbeddedGroup group = EmbeddedGroup.inMemory("shardkeeper.consumer.commit.mode=batch")) {
			ConfigurableApplicationContext one = group.start(WithSource.class, "one");

			assertThat(one.getBean(ShardSource.class)).isSameAs(one.getBean("ownSource"));
			send(one);
			awaitCounts(one, 1);
		}
	}

	@Test
	void everyGroupHasItsOwnName() {
		assertThat(EmbeddedGroup.inMemory().name()).isNotEqualTo(EmbeddedGroup.inMemory().name());
	}

	@Test
	void networkOfUnknownInstanceIsRefused() {
		try (EmbeddedGroup memory = EmbeddedGroup.inMemory(PROPERTIES);
				EmbeddedGroup redis = EmbeddedGroup.onRedis(PROPERTIES)) {
			memory.start(Counting.class, "one");

			assertThatIllegalArgumentException().isThrownBy(() -> memory.kill("one"))
				.withMessageContaining("the group is in memory. Use EmbeddedGroup.onRedis");
			assertThatIllegalArgumentException().isThrownBy(() -> redis.kill("one"))
				.withMessageContaining("it was not started by this group");
		}
	}

	@Test
	void propertyWithoutValueIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> EmbeddedGroup.inMemory("shardkeeper.group"))
			.withMessageContaining("'shardkeeper.group' is no property: write name=value");
	}

	private static void send(ConfigurableApplicationContext instance) {
		for (String key : new String[] { "ann", "bob", "eve", "joe", "kim", "liz", "max", "sue" }) {
			instance.getBean(ShardTemplate.class).send("orders", key, key);
		}
	}

	private static void awaitOwners(ConfigurableApplicationContext instance, Map<String, Long> loads) {
		Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.untilAsserted(() -> assertThat(instance.getBean(GroupReporter.class)
				.report()
				.shards()
				.stream()
				.map(ShardReport::owner)
				.collect(Collectors.groupingBy((owner) -> String.valueOf(owner).split("~")[0], Collectors.counting())))
				.isEqualTo(loads));
	}

	private static void awaitCounts(ConfigurableApplicationContext instance, long count) {
		ShardStateReader states = instance.getBean(ShardStateReader.class);
		Awaitility.await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
			long sum = 0;
			for (int shard = 0; shard < 4; shard++) {
				Map<String, Long> counts = states.read(ShardId.of("orders", shard), Long.class);
				assertThat(counts.values()).allMatch((value) -> value == count);
				sum += counts.size();
			}
			assertThat(sum).isEqualTo(8);
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Counting {

		@ShardConsumer("orders")
		void handle(String key, ShardState state) {
			state.increment(key, 1);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WithSource extends Counting {

		@Bean
		MemoryStreamSource ownSource() {
			return new MemoryStreamSource(Map.of("orders", 4));
		}

	}

}
