package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.report.ShardReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whole applications whose shards come and go at runtime, coordinated by a real Redis.
 */
@Tag("proof")
class ReshardingTests {

	/** Source of all instances. */
	private final MemoryStreamSource source = new MemoryStreamSource(Map.of("orders", 2));

	private final Handled handled = new Handled(new CopyOnWriteArrayList<>());

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=2",
			"shardkeeper.consumer.commit.interval=100ms");

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	/**
	 * amazon-kinesis-client#185, #442, #837: shards that are stuck, and workers that
	 * idle, after a split. spring-cloud-stream-binder-aws-kinesis#212: new shards that
	 * nobody consumes.
	 */
	@Test
	void childrenAreConsumedAfterLastRecordOfParents() {
		ConfigurableApplicationContext one = start("one", Records.class, this.source);
		start("two", Records.class, this.source);
		awaitStates(one, Map.of("OWNED", Set.of("0", "1")));
		append("0", 1, 200);
		append("1", 1, 200);
		List<ShardId> children = this.source.split(shard("0"));
		append("2", 1, 50);
		append("3", 1, 50);
		ShardId merged = this.source.merge(shard("1"), children.get(0));
		append("4", 1, 50);
		assertThat(merged).isEqualTo(shard("4"));

		awaitStates(one, Map.of("COMPLETED", Set.of("0", "1", "2"), "OWNED", Set.of("3", "4")));
		awaitCounts(one, Map.of("0", 200L, "1", 200L, "2", 50L, "3", 50L, "4", 50L));
		// Nothing else is guaranteed: 0 and 1 have no parents, and 3 has no children.
		assertThat(first("2")).isGreaterThan(last("0"));
		assertThat(first("3")).isGreaterThan(last("0"));
		assertThat(first("4")).isGreaterThan(last("1")).isGreaterThan(last("2"));
		await().untilAsserted(() -> assertThat(owners(one)).as("completed shards are no load").hasSize(2));
	}

	/**
	 * spring-cloud-stream-binder-aws-kinesis#39: a restart is needed after resharding,
	 * and closed shards are read for ever.
	 */
	@Test
	void completedShardStaysCompletedAfterRestart() {
		ConfigurableApplicationContext one = start("one", Records.class, this.source);
		append("0", 1, 10);
		this.source.close(shard("0"));
		awaitStates(one, Map.of("COMPLETED", Set.of("0"), "OWNED", Set.of("1")));
		one.close();
		int before = this.handled.shards.size();

		ConfigurableApplicationContext two = start("two", Records.class, this.source);
		append("1", 1, 1);
		awaitCounts(two, Map.of("0", 10L, "1", 1L));
		awaitStates(two, Map.of("COMPLETED", Set.of("0"), "OWNED", Set.of("1")));
		assertThat(this.handled.shards).hasSize(before + 1);
	}

	@Test
	void emptyClosedShardIsCompletedAtOnce() {
		ConfigurableApplicationContext one = start("one", Records.class, this.source);
		append("0", 1, 10);
		awaitCounts(one, Map.of("0", 10L));
		one.close();
		this.source.split(shard("0"));
		this.source.close(shard("1"));

		ConfigurableApplicationContext two = start("two", Records.class, this.source);
		awaitStates(two, Map.of("COMPLETED", Set.of("0", "1"), "OWNED", Set.of("2", "3")));
		assertThat(this.handled.shards).hasSize(10);
	}

	/** They never come to the end of a shard. */
	@Test
	void loopHandlersDoNotWaitForParentShards() {
		ConfigurableApplicationContext one = start("one", Loops.class, this.source);
		awaitStates(one, Map.of("OWNED", Set.of("0", "1")));
		this.source.split(shard("0"));

		awaitStates(one, Map.of("OWNED", Set.of("0", "1", "2", "3")));
		await().untilAsserted(() -> assertThat(this.handled.shards).contains("2", "3"));
	}

	/**
	 * spring-cloud-stream-binder-aws-kinesis#212, #213: shards that came later are
	 * consumed by nobody.
	 */
	@Test
	void raisedShardCountNeedsNoRestart() {
		ConfigurableApplicationContext one = start("one", Records.class, null);
		ConfigurableApplicationContext two = start("two", Records.class, null);
		awaitStates(one, Map.of("OWNED", Set.of("0", "1")));
		assertThat(one.getBean(ShardTopics.class).raise("orders", 6)).isEqualTo(6);

		awaitStates(one, Map.of("OWNED", Set.of("0", "1", "2", "3", "4", "5")));
		await().untilAsserted(() -> assertThat(owners(one).values()).containsExactly(3L, 3L));
		ShardTemplate template = two.getBean(ShardTemplate.class);
		await().untilAsserted(() -> {
			for (int key = 0; key < 30; key++) {
				template.send("orders", "key-" + key, "anything");
			}
			assertThat(Set.copyOf(this.handled.shards)).containsExactlyInAnyOrder("0", "1", "2", "3", "4", "5");
		});
	}

	private ConfigurableApplicationContext start(String name, Class<?> handler, MemoryStreamSource shared) {
		return this.instances.start(new SpringApplicationBuilder(Application.class, handler).initializers((created) -> {
			GenericApplicationContext beans = (GenericApplicationContext) created;
			beans.registerBean(Handled.class, () -> this.handled);
			if (shared != null) {
				beans.registerBean(MemoryStreamSource.class, () -> shared);
			}
		}), name);
	}

	private void append(String shard, int first, int last) {
		this.source.append(IntStream.rangeClosed(first, last)
			.mapToObj((number) -> new NewRecord(shard(shard), "key", Integer.toString(number).getBytes()))
			.toList());
	}

	private int first(String shard) {
		return this.handled.shards.indexOf(shard);
	}

	private int last(String shard) {
		return this.handled.shards.lastIndexOf(shard);
	}

	private static void awaitStates(ConfigurableApplicationContext instance, Map<String, Set<String>> states) {
		await().untilAsserted(() -> {
			Map<String, Set<String>> found = new TreeMap<>();
			shards(instance)
				.forEach((shard) -> found.computeIfAbsent(shard.state(), (state) -> new TreeSet<>()).add(shard.id()));
			assertThat(found).isEqualTo(states);
		});
	}

	private static void awaitCounts(ConfigurableApplicationContext instance, Map<String, Long> counts) {
		ShardStateReader reader = instance.getBean(ShardStateReader.class);
		await().untilAsserted(() -> counts.forEach(
				(shard, count) -> assertThat(reader.read(shard(shard), Long.class)).containsEntry("count", count)));
	}

	private static Map<String, Long> owners(ConfigurableApplicationContext instance) {
		Map<String, Long> owners = new TreeMap<>();
		shards(instance).stream()
			.filter((shard) -> shard.owner() != null)
			.forEach((shard) -> owners.merge(shard.owner(), 1L, Long::sum));
		return owners;
	}

	private static List<ShardReport> shards(ConfigurableApplicationContext instance) {
		return instance.getBean(GroupReporter.class).report().shards();
	}

	private static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(40)).pollInterval(Duration.ofMillis(50));
	}

	private static ShardId shard(String id) {
		return new ShardId("orders", id);
	}

	/** Shards of the calls of all instances, in order. */
	record Handled(List<String> shards) {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

	@Import(Records.Handler.class)
	static class Records {

		record Handler(Handled handled) {

			@ShardConsumer("orders")
			void handle(String payload, ShardContext context, ShardState state) {
				this.handled.shards().add(context.shard().id());
				state.increment("count", 1);
			}

		}

	}

	@Import(Loops.Handler.class)
	static class Loops {

		record Handler(Handled handled) {

			@ShardConsumer(value = "orders", interval = "20ms")
			void handle(ShardContext context) {
				this.handled.shards().add(context.shard().id());
			}

		}

	}

}
