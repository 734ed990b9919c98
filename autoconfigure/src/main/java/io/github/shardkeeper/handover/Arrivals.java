package io.github.shardkeeper.handover;

import java.util.HashMap;
import java.util.Map;

import io.github.shardkeeper.assignment.Shards;
import io.github.shardkeeper.shard.ShardId;

/**
 * When a leader first saw the shards that came while it led: nobody could have owned them
 * before. Confined to the coordinator's loop.
 */
final class Arrivals {

	private final Map<ShardId, Long> since = new HashMap<>();

	private Shards seen = Shards.NONE;

	private boolean begun;

	private long leadsSinceMillis;

	/** A leadership begins: what it finds has been there before, for all it knows. */
	void begin(long nowMillis) {
		this.since.clear();
		this.seen = Shards.NONE;
		this.begun = false;
		this.leadsSinceMillis = nowMillis;
	}

	/** These are there now. Costs nothing while they are the same as before. */
	void saw(Shards shards, long nowMillis) {
		if (shards == this.seen) {
			return;
		}
		if (this.begun) {
			for (ShardId shard : shards.asList()) {
				if (this.seen.indexOf(shard) < 0) {
					this.since.putIfAbsent(shard, nowMillis);
				}
			}
		}
		this.since.keySet().removeIf((shard) -> shards.indexOf(shard) < 0);
		this.begun = true;
		this.seen = shards;
	}

	/**
	 * Since when a shard that never had an owner could have had one, in the store's time.
	 */
	long sinceMillis(ShardId shard) {
		return this.since.getOrDefault(shard, this.leadsSinceMillis);
	}

}
