package io.github.shardkeeper.redis;

import java.lang.reflect.Proxy;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Whoever has another client learns what to write, and nothing that has no effect. */
class OtherClientsTests {

	/** As Redisson's, which takes the place of Spring Boot's. */
	@Test
	void factoryOfAnotherLibraryNeedsOneOfLettuceBesideIt() {
		RedisConnectionFactory other = (RedisConnectionFactory) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class }, (proxy, method, arguments) -> null);

		ShardkeeperConfigurationException failure = catchThrowableOfType(ShardkeeperConfigurationException.class,
				() -> new RedisConnector(other));

		assertThat(failure).hasMessageContaining(other.getClass().getName());
		assertThat(failure.getAction()).contains("Define a LettuceConnectionFactory bean for Shardkeeper",
				"@ShardkeeperRedis", "defaultCandidate = false", "the application keeps its client");
	}

}
