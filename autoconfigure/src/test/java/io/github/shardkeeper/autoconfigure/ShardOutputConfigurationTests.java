package io.github.shardkeeper.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardOutput;
import io.github.shardkeeper.ShardTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** Handlers that take a {@code ShardOutput}, on the memory store. */
class ShardOutputConfigurationTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
		.withUserConfiguration(Application.class)
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.orders.shards=2",
				"shardkeeper.topics.invoices.shards=2", "shardkeeper.topics.jobs.source=fixed",
				"shardkeeper.consumer.retry.max-attempts=1");

	@Test
	void recordsGoThroughAPipeline() {
		this.memory.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			context.getBean(ShardTemplate.class).send("orders", "ann", "1");
			context.getBean(ShardTemplate.class).send("orders", "ann", "2");

			Awaitility.await()
				.untilAsserted(() -> assertThat(shop.invoices).containsExactly("invoice of 1", "invoice of 2"));
		});
	}

	@Test
	void topicThatCannotTellWhatItHasIsRefused() {
		this.memory.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			shop.target = "jobs";
			context.getBean(ShardTemplate.class).send("orders", "ann", "1");

			Awaitility.await().until(() -> !shop.failures.isEmpty());
			assertThat(shop.failures.get(0)).hasMessageContaining("sends to the topic 'jobs', whose source 'fixed'")
				.hasMessageContaining("Send with ShardTemplate");
		});
	}

	@Test
	void unknownTopicIsRefused() {
		this.memory.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			shop.target = "invoice";
			context.getBean(ShardTemplate.class).send("orders", "ann", "1");

			Awaitility.await().until(() -> !shop.failures.isEmpty());
			assertThat(shop.failures.get(0)).hasMessageContaining("ShardOutput").hasMessageContaining("'invoice'");
		});
	}

	@Test
	void broadcastTopicFailsStartup() {
		this.memory.withPropertyValues("shardkeeper.topics.orders.mode=broadcast")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("takes a ShardOutput, but 'shardkeeper.topics.orders.mode' is 'broadcast'"));
	}

	@Test
	void limitsAreChecked() {
		this.memory.withPropertyValues("shardkeeper.outbox.max-records=0")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'shardkeeper.outbox.max-records' is 0"));
		this.memory.withPropertyValues("shardkeeper.outbox.max-size=1KB")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("less than 'shardkeeper.max-record-size'"));
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Shop shop() {
			return new Shop();
		}

		@Bean
		Invoices invoices(Shop shop) {
			return new Invoices(shop);
		}

	}

	static final class Shop {

		private final List<String> invoices = new CopyOnWriteArrayList<>();

		private final List<RuntimeException> failures = new CopyOnWriteArrayList<>();

		private volatile String target = "invoices";

		@ShardConsumer("orders")
		void order(String order, ShardOutput output) {
			try {
				output.send(this.target, "ann", "invoice of " + order);
			}
			catch (RuntimeException ex) {
				this.failures.add(ex);
				throw ex;
			}
		}

	}

	record Invoices(Shop shop) {

		@ShardConsumer("invoices")
		void invoice(String invoice) {
			this.shop.invoices.add(invoice);
		}

	}

}
