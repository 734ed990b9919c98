package io.github.shardkeeper.coordination.redis;

import java.time.Duration;
import java.time.Instant;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.DeadLetterStore;
import io.github.shardkeeper.coordination.StoreServer;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.testsupport.RedisClients;
import io.github.shardkeeper.testsupport.RedisKeys;

/**
 * The data plane of one group on the Redis that all tests share, by a clock that stands
 * still until it is moved.
 */
final class RedisDataServer implements StoreServer {

	static final DataScripts SCRIPTS = DataScripts.load("settable-data-clock.lua");

	private final String group;

	private final RedisKeys keys;

	private final RedisSettableClock clock;

	RedisDataServer(String group) {
		this.group = group;
		this.keys = new RedisKeys(RedisServer.PREFIX + ":{" + group + "/");
		this.clock = new RedisSettableClock(group, Instant.parse("2026-01-01T00:00:00Z"));
	}

	CheckpointStore store() {
		return new RedisCheckpointStore(RedisClients.sharedConnector(), RedisServer.PREFIX, this.group,
				Duration.ofSeconds(10), ReplicaWait.NONE, SCRIPTS);
	}

	DeadLetterStore letters() {
		return new RedisDeadLetterStore(RedisClients.sharedConnector(), RedisServer.PREFIX, this.group,
				Duration.ofSeconds(10), SCRIPTS);
	}

	@Override
	public void advance(Duration duration) {
		this.clock.advance(duration);
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
