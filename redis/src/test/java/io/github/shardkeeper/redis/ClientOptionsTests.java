package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.List;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.codec.StringCodec;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class ClientOptionsTests {

	private static final RedisStandaloneConfiguration ADDRESS = new RedisStandaloneConfiguration("127.0.0.1",
			EmbeddedRedis.shared().port());

	private static final LettuceClientConfiguration APPLICATIONS = LettuceClientConfiguration.builder()
		.clientOptions(ClientOptions.builder().requestQueueSize(7).pingBeforeActivateConnection(false).build())
		.build();

	@Test
	void customizersChangeTheOptionsOfTheOwnClientOnly() {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(ADDRESS, APPLICATIONS);
		factory.afterPropertiesSet();
		factory.start();
		RedisConnector connector = new RedisConnector(factory,
				List.of((options) -> options.requestQueueSize(8), (options) -> options.requestQueueSize(9)));
		try {
			ClientOptions options = connector.open(StringCodec.UTF8, Duration.ofSeconds(30)).stateful().getOptions();

			assertThat(options.getRequestQueueSize()).isEqualTo(9);
			assertThat(options.isPingBeforeActivateConnection()).as("of the application").isFalse();
			assertThat(factory.getRequiredNativeClient().getOptions().getRequestQueueSize()).isEqualTo(7);
		}
		finally {
			connector.stop();
			factory.destroy();
		}
	}

	@Test
	void optionsOfALentClientCannotBeCustomized() {
		LettuceConnectionFactory subclass = new LettuceConnectionFactory(ADDRESS, APPLICATIONS) {
		};

		ShardkeeperConfigurationException failure = catchThrowableOfType(ShardkeeperConfigurationException.class,
				() -> new RedisConnector(subclass, List.of((options) -> options.requestQueueSize(8))));

		assertThat(failure).hasMessageContaining("RedisClientOptionsCustomizer");
		assertThat(failure.getAction()).contains("Set the options on that factory");
	}

}
