package io.github.shardkeeper.endtoend;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.actuate.ShardkeeperHealthIndicator;
import io.github.shardkeeper.operations.reporting.GroupReporter;
import io.github.shardkeeper.test.EmbeddedGroup;
import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reports of a running application that Redis no longer admits: the reason, once in the
 * log, in health and on the endpoint; and it recovers automatically with its rights.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("proof")
@Promise("Clear errors")
class LostAccessTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final RedisClient CLIENT = RedisClient.create();

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final StatefulRedisConnection<String, String> admin = CLIENT
		.connect(RedisURI.create("127.0.0.1", this.redis.port()));

	@RegisterExtension
	private final EmbeddedGroup instances = EmbeddedGroup.onRedis("shardkeeper.topics.orders.shards=3",
			"spring.data.redis.port=" + this.redis.port());

	@AfterEach
	void close() {
		this.instances.started().forEach(ConfigurableApplicationContext::close);
		this.admin.close();
		this.redis.close();
	}

	@Test
	void changedPasswordIsReported(CapturedOutput output) {
		configure("requirepass", "old");
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one",
				"spring.data.redis.password=old", "management.health.shardkeeper.outage-tolerance=0s");
		awaitUp(one);
		configure("requirepass", "new");
		closeConnections();

		assertSaid(one, output, "WRONGPASS");

		configure("requirepass", "old");
		awaitUp(one);
		awaitOver(output);
	}

	@Test
	void deletedUserIsReported(CapturedOutput output) {
		String user = "user-" + UUID.randomUUID();
		createUser(user);
		ConfigurableApplicationContext one = this.instances.start(Application.class, "one",
				"spring.data.redis.username=" + user, "spring.data.redis.password=secret",
				"management.health.shardkeeper.outage-tolerance=0s");
		awaitUp(one);
		// Closes the user's connections, too.
		this.redis.call((commands) -> commands.aclDeluser(user));

		assertSaid(one, output, "WRONGPASS");

		createUser(user);
		awaitUp(one);
		awaitOver(output);
	}

	private void createUser(String name) {
		this.redis.call((commands) -> commands.aclSetuser(name,
				AclSetuserArgs.Builder.on().addPassword("secret").allKeys().allChannels().allCommands()));
	}

	private static void assertSaid(ConfigurableApplicationContext instance, CapturedOutput output, String cause) {
		Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
			assertThat(health(instance).getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(instance).getDetails().get("reason")).asString()
				.contains("The lease is not held", cause, "spring.data.redis.username");
			assertThat(instance.getBean(GroupReporter.class).report().error()).contains(cause);
		});
		List<String> said = output.getOut()
			.lines()
			.filter((line) -> line.contains(cause))
			.map((line) -> line.substring(line.indexOf(" : ")))
			.toList();
		assertThat(said).isNotEmpty().doesNotHaveDuplicates();
		assertThat(output.getOut()).doesNotContain("\tat ");
	}

	private static void awaitUp(ConfigurableApplicationContext instance) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(health(instance).getStatus()).isEqualTo(Status.UP));
	}

	private static void awaitOver(CapturedOutput output) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(output.getOut()).containsOnlyOnce("The store replies again"));
	}

	private static Health health(ConfigurableApplicationContext instance) {
		return instance.getBean(ShardkeeperHealthIndicator.class).health();
	}

	/** On one connection for all of them, which is in whatever the password is. */
	private void configure(String name, String value) {
		this.admin.sync().configSet(name, value);
	}

	private void closeConnections() {
		for (String type : List.of("normal", "pubsub")) {
			this.admin.sync()
				.dispatch(CommandType.CLIENT, new IntegerOutput<>(StringCodec.UTF8),
						new CommandArgs<>(StringCodec.UTF8).add("KILL").add("TYPE").add(type).add("SKIPME").add("yes"));
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@ShardConsumer("orders")
		void handle(String payload) {
		}

	}

}
