package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.DeadLetter;
import io.github.shardkeeper.DeadLetterFilter;
import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application whose Redis user loses one right while it consumes recovers when the
 * right is back, and state, dead letters and offset are exact.
 */
@Tag("proof")
@Promise({ "Nothing lost", "State exactly once" })
class RefusedCommitsTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final ShardId SHARD = ShardId.of("orders", 0);

	private static final int OF_EACH = 10;

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=1",
			"shardkeeper.consumer.commit.interval=10ms", "shardkeeper.consumer.retry.max-attempts=1",
			"shardkeeper.consumer.on-failure=retry-queue", "shardkeeper.consumer.retry-queue.delays=1ms",
			"spring.data.redis.port=" + this.redis.port());

	@AfterEach
	void close() {
		this.instances.started().forEach(ConfigurableApplicationContext::close);
		this.redis.close();
	}

	@ParameterizedTest
	@EnumSource(value = CommandType.class, names = { "HSET", "HDEL", "ZADD", "ZREM", "XADD" })
	void refusedCommitLosesNothingOnceRightIsBack(CommandType command) {
		ConfigurableApplicationContext instance = this.instances.start(Application.class, "one");
		ShardTemplate template = instance.getBean(ShardTemplate.class);
		for (int i = 0; i < OF_EACH; i++) {
			template.send("orders", "k", "bad");
			template.send("orders", "k", "good");
		}
		Application application = instance.getBean(Application.class);
		Awaitility.await().atMost(PATIENCE).until(() -> application.called.getCount() == 0);
		acl(AclSetuserArgs.Builder.removeCommand(command));

		application.gate.countDown();
		Awaitility.await()
			.atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(10))
			.until(() -> instance.getBean(ShardkeeperHealthIndicator.class).health().getDetails().toString(),
					(details) -> details.contains("commit.lua"));
		acl(AclSetuserArgs.Builder.addCommand(command));

		DeadLetters letters = instance.getBean(DeadLetters.class);
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(letters.list(DeadLetterFilter.topic("orders"), null, 100).letters())
				.extracting(DeadLetter::offset)
				.hasSize(OF_EACH)
				.doesNotHaveDuplicates();
			assertThat(letters.waiting("orders")).containsEntry(SHARD, 0L);
			assertThat(instance.getBean(ShardStateReader.class).read(SHARD, Long.class))
				.isEqualTo(Map.of("good", (long) OF_EACH));
		});
	}

	private void acl(AclSetuserArgs rule) {
		this.redis.call((commands) -> commands.aclSetuser("default", rule));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		private final CountDownLatch called = new CountDownLatch(1);

		private final CountDownLatch gate = new CountDownLatch(1);

		@ShardConsumer("orders")
		void handle(String payload, ShardState state) throws InterruptedException {
			this.called.countDown();
			this.gate.await();
			state.increment(payload, 1);
			if (payload.equals("bad")) {
				throw new IllegalStateException("bad");
			}
			state.put("last", payload);
			state.remove("last");
		}

	}

}
