package io.github.shardkeeper;

import java.time.Instant;
import java.util.Objects;

/**
 * Timer that is due, as an {@link OnShardTimer} method gets it. Immutable.
 *
 * @param key the key for which it was set
 * @param name its name among the timers of the key
 * @param dueAt the time for which it was set, in whole milliseconds; the call is later,
 * perhaps by much if no instance was running
 */
public record ShardTimer(String key, String name, Instant dueAt) {

	public ShardTimer {
		Objects.requireNonNull(key, "key must not be null");
		Objects.requireNonNull(name, "name must not be null");
		Objects.requireNonNull(dueAt, "dueAt must not be null");
	}

}
