package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.actuate.ShardsEndpoint;
import io.github.shardkeeper.assignment.Assignment;
import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.load.LoadMeasure;
import io.github.shardkeeper.assignment.rules.RangeAssignment;
import io.github.shardkeeper.assignment.selection.PerTopicAssignment;
import io.github.shardkeeper.assignment.sticky.StickyAssignment;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.report.GroupReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/** Strategies and loads from properties and beans. */
class AssignmentSettingsTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=orders",
				"shardkeeper.topics.orders.shards=3", "shardkeeper.topics.audit.shards=2",
				"management.endpoints.web.exposure.include=shards");

	@Test
	void defaultStrategyIsSticky() {
		this.memory.run((context) -> {
			AssignmentSettings settings = context.getBean(AssignmentSettings.class);
			assertThat(settings.strategy()).isInstanceOf(StickyAssignment.class);
			assertThat(settings.name()).isEqualTo("sticky");
			assertThat(settings.foreign()).isFalse();
			assertThat(settings.timeout()).isEqualTo(Duration.ofSeconds(5));
			assertThat(settings.catalog()).isSameAs(ShardCatalog.PLAIN);
			assertThat(context.getBean(CoordinationSettings.class).capacity()).isEqualTo(1);
			assertThat(context.getBean(CoordinationSettings.class).zone()).isNull();
		});
	}

	@Test
	void builtInStrategyIsSelectedByName() {
		this.memory
			.withPropertyValues("shardkeeper.assignment.strategy=range", "shardkeeper.assignment.capacity=4",
					"shardkeeper.assignment.zone=eu-1", "shardkeeper.topics.audit.strategy=range")
			.run((context) -> {
				AssignmentSettings settings = context.getBean(AssignmentSettings.class);
				assertThat(settings.strategy()).isInstanceOf(RangeAssignment.class);
				assertThat(settings.name()).isEqualTo("range");
				assertThat(settings.foreign()).isFalse();
				assertThat(context.getBean(CoordinationSettings.class).capacity()).isEqualTo(4);
				assertThat(context.getBean(CoordinationSettings.class).zone()).isEqualTo("eu-1");
			});
	}

	@Test
	void loadAwareStrategyIsConfigured() {
		this.memory.withPropertyValues("shardkeeper.topics.audit.strategy=load-aware").run((context) -> {
			AssignmentSettings settings = context.getBean(AssignmentSettings.class);
			assertThat(settings.strategy().usesLoad()).isTrue();
			assertThat(settings.foreign()).isFalse();
			assertThat(settings.loads())
				.isEqualTo(new LoadReporting(LoadMeasure.HANDLER_TIME, Duration.ofSeconds(10), 5));
		});
		this.memory
			.withPropertyValues("shardkeeper.assignment.strategy=load-aware",
					"shardkeeper.assignment.load.measure=records", "shardkeeper.assignment.load.report-interval=1m",
					"shardkeeper.assignment.load.gain=400")
			.run((context) -> assertThat(context.getBean(AssignmentSettings.class).loads())
				.isEqualTo(new LoadReporting(LoadMeasure.RECORDS, Duration.ofMinutes(1), 100)));
		this.memory
			.run((context) -> assertThat(context.getBean(AssignmentSettings.class).strategy().usesLoad()).isFalse());
	}

	@Test
	void invalidLoadSettingsFailStartup() {
		Map.of("report-interval=10ms", "100ms or more", "difference=0", "above 0, in ms/s of handler time",
				"difference-share=1", "0 to 0.99", "gain=51",
				"at most half of 'shardkeeper.assignment.load.difference'", "cool-down=-1s", "0s or more",
				"moves-per-plan=0", "1 or more")
			.forEach((setting, remedy) -> this.memory.withPropertyValues("shardkeeper.assignment.load." + setting)
				.run((context) -> assertThat(context.getStartupFailure()).rootCause()
					.isInstanceOf(ShardkeeperConfigurationException.class)
					.hasMessageContaining(
							"'shardkeeper.assignment.load." + setting.substring(0, setting.indexOf('=')) + "'")
					.hasMessageContaining(remedy)));
	}

	@Test
	void topicOverridesStrategy() {
		this.memory.withPropertyValues("shardkeeper.topics.audit.strategy=circle").run((context) -> {
			AssignmentSettings settings = context.getBean(AssignmentSettings.class);
			assertThat(settings.strategy()).isInstanceOf(PerTopicAssignment.class);
			assertThat(settings.name()).isEqualTo("sticky, audit: circle");
			assertThat(settings.foreign()).isFalse();
		});
	}

	@Test
	void strategyBeanReplacesDefault() {
		this.memory.withUserConfiguration(OwnStrategy.class)
			.withPropertyValues("shardkeeper.assignment.timeout=2s")
			.run((context) -> {
				AssignmentSettings settings = context.getBean(AssignmentSettings.class);
				assertThat(settings.strategy()).isSameAs(context.getBean("wholeTopics"));
				assertThat(settings.name()).isEqualTo("wholeTopics");
				assertThat(settings.foreign()).isTrue();
				assertThat(settings.timeout()).isEqualTo(Duration.ofSeconds(2));
			});
	}

	@Test
	void propertyOverridesStrategyBean() {
		this.memory.withUserConfiguration(OwnStrategy.class)
			.withPropertyValues("shardkeeper.assignment.strategy=sticky")
			.run((context) -> assertThat(context.getBean(AssignmentSettings.class).foreign()).isFalse());
	}

	@Test
	void topicSelectsStrategyBeanByName() {
		this.memory.withUserConfiguration(OwnStrategy.class)
			.withPropertyValues("shardkeeper.assignment.strategy=sticky",
					"shardkeeper.topics.audit.strategy=wholeTopics")
			.run((context) -> {
				AssignmentSettings settings = context.getBean(AssignmentSettings.class);
				assertThat(settings.name()).isEqualTo("sticky, audit: wholeTopics");
				assertThat(settings.foreign()).isTrue();
			});
	}

	@Test
	void primaryStrategyBeanIsUsed() {
		this.memory.withUserConfiguration(OwnStrategy.class, PrimaryStrategy.class)
			.run((context) -> assertThat(context.getBean(AssignmentSettings.class).name()).isEqualTo("primary"));
	}

	@Test
	void severalStrategyBeansRequireAName() {
		ApplicationContextRunner two = this.memory.withUserConfiguration(OwnStrategy.class, AnotherStrategy.class);

		two.run((context) -> assertStartupFailed(context.getStartupFailure(), "another, wholeTopics", "@Primary"));
		two.withPropertyValues("shardkeeper.assignment.strategy=another")
			.run((context) -> assertThat(context.getBean(AssignmentSettings.class).name()).isEqualTo("another"));
		two.withPropertyValues("shardkeeper.assignment.strategy=anotter")
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "'anotter'",
					"incremental, another, wholeTopics"));
	}

	@Test
	void strategyBeanMustNotHaveTheNameOfABuiltInOne() {
		this.memory.withBean("range", AssignmentStrategy.class, RangeAssignment::new)
			.run((context) -> assertStartupFailed(context.getStartupFailure(), "bean 'range'", "another name"));
	}

	@Test
	void shardPropertiesOverrideCatalogBean() {
		String[] settings = { "shardkeeper.topics.orders.weights.0=7", "shardkeeper.topics.orders.zones.1=eu-1",
				"shardkeeper.topics.orders.pinned.1=host-12" };
		this.memory.withPropertyValues(settings).run((context) -> {
			AssignmentSettings assignment = context.getBean(AssignmentSettings.class);
			assertThat(assignment.foreign()).isFalse();
			assertThat(traits(assignment, "orders", 0)).isEqualTo(new ShardTraits(7, null, null));
			assertThat(traits(assignment, "orders", 1)).isEqualTo(new ShardTraits(1, "eu-1", "host-12"));
			assertThat(traits(assignment, "orders", 2)).isEqualTo(ShardTraits.NONE);
			assertThat(traits(assignment, "audit", 0)).isEqualTo(ShardTraits.NONE);
		});
		this.memory.withPropertyValues(settings)
			.withBean(ShardCatalog.class, () -> (shard) -> new ShardTraits(3, "us-1", null))
			.run((context) -> {
				AssignmentSettings assignment = context.getBean(AssignmentSettings.class);
				assertThat(assignment.foreign()).isTrue();
				assertThat(traits(assignment, "orders", 0)).isEqualTo(new ShardTraits(7, "us-1", null));
				assertThat(traits(assignment, "orders", 1)).isEqualTo(new ShardTraits(3, "eu-1", "host-12"));
				assertThat(traits(assignment, "audit", 0)).isEqualTo(new ShardTraits(3, "us-1", null));
			});
	}

	@Test
	void healthAndEndpointReportFailingStrategy() {
		this.memory.withUserConfiguration(OneHandler.class)
			.withBean("forgetful", AssignmentStrategy.class, () -> (request) -> Assignment.builder(request).build())
			.withPropertyValues("shardkeeper.assignment.capacity=2", "shardkeeper.assignment.zone=eu-1",
					"shardkeeper.session.lease=1500ms")
			.run((context) -> {
				ShardkeeperHealthIndicator indicator = context.getBean(ShardkeeperHealthIndicator.class);
				Awaitility.await().until(() -> indicator.health().getDetails().containsKey("assignment"));
				Health health = indicator.health();
				assertThat(health.getStatus()).isEqualTo(Status.DOWN);
				assertThat(health.getDetails().get("assignment").toString()).contains("'forgetful' throws",
						"leaves 3 consumed shards without an owner", "Correct it");
				ShardsEndpoint endpoint = context.getBean(ShardsEndpoint.class);
				Awaitility.await().untilAsserted(() -> {
					GroupReport group = endpoint.groups().groups().get(0);
					assertThat(group.shards()).hasSize(3)
						.allSatisfy((shard) -> assertThat(shard.why()).startsWith("orders/" + shard.id() + " ")
							.contains(group.self()));
					assertThat(group.members()).singleElement().satisfies((member) -> {
						assertThat(member.capacity()).isEqualTo(2);
						assertThat(member.zone()).isEqualTo("eu-1");
					});
				});
			});
	}

	private static ShardTraits traits(AssignmentSettings assignment, String topic, int shard) {
		return assignment.catalog().traits(ShardId.of(topic, shard));
	}

	private static void assertStartupFailed(Throwable failure, String names, String fix) {
		FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(failure);
		assertThat(analysis).as("analysis of %s", failure).isNotNull();
		assertThat(analysis.getCause()).isInstanceOf(ShardkeeperConfigurationException.class);
		assertThat(analysis.getDescription()).contains(names);
		assertThat(analysis.getAction()).contains(fix);
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnStrategy {

		@Bean
		AssignmentStrategy wholeTopics() {
			return (request) -> new StickyAssignment().assign(request);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AnotherStrategy {

		@Bean
		AssignmentStrategy another() {
			return (request) -> new StickyAssignment().assign(request);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryStrategy {

		@Bean
		@Primary
		AssignmentStrategy primary() {
			return (request) -> new StickyAssignment().assign(request);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OneHandler {

		final CompletableFuture<String> received = new CompletableFuture<>();

		@ShardConsumer("orders")
		void handle(String payload) {
			this.received.complete(payload);
		}

	}

}
