package io.github.shardkeeper.worker.commit;

import java.util.Collection;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitBasis;
import io.github.shardkeeper.checkpoint.CheckpointStore.ExpiredKeys;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;
import io.github.shardkeeper.state.StateSource;
import io.github.shardkeeper.worker.shard.OwnedShard;

/** State of an owned shard in the store, as the owner's commits have made it. */
public final class OwnedStateSource implements StateSource {

	private final CheckpointStore checkpoints;

	private final ShardId shard;

	private final Token token;

	private final CommitNumbers numbers;

	private final long acquisition;

	public OwnedStateSource(OwnedShard owned, CommitNumbers numbers) {
		this.checkpoints = owned.context().checkpoints();
		this.shard = owned.shard();
		this.token = owned.token();
		this.numbers = numbers;
		// Calls on other threads ask for it, and nothing is acquired again meanwhile.
		this.acquisition = numbers.acquisition();
	}

	@Override
	public boolean readsSnapshots() {
		return this.checkpoints.transactions(this.shard.topic()) != null;
	}

	private CommitBasis basis() {
		return new CommitBasis(this.token, this.numbers.acknowledged(), this.acquisition);
	}

	@Override
	public @Nullable Map<String, String> entries(Collection<String> keys) {
		return this.checkpoints.ownedEntries(this.shard, basis(), keys);
	}

	@Override
	public @Nullable Set<String> keys(String prefix, long nowMillis) {
		return this.checkpoints.ownedKeys(this.shard, basis(), prefix, nowMillis);
	}

	@Override
	public @Nullable ExpiredKeys expired(@Nullable String after, long nowMillis) {
		return this.checkpoints.expiredKeys(this.shard, basis(), after, nowMillis);
	}

}
