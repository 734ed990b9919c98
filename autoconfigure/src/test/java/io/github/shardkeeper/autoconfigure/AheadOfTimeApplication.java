package io.github.shardkeeper.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.coordination.store.CoordinationStore;

/**
 * Application that is processed ahead of time and run as a process of its own.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ ShardkeeperBuildTimeAutoConfiguration.class, ShardkeeperAutoConfiguration.class,
		DataRedisAutoConfiguration.class, JacksonAutoConfiguration.class })
public class AheadOfTimeApplication {

	public static void main(String[] args) {
		try (ConfigurableApplicationContext context = SpringApplication.run(AheadOfTimeApplication.class, args)) {
			System.out.println("Started with " + context.getBeanProvider(CoordinationStore.class)
				.stream()
				.map((store) -> store.getClass().getSimpleName())
				.toList());
		}
	}

	@Bean
	Handler handler() {
		return new Handler();
	}

	@Bean
	ApplicationRunner sending(ObjectProvider<ShardTemplate> template, Handler handler) {
		return (args) -> {
			ShardTemplate found = template.getIfAvailable();
			if (found != null) {
				found.send("orders", "key", "hello");
				System.out.println("Handled " + handler.handled.get(20, TimeUnit.SECONDS));
			}
		};
	}

	static class Handler {

		private final CompletableFuture<String> handled = new CompletableFuture<>();

		@ShardConsumer("orders")
		void handle(String payload) {
			this.handled.complete(payload);
		}

	}

}
