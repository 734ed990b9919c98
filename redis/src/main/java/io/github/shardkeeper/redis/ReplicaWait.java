package io.github.shardkeeper.redis;

import java.time.Duration;

import io.lettuce.core.RedisException;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Replicas that must have a change before it counts. Immutable.
 *
 * @param replicas number of replicas; 0 for none
 */
public record ReplicaWait(int replicas, Duration timeout) {

	/** A change counts as soon as the master has it. */
	public static final ReplicaWait NONE = new ReplicaWait(0, Duration.ZERO);

	boolean isNone() {
		return this.replicas == 0;
	}

	void check(long have) {
		if (have < this.replicas) {
			String problem = "only %d of %d replicas have a change after %d ms, and a failover could lose it; bring replicas back, or lower 'shardkeeper.redis.wait-for-replicas'"
				.formatted(have, this.replicas, this.timeout.toMillis());
			throw new StoreUnavailableException("Redis: " + problem, new RedisException(problem));
		}
	}

}
