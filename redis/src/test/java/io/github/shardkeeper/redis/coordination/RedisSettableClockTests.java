package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

import io.github.shardkeeper.coordination.store.ClockStories;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.coordination.store.CoordinationStoreContract;
import io.github.shardkeeper.coordination.store.StoreServer;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;

/**
 * The same scripts by a clock that can be set, in small batches.
 */
@OnEveryRedis
class RedisSettableClockTests extends CoordinationStoreContract implements ClockStories {

	private RedisSettableClock server;

	@Override
	protected CoordinationStore createStore() {
		this.server = new RedisSettableClock(UUID.randomUUID().toString(), Instant.parse("2026-01-01T00:00:00Z"));
		return this.server.store(50);
	}

	@Override
	protected StoreServer server() {
		return this.server;
	}

	@Override
	public void turnClockBack(Duration duration) {
		this.server.advance(duration.negated());
	}

}
