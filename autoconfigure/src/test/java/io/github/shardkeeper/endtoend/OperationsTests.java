package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOperationEvent;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.operations.ShardOperations;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.operations.request.OperationRefusedException;
import io.github.shardkeeper.operations.request.OperationRefusedException.Kind;
import io.github.shardkeeper.redis.testsupport.KnownGroup;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.report.MemberReport;
import io.github.shardkeeper.report.OperationReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Operators act on whole applications, on Redis. */
@Timeout(180)
@ExtendWith(OutputCaptureExtension.class)
class OperationsTests {

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=4",
			"shardkeeper.topics.prices.shards=1", "shardkeeper.topics.prices.mode=broadcast",
			"shardkeeper.consumer.commit.interval=50ms", "management.endpoints.web.exposure.include=shards");

	@BeforeEach
	void beginGroup() {
		KnownGroup.begin(this.instances.name());
	}

	private static void eventually(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion);
	}

	private static Map<String, String> request(String action, String... namesAndValues) {
		Map<String, String> fields = new HashMap<>();
		for (int i = 0; i < namesAndValues.length; i += 2) {
			fields.put(namesAndValues[i], namesAndValues[i + 1]);
		}
		fields.put("action", action);
		return fields;
	}

	private static ShardOperations operations(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardOperations.class);
	}

	private static GroupReport report(ConfigurableApplicationContext instance) {
		return instance.getBean(GroupReporter.class).report();
	}

	private static int shardsOf(ConfigurableApplicationContext asked, String instance) {
		return report(asked).members()
			.stream()
			.filter((member) -> member.instance().equals(instance))
			.mapToInt(MemberReport::shards)
			.sum();
	}

	private ConfigurableApplicationContext start(String instance) {
		return this.instances.start(Application.class, instance);
	}

	@Test
	@Tag("proof")
	void instanceLeavesInOrderAndComesBackWhenTold(CapturedOutput output) {
		ConfigurableApplicationContext one = start("one");
		ConfigurableApplicationContext two = start("two");
		eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(2));

		assertThatExceptionOfType(OperationRefusedException.class)
			.isThrownBy(() -> operations(one).onGroup(null, request("leave", "instance", "two")))
			.satisfies((refusal) -> assertThat(refusal.kind()).isEqualTo(Kind.CONFLICT))
			.withMessageContaining("'two' has to be asked itself");
		assertThat(operations(two).onGroup(null, request("leave", "instance", "two", "dryRun", "true")).done())
			.isFalse();
		assertThat(shardsOf(one, "two")).isEqualTo(2);
		OperationReport left = operations(two).onGroup(null,
				request("leave", "instance", "two", "by", "ann\nERROR", "reason", "hot"));
		assertThat(left.done()).isTrue();
		assertThat(left.target()).isEqualTo("two");

		eventually(() -> assertThat(report(one).members()).extracting(MemberReport::instance).containsExactly("one"));
		eventually(() -> assertThat(shardsOf(one, "one")).isEqualTo(4));
		assertThat(two.isActive()).isTrue();
		eventually(() -> assertThat(output)
			.contains("Operation 'leave', member two in group '%s', requested by ann ERROR, reason: hot: It releases"
				.formatted(this.instances.name())));
		eventually(() -> assertThat(operations(two).onGroup(null, request("leave", "instance", "two")).effects().get(0))
			.contains("has already left"));

		assertThat(operations(two).onGroup(null, request("join", "instance", "two")).effects().get(0))
			.contains("joins");
		eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(2));
		assertThat(operations(two).onGroup(null, request("join", "instance", "two")).effects().get(0))
			.contains("already");
	}

	@Test
	void instanceThatIsLeavingCanBeClosed() {
		ConfigurableApplicationContext one = start("one");
		eventually(() -> assertThat(shardsOf(one, "one")).isEqualTo(4));

		operations(one).onGroup(null, request("leave", "instance", "one"));
		one.close();

		ConfigurableApplicationContext two = start("two");
		eventually(() -> assertThat(report(two).members()).extracting(MemberReport::instance).containsExactly("two"));
	}

	@Test
	void dryRunOfASeekCountsWhatTheSeekThenHandlesAgain() {
		ConfigurableApplicationContext one = start("one");
		// An instance without handlers acts as well as any other.
		ConfigurableApplicationContext other = this.instances.start(Watching.class, "other");
		ShardTemplate template = one.getBean(ShardTemplate.class);
		ShardId shard = template.shardFor("orders", "k");
		String second = "";
		for (int i = 0; i < 5; i++) {
			String offset = template.send("orders", "k", "v" + i).offset().value();
			second = (i == 1) ? offset : second;
		}
		List<String> handled = one.getBean(Application.class).handled;
		eventually(() -> assertThat(handled).hasSize(5));
		eventually(() -> assertThat(one.getBean(GroupReporter.class).shard(shard).orElseThrow().lag())
			.hasFieldOrPropertyWithValue("records", 0L));

		assertThat(seek(other, shard, "earliest", true).effects().get(0)).contains(shard.toString(),
				"5 records would be handled again");
		assertThat(seek(other, shard, "after " + second, true).effects()).first()
			.asString()
			.contains("after " + second, "3 records would be handled again");
		assertThat(seek(other, shard, "latest", true).effects().get(0)).contains("no record lies between");
		OperationReport ofTopic = operations(other).onTopic("orders", null,
				request("seek", "to", "2020-01-01T00:00:00Z", "dryRun", "true"));
		assertThat(ofTopic.effects()).hasSize(5).last().isEqualTo("The state is kept");
		assertThat(ofTopic.effects()).filteredOn((effect) -> effect.startsWith(shard + ","))
			.singleElement()
			.asString()
			.contains("5 records would be handled again");
		assertThat(handled).hasSize(5);
		assertThat(other.getBean(Watching.class).events).as("dry runs").isEmpty();

		assertThat(seek(other, shard, "after " + second, false).effects().get(0)).contains("continues from after");

		eventually(() -> assertThat(handled).containsExactly("v0", "v1", "v2", "v3", "v4", "v2", "v3", "v4"));
		eventually(() -> assertThat(other.getBean(Watching.class).events).singleElement().satisfies((event) -> {
			assertThat(event.action()).isEqualTo("seek");
			assertThat(event.shard()).isEqualTo(shard);
			assertThat(event.member()).as("a position is none").isNull();
			assertThat(event.effects()).anyMatch((effect) -> effect.contains(shard.toString()));
		}));
	}

	private static OperationReport seek(ConfigurableApplicationContext instance, ShardId shard, String to,
			boolean dryRun) {
		return operations(instance).onShard(shard.topic(), shard.id(), null,
				request("seek", "to", to, "dryRun", String.valueOf(dryRun)));
	}

	@Test
	@Tag("proof")
	void pauseIsFollowedByTheOtherInstanceUntilResumed() {
		ConfigurableApplicationContext one = start("one");
		ConfigurableApplicationContext two = start("two");
		eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(2));
		ConfigurableApplicationContext watching = this.instances.start(Watching.class, "watching");
		ShardTemplate template = one.getBean(ShardTemplate.class);
		ShardId shard = template.shardFor("orders", "k");
		List<String> ofOne = one.getBean(Application.class).handled;
		List<String> ofTwo = two.getBean(Application.class).handled;
		template.send("orders", "k", "before");
		eventually(() -> assertThat(ofOne.contains("before") || ofTwo.contains("before")).isTrue());

		assertThat(onShard(watching, shard, "pause", "by", "ann", "dryRun", "true").done()).isFalse();
		assertThat(report(one).shards()).allMatch((report) -> report.paused() == null);
		assertThat(onShard(watching, shard, "pause", "by", "ann").done()).isTrue();
		assertThat(onShard(one, shard, "pause", "by", "bob").effects().get(0)).contains("already", "ann");
		for (ConfigurableApplicationContext instance : List.of(one, two, watching)) {
			eventually(
					() -> assertThat(instance.getBean(GroupReporter.class).shard(shard).orElseThrow().shard().paused())
						.hasFieldOrPropertyWithValue("by", "ann"));
		}
		// The pause takes effect with the next heartbeat; a shard that is not paused goes
		// on.
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> {
			String probe = "probe" + System.nanoTime();
			template.send("orders", "k", probe);
			String other = otherKey(template, shard);
			template.send("orders", other, "other " + probe);
			eventually(() -> assertThat(ofOne.contains("other " + probe) || ofTwo.contains("other " + probe)).isTrue());
			return !ofOne.contains(probe) && !ofTwo.contains(probe);
		});
		template.send("orders", "k", "waiting");
		template.send("orders", otherKey(template, shard), "passed");
		eventually(() -> assertThat(ofOne.contains("passed") || ofTwo.contains("passed")).isTrue());
		assertThat(ofOne).doesNotContain("waiting");
		assertThat(ofTwo).doesNotContain("waiting");

		assertThat(onShard(two, shard, "resume").done()).isTrue();
		eventually(() -> assertThat(ofOne.contains("waiting") || ofTwo.contains("waiting")).isTrue());
		assertThat(onShard(two, shard, "resume").effects().get(0)).contains("already");
	}

	private static String otherKey(ShardTemplate template, ShardId shard) {
		return IntStream.range(0, 1_000)
			.mapToObj(Integer::toString)
			.filter((key) -> !template.shardFor("orders", key).equals(shard))
			.findFirst()
			.orElseThrow();
	}

	private static OperationReport onShard(ConfigurableApplicationContext instance, ShardId shard, String action,
			String... fields) {
		return operations(instance).onShard(shard.topic(), shard.id(), null, request(action, fields));
	}

	@Test
	void shardsMoveAndInstancesAreDrainedFromAnyInstance() {
		ConfigurableApplicationContext one = start("one");
		start("two");
		eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(2));
		ConfigurableApplicationContext watching = this.instances.start(Watching.class, "watching");
		ShardId shard = report(one).shards()
			.stream()
			.filter((candidate) -> String.valueOf(candidate.owner()).startsWith("one~"))
			.map((candidate) -> new ShardId(candidate.topic(), candidate.id()))
			.findFirst()
			.orElseThrow();

		assertThat(onShard(watching, shard, "pin", "to", "two").done()).isTrue();
		eventually(() -> assertThat(owner(one, shard)).startsWith("two~"));
		assertThat(onShard(watching, shard, "pin", "to", "two").effects().get(0)).contains("already");
		assertThatExceptionOfType(OperationRefusedException.class)
			.isThrownBy(() -> onShard(watching, shard, "move", "to", "one"))
			.satisfies((refusal) -> assertThat(refusal.kind()).isEqualTo(Kind.CONFLICT))
			.withMessageContaining("is pinned to two");
		assertThat(onShard(watching, shard, "unpin").done()).isTrue();
		assertThat(onShard(watching, shard, "move", "to", "one").done()).isTrue();
		eventually(() -> assertThat(owner(one, shard)).startsWith("one~"));

		OperationReport planned = operations(watching).onGroup(null,
				request("drain", "instance", "two", "dryRun", "true"));
		assertThat(planned.effects()).anyMatch((effect) -> effect.contains("move"));
		assertThat(operations(watching).onGroup(null, request("drain", "instance", "two")).done()).isTrue();
		eventually(() -> assertThat(shardsOf(one, "two")).isZero());
		assertThat(report(one).members()).filteredOn(MemberReport::draining)
			.extracting(MemberReport::instance)
			.containsExactly("two");
		assertThat(operations(one).onGroup(null, request("drain", "instance", "two")).effects().get(0))
			.contains("already");
		assertThat(operations(watching).onGroup(null, request("undrain", "instance", "two")).done()).isTrue();
		eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(2));
		assertThat(operations(watching).onGroup(null, request("rebalance")).done()).isTrue();
	}

	private static String owner(ConfigurableApplicationContext asked, ShardId shard) {
		return String.valueOf(asked.getBean(GroupReporter.class).shard(shard).orElseThrow().shard().owner());
	}

	@Test
	@Tag("proof")
	void concurrentOperationsDoNotFight() {
		ConfigurableApplicationContext one = start("one");
		ConfigurableApplicationContext two = start("two");
		eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(2));
		ShardId shard = ShardId.of("orders", 0);

		List<CompletableFuture<OperationReport>> acts = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			ConfigurableApplicationContext instance = (i % 2 == 0) ? one : two;
			String to = (i % 2 == 0) ? "one" : "two";
			acts.add(CompletableFuture.supplyAsync(() -> onShard(instance, shard, "pin", "to", to)));
			acts.add(CompletableFuture
				.supplyAsync(() -> operations(instance).onTopic("orders", null, request("pause"))));
			acts.add(CompletableFuture
				.supplyAsync(() -> operations(instance).onTopic("orders", null, request("resume"))));
		}
		acts.forEach((act) -> assertThat(act.join().done()).isTrue());

		operations(one).onTopic("orders", null, request("resume"));
		// The pin that was stored last counts, for everybody.
		eventually(() -> {
			String pinned = report(one).shards().get(0).pinnedTo();
			assertThat(pinned).isIn("one", "two").isEqualTo(report(two).shards().get(0).pinnedTo());
			assertThat(owner(one, shard)).startsWith(pinned + "~");
			assertThat(report(two).shards()).allMatch((report) -> report.paused() == null);
		});
		ShardTemplate template = one.getBean(ShardTemplate.class);
		template.send("orders", "k", "after");
		eventually(() -> assertThat(List.of(one, two))
			.anyMatch((instance) -> instance.getBean(Application.class).handled.contains("after")));
	}

	@Test
	void seekOfABroadcastTopicSaysThatItConcernsThisInstance() {
		ConfigurableApplicationContext one = start("one");

		assertThat(operations(one).onTopic("prices", null, request("seek", "to", "earliest")).effects()).last()
			.asString()
			.contains("broadcast topic", "the instance one only");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		private final List<String> handled = new CopyOnWriteArrayList<>();

		@ShardConsumer("orders")
		void handle(ShardRecord<String> order) {
			this.handled.add(order.payload());
		}

		@ShardConsumer("prices")
		void price(String price) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Watching {

		private final List<ShardOperationEvent> events = new CopyOnWriteArrayList<>();

		@EventListener
		void operated(ShardOperationEvent event) {
			this.events.add(event);
		}

	}

}
