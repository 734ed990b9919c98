package io.github.shardkeeper.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** Threads on which handlers are called. */
class CallThreadsTests {

	@Test
	void namesOfThreadsBeginWithTheConfiguredPrefix() {
		Handler handler = new Handler();
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(ShardkeeperAutoConfiguration.class, JacksonAutoConfiguration.class))
			.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop",
					"shardkeeper.topics.orders.shards=1", "shardkeeper.consumer.thread-name-prefix=orders-")
			.withBean(Handler.class, () -> handler)
			.run((context) -> {
				context.getBean(ShardTemplate.class).send("orders", "key", "an order");

				assertThat(handler.thread.get(20, TimeUnit.SECONDS)).startsWith("orders-");
			});
	}

	static class Handler {

		private final CompletableFuture<String> thread = new CompletableFuture<>();

		@ShardConsumer("orders")
		void handle(String order) {
			this.thread.complete(Thread.currentThread().getName());
		}

	}

}
