package io.github.shardkeeper.redis;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.junit.jupiter.api.Test;

import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;

import static org.assertj.core.api.Assertions.assertThat;

@OnEveryRedis
class RedisClockTests {

	@Test
	void timeIsThatOfRedisToTheMicrosecond() {
		Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
		Instant time = new RedisClock(RedisClients.sharedConnector()).instant();

		assertThat(time).isBetween(before, Instant.now());
		assertThat(time).isEqualTo(time.truncatedTo(ChronoUnit.MICROS));
	}

}
