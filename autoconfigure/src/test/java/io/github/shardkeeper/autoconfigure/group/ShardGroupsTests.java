package io.github.shardkeeper.autoconfigure.group;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import com.example.Tenants;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.HealthContributors;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardConsumers;
import io.github.shardkeeper.ShardGroups;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardsEndpoint;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.autoconfigure.ShardkeeperActuatorAutoConfiguration;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Groups of {@code shardkeeper.groups} beside the one without a name, and without it. */
@ExtendWith(OutputCaptureExtension.class)
class ShardGroupsTests {

	private static final String INVOICES = "shardkeeper.groups.billing.topics.invoices.shards=3";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperGroupsAutoConfiguration.class,
						ShardkeeperActuatorAutoConfiguration.class, JacksonAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "management.endpoints.web.exposure.include=*");

	private final ApplicationContextRunner onlyNamed = this.runner
		.withPropertyValues("spring.application.name=shop", INVOICES)
		.withUserConfiguration(OfBilling.class);

	private final ApplicationContextRunner both = this.onlyNamed
		.withPropertyValues("shardkeeper.group=shop", "shardkeeper.topics.orders.shards=2")
		.withUserConfiguration(OfShop.class);

	@Test
	void handlersConsumeTheTopicsOfTheirGroup() {
		this.both.run((context) -> {
			ShardGroups groups = context.getBean(ShardGroups.class);
			assertThat(groups.names()).containsExactly("billing");
			assertThat(context.getBean(ShardConsumers.class).registrations()).containsOnlyKeys("orders");
			assertThat(groups.get("billing", ShardConsumers.class).registrations()).containsOnlyKeys("invoices");

			context.getBean(ShardTemplate.class).send("orders", "key", "one");
			groups.get("billing", ShardTemplate.class).send("invoices", "key", "two");

			awaitCalls(context.getBean(Orders.class).calls, "one");
			awaitCalls(context.getBean(Invoices.class).calls, "two");
		});
	}

	@Test
	void groupsNeedNoGroupWithoutName() {
		this.onlyNamed.run((context) -> {
			assertThat(context).hasNotFailed().doesNotHaveBean(ShardConsumers.class);
			ShardGroups groups = context.getBean(ShardGroups.class);
			groups.get("billing", ShardTemplate.class).send("invoices", "key", "two");

			awaitCalls(context.getBean(Invoices.class).calls, "two");
			assertThat(
					context.getBean(ShardsEndpoint.class).topic("invoices", null, null, null, null, null, null, null))
				.isNotNull();
		});
	}

	@Test
	void beansOfTheApplicationAreSharedWhateverTheirNames() {
		this.both.withUserConfiguration(Tenants.class).run((context) -> {
			context.getBean(ShardGroups.class).get("billing", ShardTemplate.class).send("invoices", "key", "two");

			awaitCalls(context.getBean(Tenants.class).intercepted, "invoices");
		});
	}

	/** One thread, because a pool of several is free to choose. */
	@Test
	void groupsWithTheSameSettingsOfThreadsShareThem() {
		ApplicationContextRunner oneThread = this.both.withPropertyValues("spring.threads.virtual.enabled=false",
				"shardkeeper.consumer.threads=1");
		oneThread.run((context) -> assertThat(threadOfOrders(context)).isSameAs(threadOfInvoices(context)));
		oneThread.withPropertyValues("shardkeeper.groups.billing.consumer.thread-name-prefix=billing-")
			.run((context) -> {
				assertThat(threadOfOrders(context).getName()).isEqualTo("shardkeeper-worker-1");
				assertThat(threadOfInvoices(context).getName()).isEqualTo("billing-1");
			});
	}

	private static Thread threadOfOrders(ApplicationContext context) {
		context.getBean(ShardTemplate.class).send("orders", "key", "one");
		awaitCalls(context.getBean(Orders.class).calls, "one");
		return context.getBean(Orders.class).thread;
	}

	private static Thread threadOfInvoices(ApplicationContext context) {
		context.getBean(ShardGroups.class).get("billing", ShardTemplate.class).send("invoices", "key", "two");
		awaitCalls(context.getBean(Invoices.class).calls, "two");
		return context.getBean(Invoices.class).thread;
	}

	@Test
	@Tag("proof")
	void objectIsRegisteredWithAGroup() {
		this.both.withPropertyValues("shardkeeper.groups.billing.topics.notes.shards=1").run((context) -> {
			ShardGroups groups = context.getBean(ShardGroups.class);
			ShardConsumers billing = groups.get("billing", ShardConsumers.class);
			Notes notes = new Notes();
			billing.register(notes);
			groups.get("billing", ShardTemplate.class).send("notes", "key", "three");

			awaitCalls(notes.calls, "three");
			assertThatExceptionOfType(ShardkeeperConfigurationException.class)
				.isThrownBy(() -> context.getBean(ShardConsumers.class).register(new Invoices()))
				.withMessageContaining("is of the group '${group:billing}', and cannot be registered with another");
		});
	}

	@Test
	void groupInheritsWhatItDoesNotSet() {
		this.both
			.withPropertyValues("shardkeeper.consumer.threadNamePrefix=of-all-", "shardkeeper.version=7",
					"shardkeeper.groups.billing.version=8", "shardkeeper.kafka.mirror-group=shop")
			.run((context) -> {
				ShardGroups groups = context.getBean(ShardGroups.class);
				ShardkeeperProperties billing = groups.get("billing", ShardkeeperProperties.class);
				assertThat(billing.group()).isEqualTo("billing");
				assertThat(billing.consumer().threadNamePrefix()).isEqualTo("of-all-");
				assertThat(billing.version()).isEqualTo("8");
				assertThat(billing.topics()).containsOnlyKeys("invoices");
				assertThat(billing.kafka().mirrorGroup()).isNull();
				assertThat(context.getBean(ShardkeeperProperties.class).version()).isEqualTo("7");
				assertThat(context.getBean(CoordinationSettings.class).instance())
					.isNotEqualTo(groups.get("billing", CoordinationSettings.class).instance());
			});
	}

	@Test
	void endpointHealthAndMetersHaveEachGroup() {
		this.both.run((context) -> {
			ShardsEndpoint endpoint = context.getBean(ShardsEndpoint.class);
			assertThat(endpoint.groups().groups()).extracting("group").containsExactly("shop", "billing");
			assertThat(endpoint.groups(null, null, null, null, null, null, null, "billing").groups())
				.extracting("group")
				.containsExactly("billing");
			assertThat(endpoint.topic("invoices", null, null, null, null, null, null, "billing")).isNotNull();
			assertThat(endpoint.topic("invoices", null, null, null, null, null, null, null)).isNull();
			assertThatExceptionOfType(InvalidEndpointRequestException.class)
				.isThrownBy(() -> endpoint.shard("invoices", "0", "bill"))
				.withMessageContaining("There is no group 'bill'; the groups are [shop, billing]");
			assertThat(context).hasSingleBean(ShardkeeperHealthIndicator.class);
			assertThat(context.getBean("shardkeeperGroupsHealthContributor", GroupsHealth.class)
				.stream()
				.map(HealthContributors.Entry::name)).containsExactly("billing");
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			assertThat(meters.find("shardkeeper.leader").gauges()).extracting((meter) -> meter.getId().getTag("group"))
				.containsExactlyInAnyOrder("shop", "billing");
		});
	}

	@Test
	void callsReturnBeforeBeansAreDestroyed() {
		this.runner
			.withPropertyValues("spring.application.name=shop", "shardkeeper.groups.billing.topics.bookings.shards=1")
			.withUserConfiguration(WithLedger.class)
			.run((context) -> {
				Ledger ledger = context.getBean(Ledger.class);
				NamedGroups groups = context.getBean(NamedGroups.class);
				groups.get("billing", ShardTemplate.class).send("bookings", "key", "two");
				Awaitility.await().until(() -> ledger.seen.contains("called"));

				Thread closing = new Thread(
						() -> context.getSourceApplicationContext(ConfigurableApplicationContext.class).close());
				closing.start();
				Awaitility.await().until(() -> !groups.isRunning());
				ledger.mayReturn.countDown();
				closing.join();

				assertThat(ledger.seen).containsExactly("called", "returned", "destroyed");
			});
	}

	@Test
	void stoppedApplicationConsumesNothingUntilItStartsAgain() {
		this.onlyNamed.run((context) -> {
			ShardGroups groups = context.getBean(ShardGroups.class);
			ShardTemplate template = groups.get("billing", ShardTemplate.class);
			context.stop();
			assertThat(groups.get("billing", ShardConsumers.class).registrations().get("invoices").state())
				.isEqualTo(ShardConsumers.State.STOPPED);
			template.send("invoices", "key", "two");
			context.start();

			awaitCalls(context.getBean(Invoices.class).calls, "two");
		});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					shardkeeper.groups.shop.topics.a.shards=1      | 'shardkeeper.groups.shop' has the name                 | Set 'shardkeeper.group' to another
					shardkeeper.groups.billing.topics.x.shards=0   | In the group 'billing': 'shardkeeper.groups.billing.topics.x.shards' | from 1 to 100000
					shardkeeper.groups.billing.group=bills         | 'shardkeeper.groups.billing.group' is set              | the name of the group is 'billing'
					shardkeeper.groups.billing.store=redis         | 'shardkeeper.groups.billing.store' is set              | Set 'shardkeeper.store' instead
					shardkeeper.groups.billing.topics.orders.shards=2 | The topic 'orders' is in memory and of two groups, '' and 'billing' | 'shardkeeper.store: redis'
					invoices=invocies                              | In the group 'billing'                                 | 'shardkeeper.groups.billing.topics.
					shardkeeper.groups.[a b].topics.x.shards=1     | 'shardkeeper.groups'                                   | Use 1 to 100 letters
					""")
	void wrongGroupsFailStartup(String property, String problem, String fix) {
		this.both.withPropertyValues(property)
			.run((context) -> assertFailed(context.getStartupFailure(), problem, fix));
	}

	@Test
	void unknownPropertyOfAGroupIsNamedAsItIsWritten(CapturedOutput output) {
		ApplicationContextRunner unknown = this.both.withPropertyValues("shardkeeper.groups.billing.session.leese=3s",
				"shardkeeper.strict-properties=false");
		unknown.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("'shardkeeper.groups.billing.session.leese'")
				.contains("Write 'shardkeeper.groups.billing.session.lease', or remove it");
		});
		unknown.withPropertyValues("shardkeeper.strict-properties=true")
			.run((context) -> assertFailed(context.getStartupFailure(), "'shardkeeper.groups.billing.session.leese'",
					"Write 'shardkeeper.groups.billing.session.lease'"));
	}

	@Test
	void unknownPropertyBesideGroupsIsReported(CapturedOutput output) {
		this.onlyNamed.withPropertyValues("shardkeeper.grups=3")
			.run((context) -> assertThat(output).contains("'shardkeeper.grups'",
					"Write 'shardkeeper.groups', or remove it"));
	}

	@Test
	void settingOfAGroupWithoutEffectIsNamedAsItIsWritten(CapturedOutput output) {
		this.both
			.withPropertyValues("shardkeeper.groups.billing.session.away-timeout=1m",
					"shardkeeper.redis.wait-timeout=1s")
			.run((context) -> assertThat(output)
				.contains("'shardkeeper.groups.billing.session.away-timeout' is set, but has no effect")
				.contains("'shardkeeper.redis.wait-timeout' is set, but has no effect")
				.doesNotContain("'shardkeeper.groups.billing.redis.wait-timeout'"));
	}

	@Test
	void handlerOfAnUnknownGroupFailsStartup() {
		this.runner.withPropertyValues("shardkeeper.group=shop", "shardkeeper.groups.bilings.topics.invoices.shards=1")
			.withUserConfiguration(OfBilling.class)
			.run((context) -> assertFailed(context.getStartupFailure(),
					"is of the group 'billing', which is not configured; known groups: [bilings]. Did you mean 'bilings'?",
					"Configure its topics below 'shardkeeper.groups.billing', or correct the name"));
	}

	@Test
	void handlerWithoutAGroupFailsStartupIfAllHaveNames() {
		this.onlyNamed.withUserConfiguration(OfShop.class)
			.run((context) -> assertFailed(context.getStartupFailure(),
					"names no group, and this application has only groups with a name: [billing]",
					"Write one of them as 'group'"));
	}

	@Test
	@Tag("proof")
	void groupIsAskedForByItsNameOnceItExists() {
		this.both.run((context) -> {
			ShardGroups groups = context.getBean(ShardGroups.class);
			assertThatIllegalArgumentException().isThrownBy(() -> groups.get("biling", ShardConsumers.class))
				.withMessageContaining("There is no group 'biling'", "[billing]", "Did you mean 'billing'?");
			assertThatIllegalArgumentException().isThrownBy(() -> groups.get("billing", Map.class))
				.withMessageContaining("has no java.util.Map");
		});
		this.both.withUserConfiguration(TooEarly.class)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(IllegalStateException.class)
				.hasMessageContaining("does not exist yet"));
	}

	private static void awaitCalls(List<String> calls, String... expected) {
		Awaitility.await().untilAsserted(() -> assertThat(calls).containsExactly(expected));
	}

	private static void assertFailed(Throwable failure, String problem, String fix) {
		assertThat(failure).isNotNull();
		FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(failure);
		assertThat(analysis).as("analysis of %s", failure).isNotNull();
		assertThat(analysis.getDescription() + " " + analysis.getAction()).contains(problem, fix);
	}

	static class Orders {

		private final List<String> calls = new CopyOnWriteArrayList<>();

		private volatile Thread thread;

		@ShardConsumer("orders")
		void handle(String order) {
			this.thread = Thread.currentThread();
			this.calls.add(order);
		}

	}

	static class Invoices {

		private final List<String> calls = new CopyOnWriteArrayList<>();

		private volatile Thread thread;

		@ShardConsumer(value = "${invoices:invoices}", group = "${group:billing}")
		void handle(String invoice) {
			this.thread = Thread.currentThread();
			this.calls.add(invoice);
		}

	}

	/** Names no group. */
	static class Notes {

		private final List<String> calls = new CopyOnWriteArrayList<>();

		@ShardConsumer("notes")
		void handle(String note) {
			this.calls.add(note);
		}

	}

	static class Ledger implements DisposableBean {

		private final List<String> seen = new CopyOnWriteArrayList<>();

		private final CountDownLatch mayReturn = new CountDownLatch(1);

		@Override
		public void destroy() {
			this.seen.add("destroyed");
		}

	}

	static class Bookings {

		private final Ledger ledger;

		Bookings(Ledger ledger) {
			this.ledger = ledger;
		}

		@ShardConsumer(value = "bookings", group = "billing")
		void book(String booking) throws InterruptedException {
			this.ledger.seen.add("called");
			this.ledger.mayReturn.await();
			this.ledger.seen.add("returned");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WithLedger {

		@Bean
		Ledger ledger() {
			return new Ledger();
		}

		@Bean
		Bookings bookings(Ledger ledger) {
			return new Bookings(ledger);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TooEarly {

		@Bean
		Runnable early(ShardGroups groups) {
			return groups.get("billing", ShardConsumers.class)::registrations;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfBilling {

		@Bean
		Invoices invoices() {
			return new Invoices();
		}

		@Bean
		SimpleMeterRegistry meters() {
			return new SimpleMeterRegistry();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfShop {

		@Bean
		Orders orders() {
			return new Orders();
		}

	}

}
