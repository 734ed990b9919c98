package io.github.shardkeeper.handover;

import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * Which holdings the store has to confirm, because it has lost what it knew: all that ran
 * then. Those that it tells about by itself are confirmed; the others are to be claimed.
 * Not thread-safe: confined to the coordinator's loop.
 */
final class Confirmations {

	private final Set<ShardId> missing = new TreeSet<>();

	void require(Map<ShardId, Holding> holdings) {
		holdings.forEach((shard, holding) -> {
			if (holding.runs()) {
				this.missing.add(shard);
			}
		});
	}

	void confirm(ShardId shard) {
		this.missing.remove(shard);
	}

	/** Everything else is let go of. */
	void retain(Set<ShardId> granted) {
		this.missing.retainAll(granted);
	}

	void clear() {
		this.missing.clear();
	}

	/** What is not confirmed and still runs, with the tokens to claim it under. */
	SortedMap<ShardId, Token> missing(Map<ShardId, Holding> holdings) {
		SortedMap<ShardId, Token> claims = new TreeMap<>();
		this.missing.forEach((shard) -> {
			Holding holding = holdings.get(shard);
			if (holding != null && holding.runs()) {
				claims.put(shard, holding.token());
			}
		});
		return claims;
	}

}
