package io.github.shardkeeper.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.testsupport.Promise;

class RejectedHandlersTests {

	private final ApplicationContextRunner redis = ShardkeeperAutoConfigurationTests.onRedis();

	private final ApplicationContextRunner memory = this.redis.withPropertyValues("shardkeeper.store=memory");

	@Test
	@Promise("Clear errors")
	void unknownPlaceholderInHandlerFailsStartup() {
		this.memory.withBean(OfUnknownTopic.class)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"OfUnknownTopic.handle(String) is '${nope}'", "'${name:default}'"));
	}

	@Test
	@Promise("Clear errors")
	void handlerWithoutRecordParameterFailsStartup() {
		String broadcast = "shardkeeper.topics.orders.mode=broadcast";
		for (ApplicationContextRunner runner : List.of(this.memory, this.memory.withPropertyValues(broadcast),
				this.redis, this.redis.withPropertyValues(broadcast))) {
			runner.withBean(Forgetful.class)
				.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
						"Forgetful.handle(ShardContext, ShardState) takes no record", "interval = \"10s\""));
		}
	}

	@Test
	@Promise("Clear errors")
	void unknownTopicFailsStartup() {
		this.memory.withUserConfiguration(UnknownTopic.class)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(), "'parcels'",
					"shardkeeper.topics.[parcels].shards"));
		this.memory.withUserConfiguration(UnknownTopic.class)
			.withPropertyValues("shardkeeper.topics.parcel.shards=2")
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(), "Did you mean 'parcel'?",
					"correct the name"));
	}

	@Test
	void twoHandlersForOneTopicFailStartup() {
		this.memory.withUserConfiguration(TwoHandlers.class)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"two @ShardConsumer methods", "Keep one"));
	}

	@Test
	void unsupportedSignatureFailsStartup() {
		this.memory.withUserConfiguration(BadSignature.class)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"BadHandler.handle(String, Integer)", "each at most once"));
	}

	static class OfUnknownTopic {

		@ShardConsumer("${nope}")
		void handle(String payload) {
		}

	}

	static class Forgetful {

		@ShardConsumer("orders")
		void handle(ShardContext shard, ShardState state) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UnknownTopic {

		@ShardConsumer("parcels")
		void handle(String payload) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoHandlers {

		@ShardConsumer("orders")
		void one(String payload) {
		}

		@ShardConsumer("orders")
		void two(String payload) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BadSignature {

		@Bean
		BadHandler badHandler() {
			return new BadHandler();
		}

	}

	static class BadHandler {

		@ShardConsumer("orders")
		void handle(String payload, Integer another) {
		}

	}

}
