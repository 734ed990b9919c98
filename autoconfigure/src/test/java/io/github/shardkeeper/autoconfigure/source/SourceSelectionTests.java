package io.github.shardkeeper.autoconfigure.source;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;
import io.github.shardkeeper.redis.stream.RedisStreamSource;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.fixed.ShardNames;
import io.github.shardkeeper.source.memory.MemoryStreamSource;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** The source of each topic, as properties and beans select it. */
class SourceSelectionTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class, DataRedisAutoConfiguration.class))
		.withPropertyValues("shardkeeper.group=sources", "shardkeeper.topics.orders.shards=2",
				"shardkeeper.topics.visits.shards=3", "shardkeeper.session.lease=1s",
				"shardkeeper.session.heartbeat-interval=100ms",
				"spring.data.redis.port=" + EmbeddedRedis.shared().port());

	@Test
	void storeIsTheDefault() {
		this.runner.run((context) -> assertThat(
				context.getBean(SourceRegistry.class).having(context.getBean(SourceRegistry.class).names()))
			.containsOnlyKeys("redis"));
	}

	@ParameterizedTest
	@CsvSource({ "shardkeeper.kafka.topics.visits.name,kafka", "shardkeeper.sls.topics.visits.logstore,sls" })
	void topicWhoseSourceWasForgottenFailsStartup(String property, String source) {
		this.runner.withPropertyValues(property + "=web")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining(
						"'shardkeeper.%s.topics.visits' is set, but no topic 'visits' has the source '%1$s'"
							.formatted(source))
				.hasMessageContaining("Set 'shardkeeper.topics.visits.source: %s'".formatted(source)));
	}

	@Test
	void mappingOfAnotherTopicNamesTheNearestOne() {
		this.runner
			.withPropertyValues("shardkeeper.topics.orders.source=memory", "shardkeeper.sls.topics.oders.logstore=o")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("no topic 'oders' has the source 'sls'. Set"));
		this.runner
			.withPropertyValues("shardkeeper.topics.orders.source=kafka", "shardkeeper.kafka.topics.oders.name=o",
					"spring.kafka.bootstrap-servers=localhost:1")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("no topic 'oders' has the source 'kafka'. Did you mean 'orders'?"));
	}

	@Test
	void topicsOfTwoSourcesAreConsumedAndSentTo() {
		Recorder recorder = new Recorder();
		this.runner.withPropertyValues("shardkeeper.topics.visits.source=memory")
			.withBean(Recorder.class, () -> recorder)
			.run((context) -> {
				SourceRegistry sources = context.getBean(SourceRegistry.class);
				assertThat(sources.of("orders")).isInstanceOf(RedisStreamSource.class);
				assertThat(sources.of("visits")).isInstanceOf(MemoryStreamSource.class);
				assertThat(sources.topics()).containsOnlyKeys("orders", "visits");
				ShardTemplate template = context.getBean(ShardTemplate.class);
				template.send("orders", "key", "an order");
				template.send("visits", "key", "a visit");
				assertThat(recorder.orders.poll(20, TimeUnit.SECONDS)).isEqualTo("an order");
				assertThat(recorder.visits.poll(20, TimeUnit.SECONDS)).isEqualTo("a visit");
			});
	}

	@Test
	void ownSourceIsTheDefaultBesideABuiltInOne() {
		MemoryStreamSource own = new MemoryStreamSource(Map.of("orders", 2));
		this.runner.withBean("files", ShardSource.class, () -> own)
			.withPropertyValues("shardkeeper.topics.visits.source=redis")
			.run((context) -> {
				SourceRegistry sources = context.getBean(SourceRegistry.class);
				assertThat(sources.of("orders")).isSameAs(own);
				assertThat(sources.name("orders")).isEqualTo("files");
				assertThat(sources.of("visits")).isInstanceOf(RedisStreamSource.class);
				assertThat(sources.of("visits").topics()).containsOnlyKeys("visits");
			});
	}

	@Test
	void ownSourceWithoutOtherTopicsReplacesTheDefault() {
		this.runner.withBean("files", ShardSource.class, () -> new MemoryStreamSource(Map.of("orders", 2)))
			.withPropertyValues("shardkeeper.topics.orders.source=files",
					// Its shards are not those of 'shards'.
					"shardkeeper.topics.orders.weights.17=2", "shardkeeper.topics.orders.zones.eu-1=eu")
			.run((context) -> {
				assertThat(context).doesNotHaveBean(RedisStreamSource.class);
				assertThat(context.getBean(SourceRegistry.class).names()).containsExactly("orders");
			});
	}

	@Test
	void topicThatNoSourceHasFailsTheStart() {
		this.runner.withBean("files", ShardSource.class, () -> new MemoryStreamSource(Map.of("orders", 2)))
			.withBean(OrdersOnly.class)
			.run((context) -> assertThat(context.getStartupFailure()).cause()
				.isInstanceOf(ShardkeeperConfigurationException.class)
				.hasMessageContaining("'shardkeeper.topics.visits' is set, but no ShardSource bean has the topic")
				.hasMessageContaining("Set 'shardkeeper.topics.visits.source'"));
	}

	@Test
	void severalAppendersBesideASourceAreNamedInsteadOfUsingNone() {
		MemoryStreamSource files = new MemoryStreamSource(Map.of("orders", 2));
		ShardSource reading = (ShardSource) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { ShardSource.class }, (proxy, method, arguments) -> method.invoke(files, arguments));
		ApplicationContextRunner one = this.runner.withPropertyValues("shardkeeper.topics.visits.source=memory")
			.withBean("files", ShardSource.class, () -> reading)
			.withBean("first", ShardAppender.class, () -> files::append);
		one.run((context) -> assertThat(context.getBean(ShardTemplate.class).send("orders", "ann", "hello").offset())
			.isNotNull());
		one.withBean("second", ShardAppender.class, () -> files::append)
			.run((context) -> assertThatExceptionOfType(ShardkeeperConfigurationException.class)
				.isThrownBy(() -> context.getBean(ShardTemplate.class).send("orders", "ann", "hello"))
				.withMessageContaining("The source 'files' of the topic 'orders' is no ShardAppender")
				.withMessageContaining("several beans"));
	}

	@Test
	void numbersOfShardsAreRaisedAtTheSourceOfTheTopic() {
		MemoryStreamSource tenants = new MemoryStreamSource(Map.of("tenants", 3));
		ShardSource fixed = (ShardSource) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { ShardSource.class }, (proxy, method, arguments) -> method.invoke(tenants, arguments));
		this.runner.withBean("fixedTenants", ShardSource.class, () -> fixed)
			.withPropertyValues("shardkeeper.key-prefix=" + UUID.randomUUID(),
					"shardkeeper.topics.visits.source=memory", "shardkeeper.topics.orders.source=redis")
			.run((context) -> {
				ShardTopics topics = context.getBean(ShardTopics.class);
				assertThat(topics.raise("orders", 4)).isEqualTo(4);
				assertThat(topics.raise("visits", 5)).isEqualTo(5);
				assertThat(context.getBean(RedisStreamSource.class).shards("orders")).isEqualTo(4);
				assertThat(context.getBean(MemoryStreamSource.class).shards("visits")).isEqualTo(5);
				assertThat(topics.shards("tenants")).isEqualTo(3);
				assertThatExceptionOfType(ShardkeeperConfigurationException.class)
					.isThrownBy(() -> topics.raise("tenants", 4))
					.withMessageContaining("'fixedTenants' of topic 'tenants'");
				assertThatExceptionOfType(ShardkeeperConfigurationException.class)
					.isThrownBy(() -> topics.shards("others"))
					.withMessageContaining("'others'");
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			source=kafak    | 'kafak', which is neither a built-in source nor a ShardSource bean | Set it to one of
			names=a,b       | but the shards of the topic are those of its source               | source' to 'fixed'
			names-bean=a    | but the shards of the topic are those of its source               | or remove the property
			reset=latest    | source 'redis' always resumes at the first record                 | Remove the property
			""")
	void invalidSelectionFailsStartup(String property, String description, String action) {
		this.runner.withPropertyValues("shardkeeper.topics.orders." + property).run((context) -> {
			FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).isNotNull();
			assertThat(analysis.getDescription()).contains("'shardkeeper.topics.orders.").contains(description);
			assertThat(analysis.getAction()).contains(action);
		});
	}

	@Test
	void shardsWithoutRecordsAreACountNamesOrABean() {
		this.runner
			.withPropertyValues("shardkeeper.topics.orders.source=fixed", "shardkeeper.topics.visits.source=fixed",
					"shardkeeper.topics.visits.shards=1", "shardkeeper.topics.visits.names=acme,globex",
					"shardkeeper.topics.visits.weights.globex=3", "shardkeeper.topics.mails.source=fixed",
					"shardkeeper.topics.mails.names-bean=mailboxes", "shardkeeper.topics.mails.weights.inbox=2")
			.withBean("mailboxes", ShardNames.class, () -> (topic) -> Set.of(topic + "-1"))
			.run((context) -> {
				SourceRegistry sources = context.getBean(SourceRegistry.class);
				assertThat(sources.topics()).containsOnly(Map.entry("orders", TopicShards.count(2).exactly()),
						Map.entry("visits", TopicShards.ids(Set.of("acme", "globex")).exactly()),
						Map.entry("mails", TopicShards.ids(Set.of("mails-1")).exactly()));
				assertThat(sources.hasRecords("orders")).isFalse();
				assertThatIllegalArgumentException()
					.isThrownBy(() -> context.getBean(ShardTemplate.class).send("orders", "key", "an order"))
					.withMessageContaining("takes no records");
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					names=acme,no name   | The name 'no name' in 'shardkeeper.topics.orders.names' is not valid | Use 1 to 100 letters
					names=acme,acme      | 'shardkeeper.topics.orders.names' contains 'acme' twice              | Name each shard once
					names=               | 'shardkeeper.topics.orders.names' is empty                           | Name at least one shard
					names=${no.tenants:} | 'shardkeeper.topics.orders.names' is empty                           | check that it is set
					names=,weights.b=2   | 'shardkeeper.topics.orders.names' is empty                           | Name at least one shard
					names-bean=nobody    | is 'nobody', but there is no ShardNames bean of that name             | Write one of mailboxes
					shards=2,names=a     | more than one of 'shards', 'names' and 'names-bean'                  | Keep one of them
					names=a,weights.b=2  | 'shardkeeper.topics.orders.weights.b' is set, but the topic has no shard 'b' | Its shards are a
					start=latest         | orders.start' is set, but the source 'fixed' has no records          | Remove the property
					reset=stop           | orders.reset' is set, but the source 'fixed' has no records          | Remove the property
					trim.max-length=5    | orders.trim' is set, but the source 'fixed' has no records           | Remove the property
					selector=a           | orders.selector' is set, but the source 'fixed' has no records       | Remove the property
					schedule.cron=nope   | 'nope' of 'shardkeeper.topics.orders.schedule.cron' is not valid     | Write six fields
					schedule.cron=@yearly,schedule.interval=1s | schedule.interval' are set                     | Keep one of them
					schedule.missed-after=10ms | 'shardkeeper.topics.orders.schedule.missed-after' is 10ms      | Set it to 1s or more
					""")
	void invalidFixedShardsFailStartup(String properties, String description, String action) {
		ApplicationContextRunner fixed = this.runner
			.withPropertyValues("shardkeeper.topics.orders.source=fixed", "shardkeeper.topics.orders.shards=1")
			.withBean("mailboxes", ShardNames.class, () -> (topic) -> Set.of())
			.withBean(Looping.class);
		for (String property : properties.split(",(?=[a-z.-]+=)")) {
			fixed = fixed.withPropertyValues("shardkeeper.topics.orders." + property);
		}
		fixed.run((context) -> {
			FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).isNotNull();
			assertThat(analysis.getDescription()).contains(description);
			assertThat(analysis.getAction()).contains(action);
		});
	}

	@Test
	void handlerOfRecordsOnFixedShardsFailsStartup() {
		this.runner.withPropertyValues("shardkeeper.topics.visits.source=fixed")
			.withBean(Recorder.class)
			.run((context) -> {
				FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
				assertThat(analysis.getDescription())
					.contains("Recorder.visit(String) takes records, but the topic 'visits' has none");
			});
	}

	static class Looping {

		@ShardConsumer(value = "orders", interval = "1h")
		void run() {
		}

	}

	static class OrdersOnly {

		@ShardConsumer("orders")
		void order(String payload) {
		}

	}

	static class Recorder {

		private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();

		private final BlockingQueue<String> visits = new LinkedBlockingQueue<>();

		@ShardConsumer("orders")
		void order(String payload) {
			this.orders.add(payload);
		}

		@ShardConsumer("visits")
		void visit(String payload) {
			this.visits.add(payload);
		}

	}

}
