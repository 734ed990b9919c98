package io.github.shardkeeper.worker.shard;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.shardkeeper.parking.ParkedKeys;
import io.github.shardkeeper.shard.ShardId;

/**
 * Records that wait behind failing ones of their keys, in the shards of a topic that this
 * instance consumes, as far as their workers know it. Thread-safe.
 */
public final class ParkedTotals {

	private final Map<ShardId, Size> shards = new ConcurrentHashMap<>();

	/** Takes over what waits in a shard. */
	public void update(ShardId shard, ParkedKeys parked) {
		if (parked.records() == 0) {
			this.shards.remove(shard);
		}
		else {
			this.shards.put(shard, new Size(parked.keys(), parked.records(), parked.used()));
		}
	}

	/** Removes a shard that is not consumed here any more. */
	public void remove(ShardId shard) {
		this.shards.remove(shard);
	}

	/** Returns the number of keys; each record without a key counts as one. */
	public long keys() {
		return this.shards.values().stream().mapToLong(Size::keys).sum();
	}

	/** Returns the number of records, those that have failed included. */
	public long records() {
		return this.shards.values().stream().mapToLong(Size::records).sum();
	}

	/** Returns how much of its bounds the fullest shard uses: with 1 it halts. */
	public double used() {
		return this.shards.values().stream().mapToDouble(Size::used).max().orElse(0);
	}

	private record Size(int keys, int records, double used) {

	}

}
