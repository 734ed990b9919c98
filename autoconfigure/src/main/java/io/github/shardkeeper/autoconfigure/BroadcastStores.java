package io.github.shardkeeper.autoconfigure;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Mode;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Offsets;
import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CheckpointsByTopic;
import io.github.shardkeeper.coordination.CoordinationSettings;
import io.github.shardkeeper.coordination.DeadLetterStore;
import io.github.shardkeeper.coordination.DeadLettersByTopic;
import io.github.shardkeeper.coordination.local.LocalCheckpointStore;
import io.github.shardkeeper.shard.ShardId;

/**
 * The data plane of the broadcast topics, which is this instance's own, and how it comes
 * between everybody and the group's. Thread-safe.
 */
final class BroadcastStores implements AutoCloseable {

	private final Set<String> topics;

	private final @Nullable Stores stores;

	/**
	 * Opens it if there are such topics.
	 * @param store opens it in the store that is configured, under the name of the group
	 * that this instance is for its broadcast topics: no group can be called like that
	 */
	BroadcastStores(ShardkeeperProperties properties, CoordinationSettings settings, Function<String, Stores> store) {
		Set<String> names = new TreeSet<>();
		properties.topics().forEach((name, topic) -> {
			if (topic.mode() == Mode.BROADCAST) {
				names.add(name);
			}
		});
		this.topics = Set.copyOf(names);
		if (names.isEmpty()) {
			this.stores = null;
		}
		else if (properties.broadcast().offsets() == Offsets.LOCAL) {
			Path directory = Objects.requireNonNull(properties.broadcast().directory());
			LocalCheckpointStore local = new LocalCheckpointStore(directory, settings.group(), settings.instance());
			this.stores = new Stores(local, local.deadLetters());
		}
		else {
			this.stores = store.apply(settings.group() + "~" + settings.instance());
		}
	}

	/** The topics of which every instance consumes every shard. */
	Set<String> topics() {
		return this.topics;
	}

	/** The group's data plane, but for these topics. */
	CheckpointStore over(CheckpointStore group) {
		return (this.stores != null) ? new CheckpointsByTopic(group, this.topics, this.stores.checkpoints()) : group;
	}

	/** The group's dead letters, but for these topics. */
	DeadLetterStore over(DeadLetterStore group) {
		return (this.stores != null) ? new DeadLettersByTopic(group, this.topics, this.stores.letters()) : group;
	}

	/** Tells whoever consumes shards: the group's owners, or this instance. */
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

	/**
	 * Both parts of a data plane.
	 *
	 * @param checkpoints the checkpoints
	 * @param letters their dead letters
	 */
	record Stores(CheckpointStore checkpoints, DeadLetterStore letters) {

	}

}
