package io.github.shardkeeper.neighbours;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cloud.stream.binder.test.TestChannelBinderConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;

import io.github.shardkeeper.ShardConsumer;

/** An application with much of what Spring offers, and one handler. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableAsync
@EnableScheduling
@EnableCaching
@EnableJpaRepositories(considerNestedRepositories = true)
@EntityScan
@EnableWebSocketMessageBroker
@Import(TestChannelBinderConfiguration.class)
class Application implements WebSocketMessageBrokerConfigurer {

	@Override
	public void configureMessageBroker(MessageBrokerRegistry registry) {
		registry.enableSimpleBroker("/topic").setHeartbeatValue(new long[] { 0, 0 });
	}

	@Override
	public void registerStompEndpoints(StompEndpointRegistry registry) {
		registry.addEndpoint("/stomp");
	}

	@Bean
	Events events() {
		return new Events();
	}

	/** The only function, which Spring Cloud Stream finds by its type alone. */
	@Bean
	Consumer<String> audit(Events events) {
		return events.audited::add;
	}

	@Bean
	Jobs jobs() {
		return new Jobs();
	}

	@Bean
	Ticks ticks(Events events) {
		return new Ticks(events);
	}

	@Bean
	Orders orders(Events events) {
		return new Orders(events);
	}

	/** What has happened. */
	static class Events {

		final BlockingQueue<String> audited = new LinkedBlockingQueue<>();

		final BlockingQueue<String> handled = new LinkedBlockingQueue<>();

		final CompletableFuture<String> schedulingThread = new CompletableFuture<>();

	}

	static class Jobs {

		@Async
		CompletableFuture<String> threadName() {
			return CompletableFuture.completedFuture(Thread.currentThread().getName());
		}

		@Cacheable("names")
		public String name(long id) {
			return "name " + id;
		}

	}

	static class Ticks {

		private final Events events;

		Ticks(Events events) {
			this.events = events;
		}

		@Scheduled(fixedDelay = 60_000)
		void tick() {
			this.events.schedulingThread.complete(Thread.currentThread().getName());
		}

	}

	static class Orders {

		private final Events events;

		Orders(Events events) {
			this.events = events;
		}

		@ShardConsumer("orders")
		void handle(String order) {
			this.events.handled.add(order);
		}

	}

	@Entity(name = "customers")
	static class Customer {

		@Id
		private Long id;

		Long id() {
			return this.id;
		}

	}

	interface Customers extends JpaRepository<Customer, Long> {

	}

}
