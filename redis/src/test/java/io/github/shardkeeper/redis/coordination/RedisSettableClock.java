package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.testsupport.RedisClients;

/**
 * One group on the Redis that all tests share, whose scripts go by a clock that stands
 * still until it is moved, and do a few things only at once.
 */
final class RedisSettableClock extends RedisServer {

	private static final ControlScripts SCRIPTS = ControlScripts.load("settable-clock.lua");

	private final StringRedisTemplate template = new StringRedisTemplate(RedisClients.sharedFactory());

	private final String group;

	private Instant now;

	RedisSettableClock(String group, Instant now) {
		super(group);
		this.group = group;
		setTime(now);
	}

	CoordinationStore store(int batch) {
		return new RedisCoordinationStore(RedisClients.sharedConnector(), PREFIX, this.group, Duration.ofSeconds(60),
				ReplicaWait.NONE, false, SCRIPTS, batch, batch);
	}

	void setTime(Instant time) {
		this.now = time;
		this.template.opsForValue()
			.set("clock:" + PREFIX + ":{" + this.group + "}",
					Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, time)));
	}

	@Override
	public void advance(Duration duration) {
		setTime(this.now.plus(duration));
	}

}
