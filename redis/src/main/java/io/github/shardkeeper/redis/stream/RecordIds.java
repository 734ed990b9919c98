package io.github.shardkeeper.redis.stream;

import java.time.Duration;

/**
 * How long the ids of records are remembered. Immutable.
 *
 * @param retention the time for which an id is remembered, at least 1 ms
 * @param maxCount the number of ids of a shard that are remembered for that long; at most
 * twice as many are stored
 */
public record RecordIds(Duration retention, int maxCount) {

	public static final RecordIds DEFAULT = new RecordIds(Duration.ofMinutes(10), 100_000);

}
