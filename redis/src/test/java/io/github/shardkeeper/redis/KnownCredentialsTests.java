package io.github.shardkeeper.redis;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The client has the credentials at once, on its own thread.
 */
class KnownCredentialsTests {

	private final KnownCredentials credentials = new KnownCredentials();

	@Test
	void passwordOfTheDefaultUser() {
		RedisStandaloneConfiguration redis = new RedisStandaloneConfiguration();
		redis.setPassword("secret");

		assertThat(now(redis)).satisfies((known) -> {
			assertThat(known.hasUsername()).isFalse();
			assertThat(known.getPassword()).containsExactly("secret".toCharArray());
		});
	}

	@Test
	void userWithAndWithoutPassword() {
		RedisStandaloneConfiguration redis = new RedisStandaloneConfiguration();
		redis.setUsername("jane");

		assertThat(now(redis)).satisfies((known) -> {
			assertThat(known.getUsername()).isEqualTo("jane");
			assertThat(known.getPassword()).isEmpty();
		});

		redis.setPassword("secret");

		assertThat(now(redis).getPassword()).containsExactly("secret".toCharArray());
	}

	@Test
	void none() {
		assertThat(now(new RedisStandaloneConfiguration())).satisfies((known) -> {
			assertThat(known.hasUsername()).isFalse();
			assertThat(known.hasPassword()).isFalse();
		});
	}

	@Test
	void sentinelsHaveTheirOwn() {
		RedisSentinelConfiguration redis = new RedisSentinelConfiguration();
		redis.setPassword("secret");

		assertThat(now(redis).getPassword()).containsExactly("secret".toCharArray());
		assertThat(now(this.credentials.createSentinelCredentialsProvider(redis)).hasPassword()).isFalse();

		redis.setSentinelPassword("other");

		assertThat(now(this.credentials.createSentinelCredentialsProvider(redis)).getPassword())
			.containsExactly("other".toCharArray());
	}

	private RedisCredentials now(RedisConfiguration redis) {
		return now(this.credentials.createCredentialsProvider(redis));
	}

	private static RedisCredentials now(RedisCredentialsProvider provider) {
		assertThat(provider).isInstanceOf(ImmediateRedisCredentialsProvider.class);
		return ((ImmediateRedisCredentialsProvider) provider).resolveCredentialsNow();
	}

}
