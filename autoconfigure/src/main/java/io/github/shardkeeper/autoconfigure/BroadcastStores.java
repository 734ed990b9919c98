package io.github.shardkeeper.autoconfigure;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.CheckpointsByTopic;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.DeadLettersByTopic;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.shard.ShardId;

/**
 * Data plane of the broadcast topics. It belongs to this instance alone and replaces the
 * group's data plane for these topics. Thread-safe.
 */
final class BroadcastStores implements AutoCloseable {

	private final Set<String> topics;

	private final @Nullable Stores stores;

	/**
	 * Opens the data plane if there are broadcast topics.
	 * @param store opens it under a name of this instance, which no group can have
	 */
	BroadcastStores(Set<String> topics, CoordinationSettings settings, Function<String, Stores> store) {
		this.topics = topics;
		this.stores = topics.isEmpty() ? null : store.apply(settings.group() + "~" + settings.instance());
	}

	Set<String> topics() {
		return this.topics;
	}

	/** Returns the group's data plane, with that of this instance for these topics. */
	CheckpointStore over(CheckpointStore group) {
		return (this.stores != null) ? new CheckpointsByTopic(group, this.topics, this.stores.checkpoints()) : group;
	}

	DeadLetterStore over(DeadLetterStore group) {
		return (this.stores != null) ? new DeadLettersByTopic(group, this.topics, this.stores.letters()) : group;
	}

	/** Returns a consumer that notifies the owners of shards, or this instance. */
	Consumer<Collection<ShardId>> owners(Consumer<Collection<ShardId>> group, Consumer<Collection<ShardId>> instance) {
		return (shards) -> {
			Set<ShardId> own = new TreeSet<>(shards);
			own.removeIf((shard) -> !this.topics.contains(shard.topic()));
			Set<ShardId> others = new TreeSet<>(shards);
			others.removeAll(own);
			if (!own.isEmpty()) {
				instance.accept(own);
			}
			if (!others.isEmpty()) {
				group.accept(others);
			}
		};
	}

	@Override
	public void close() {
		if (this.stores != null) {
			this.stores.letters().close();
			this.stores.checkpoints().close();
		}
	}

	record Stores(CheckpointStore checkpoints, DeadLetterStore letters) {

	}

}
