package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.stream.LongStream;

import io.lettuce.core.resource.ClientResources;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.EmbeddedGroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An orderly stop is one, also if the application's connection factory stops before the
 * consumers: each record is handled once.
 */
@ExtendWith(OutputCaptureExtension.class)
class ConnectionFactoryPhaseTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final int RECORDS = 200;

	private static final int BEFORE_THE_STOP = 40;

	/** Calls by record, of both instances. */
	private static final Map<Long, Integer> CALLS = new ConcurrentHashMap<>();

	/** Of calls to return. */
	private static final Semaphore PERMITS = new Semaphore(0);

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=4",
			"shardkeeper.redis.trust-empty=true", "shardkeeper.consumer.commit.interval=1h");

	@BeforeEach
	void forgetCalls() {
		CALLS.clear();
		PERMITS.drainPermits();
	}

	@ParameterizedTest
	@CsvSource({ "2147483647, true", "2147483647, false", "2, true", "-2147483648, true" })
	void orderlyStopRepeatsNoRecord(int phase, boolean sharedThreads, CapturedOutput output) {
		String[] properties = { "test.phase=" + phase, "test.shared-threads=" + sharedThreads };
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one", properties);
		ShardTemplate template = one.getBean(ShardTemplate.class);
		LongStream.range(0, RECORDS).forEach((number) -> template.send("orders", "key-" + number, number));
		PERMITS.release(BEFORE_THE_STOP);
		Awaitility.await().atMost(PATIENCE).until(() -> CALLS.size() == BEFORE_THE_STOP);

		CompletableFuture<Void> stop = CompletableFuture.runAsync(one::close);
		Awaitility.await().atMost(PATIENCE).until(one::isClosed);
		// Calls are running until now.
		PERMITS.release(RECORDS);
		stop.join();

		this.instances.start(Application.class, "two", properties);
		Awaitility.await().atMost(PATIENCE).until(() -> CALLS.size() == RECORDS);
		assertThat(CALLS.values()).containsOnly(1);
		assertThat(output.getOut()).contains("Left group").doesNotContain("ERROR", "Could not release");
	}

	@Test
	void contextThatIsStartedAgainConsumes() {
		PERMITS.release();
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one",
				"test.phase=" + Integer.MAX_VALUE, "test.shared-threads=false");

		one.stop();
		one.start();

		one.getBean(ShardTemplate.class).send("orders", "key", 1L);
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(CALLS).containsExactlyEntriesOf(Map.of(1L, 1)));
		assertThat(one.getBean(ShardCoordinator.class).isConnected()).isTrue();
	}

	/** Its client may be of another kind, so it has to be used. */
	@Test
	void factoryThatCannotBeCopiedMustStopLater() {
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> this.instances.start(WithSubclass.class, "one", "test.phase=2"))
			.havingRootCause()
			.isInstanceOf(ShardkeeperConfigurationException.class)
			.withMessageContaining("its phase is 2")
			.withMessageContaining(OwnFactory.class.getName());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		LettuceConnectionFactory redis(@Value("${spring.data.redis.port}") int port, @Value("${test.phase}") int phase,
				@Value("${test.shared-threads}") boolean sharedThreads, ClientResources threads) {
			LettuceClientConfiguration.LettuceClientConfigurationBuilder client = LettuceClientConfiguration.builder();
			if (sharedThreads) {
				client.clientResources(threads);
			}
			LettuceConnectionFactory factory = new LettuceConnectionFactory(
					new RedisStandaloneConfiguration("127.0.0.1", port), client.build());
			factory.setPhase(phase);
			return factory;
		}

		@ShardConsumer("orders")
		void handle(long number) throws InterruptedException {
			PERMITS.acquire();
			CALLS.merge(number, 1, Integer::sum);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class WithSubclass {

		@Bean
		LettuceConnectionFactory redis(@Value("${spring.data.redis.port}") int port,
				@Value("${test.phase}") int phase) {
			LettuceConnectionFactory factory = new OwnFactory(port);
			factory.setPhase(phase);
			return factory;
		}

		@ShardConsumer("orders")
		void handle(long number) {
		}

	}

	static final class OwnFactory extends LettuceConnectionFactory {

		OwnFactory(int port) {
			super("127.0.0.1", port);
		}

	}

}
