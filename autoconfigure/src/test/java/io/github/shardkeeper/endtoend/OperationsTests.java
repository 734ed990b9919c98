package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.BeforeEach;
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
import io.github.shardkeeper.operations.GroupReporter;
import io.github.shardkeeper.operations.OperationRefusedException;
import io.github.shardkeeper.operations.OperationRefusedException.Kind;
import io.github.shardkeeper.operations.OperationRequest;
import io.github.shardkeeper.operations.ShardOperations;
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

	private static OperationRequest request(String action, String... namesAndValues) {
		Map<String, String> fields = new HashMap<>();
		for (int i = 0; i < namesAndValues.length; i += 2) {
			fields.put(namesAndValues[i], namesAndValues[i + 1]);
		}
		return OperationRequest.parse(action, null, fields);
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
	void instanceLeavesInOrderAndComesBackWhenTold(CapturedOutput output) {
		ConfigurableApplicationContext one = start("one");
		ConfigurableApplicationContext two = start("two");
		eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(2));

		assertThatExceptionOfType(OperationRefusedException.class)
			.isThrownBy(() -> operations(one).onGroup(request("leave", "instance", "two")))
			.satisfies((refusal) -> assertThat(refusal.kind()).isEqualTo(Kind.CONFLICT))
			.withMessageContaining("'two' has to be asked itself");
		assertThat(operations(two).onGroup(request("leave", "instance", "two", "dryRun", "true")).done()).isFalse();
		assertThat(shardsOf(one, "two")).isEqualTo(2);
		OperationReport left = operations(two)
			.onGroup(request("leave", "instance", "two", "by", "ann\nERROR", "reason", "hot"));
		assertThat(left.done()).isTrue();
		assertThat(left.target()).isEqualTo("two");

		eventually(() -> assertThat(report(one).members()).extracting(MemberReport::instance).containsExactly("one"));
		eventually(() -> assertThat(shardsOf(one, "one")).isEqualTo(4));
		assertThat(two.isActive()).isTrue();
		eventually(() -> assertThat(output)
			.contains("Operation 'leave', member two in group '%s', requested by ann ERROR, reason: hot: It releases"
				.formatted(this.instances.name())));
		eventually(() -> assertThat(operations(two).onGroup(request("leave", "instance", "two")).effects().get(0))
			.contains("has already left"));

		assertThat(operations(two).onGroup(request("join", "instance", "two")).effects().get(0)).contains("joins");
		eventually(() -> assertThat(shardsOf(one, "two")).isEqualTo(2));
		assertThat(operations(two).onGroup(request("join", "instance", "two")).effects().get(0)).contains("already");
	}

	@Test
	void instanceThatIsLeavingCanBeClosed() {
		ConfigurableApplicationContext one = start("one");
		eventually(() -> assertThat(shardsOf(one, "one")).isEqualTo(4));

		operations(one).onGroup(request("leave", "instance", "one"));
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
		OperationReport ofTopic = operations(other).onTopic("orders",
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
			assertThat(event.effects()).anyMatch((effect) -> effect.contains(shard.toString()));
		}));
	}

	private static OperationReport seek(ConfigurableApplicationContext instance, ShardId shard, String to,
			boolean dryRun) {
		return operations(instance).onShard(shard.topic(), shard.id(),
				request("seek", "to", to, "dryRun", String.valueOf(dryRun)));
	}

	@Test
	void seekOfABroadcastTopicSaysThatItConcernsThisInstance() {
		ConfigurableApplicationContext one = start("one");

		assertThat(operations(one).onTopic("prices", request("seek", "to", "earliest")).effects()).last()
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
