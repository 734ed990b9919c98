package io.github.shardkeeper.autoconfigure.store;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.checkpoint.memory.MemoryCheckpointStore;
import io.github.shardkeeper.checkpoint.memory.MemoryDeadLetterStore;
import io.github.shardkeeper.checkpoint.routing.RoutingCheckpointStore;
import io.github.shardkeeper.checkpoint.routing.RoutingDeadLetterStore;
import io.github.shardkeeper.coordination.member.CoordinationSettings;
import io.github.shardkeeper.shard.ShardId;

/**
 * Data plane of the broadcast topics. It belongs to this instance alone and replaces the
 * group's data plane for these topics: in the store for topics that resume, otherwise in
 * the memory of this application context. Thread-safe.
 */
public final class BroadcastStores implements AutoCloseable {

	private final Set<String> topics;

	private final List<Part> parts = new ArrayList<>();

	/**
	 * Opens the data plane, as far as there are topics for it.
	 * @param stored opens it in the store under a name of this instance, which no group
	 * can have
	 * @param inMemory creates the checkpoints of topics that do not resume
	 */
	BroadcastStores(ShardkeeperSettings settings, CoordinationSettings coordination, Function<String, Stores> stored,
			Supplier<MemoryCheckpointStore> inMemory) {
		this.topics = settings.broadcastTopics();
		Set<String> resuming = settings.resumingTopics();
		if (!resuming.isEmpty()) {
			this.parts.add(new Part(resuming, stored.apply(coordination.group() + "~" + coordination.instance())));
		}
		Set<String> others = new TreeSet<>(this.topics);
		others.removeAll(resuming);
		if (!others.isEmpty()) {
			this.parts.add(new Part(others, inMemory(inMemory.get())));
		}
	}

	static Stores inMemory(MemoryCheckpointStore checkpoints) {
		return new Stores(checkpoints, new MemoryDeadLetterStore(checkpoints));
	}

	public Set<String> topics() {
		return this.topics;
	}

	/** Returns the group's data plane, with that of this instance for these topics. */
	public CheckpointStore over(CheckpointStore group) {
		CheckpointStore all = group;
		for (Part part : this.parts) {
			all = new RoutingCheckpointStore(all, part.topics(), part.stores().checkpoints());
		}
		return all;
	}

	public DeadLetterStore over(DeadLetterStore group) {
		DeadLetterStore all = group;
		for (Part part : this.parts) {
			all = new RoutingDeadLetterStore(all, part.topics(), part.stores().letters());
		}
		return all;
	}

	/** Returns a consumer that notifies the owners of shards, or this instance. */
	public Consumer<Collection<ShardId>> owners(Consumer<Collection<ShardId>> group,
			Consumer<Collection<ShardId>> instance) {
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
		this.parts.forEach((part) -> {
			part.stores().letters().close();
			part.stores().checkpoints().close();
		});
	}

	record Stores(CheckpointStore checkpoints, DeadLetterStore letters) {

	}

	private record Part(Set<String> topics, Stores stores) {

	}

}
