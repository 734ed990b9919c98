package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.redis.testsupport.RedisKeys;

/**
 * The data plane of one group on the Redis that all tests share, by a clock that stands
 * still until it is moved.
 */
public final class RedisDataServer implements StoreServer {

	private static final DataScripts SCRIPTS = DataScripts.load("settable-data-clock.lua");

	private static final String PREFIX = "test";

	private final String group;

	private final RedisKeys keys;

	private final StringRedisTemplate template = new StringRedisTemplate(RedisClients.sharedFactory());

	private Instant now = Instant.parse("2026-01-01T00:00:00Z");

	RedisDataServer(String group) {
		this.group = group;
		this.keys = new RedisKeys(PREFIX + ":{" + group + "/");
		advance(Duration.ZERO);
	}

	CheckpointStore store() {
		return store(this.group);
	}

	/** By the clock that is set for the group. */
	public static CheckpointStore store(String group) {
		return new RedisCheckpointStore(RedisClients.sharedConnector(), PREFIX, group, Duration.ofSeconds(60),
				ReplicaWait.NONE, SCRIPTS);
	}

	DeadLetterStore letters() {
		return letters(this.group);
	}

	/** By the clock that is set for the group. */
	public static DeadLetterStore letters(String group) {
		return new RedisDeadLetterStore(RedisClients.sharedConnector(), PREFIX, group, Duration.ofSeconds(60), SCRIPTS);
	}

	@Override
	public void advance(Duration duration) {
		this.now = this.now.plus(duration);
		this.template.opsForValue()
			.set("clock:" + PREFIX + ":{" + this.group + "}",
					Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, this.now)));
	}

	@Override
	public Object snapshot() {
		return this.keys.snapshot();
	}

	@Override
	public void loseWritesSince(Object snapshot) {
		this.keys.restore(snapshot);
	}

	@Override
	public void empty() {
		this.keys.delete();
	}

}
