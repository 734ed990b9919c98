package io.github.shardkeeper.checkpoint;

import java.time.Instant;

/**
 * Timer of a shard that has not fired yet. Immutable.
 *
 * @param id what identifies it
 * @param due when it is due by the clock of the owner that has set it, in milliseconds
 */
public record StoredTimer(TimerId id, Instant due) {

}
