package io.github.shardkeeper.consumer;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.GroupPositions;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Start positions of shards for which the group has no offset. "Latest" is the time at
 * which the group first consumed the topic. The store keeps it for new shards, and for
 * the next owner of a shard whose first owner ended without a commit: neither misses a
 * record. Thread-safe.
 */
public final class StartPositions implements ShardStarts.Positions {

	/** Time during which a reply of the store is reused: many shards start together. */
	private static final Duration FRESH = Duration.ofSeconds(1);

	private final SourceRegistry sources;

	private final CheckpointStore checkpoints;

	/** By topic, without those that start with the first record. */
	private final Map<String, StartPosition> positions;

	private final MonotonicClock clock;

	/** Resolved "latest" positions by topic. */
	private final Map<String, Moment> moments = new ConcurrentHashMap<>();

	/**
	 * Creates start positions.
	 * @param positions the positions by topic; others start with the first record
	 * @throws ShardkeeperConfigurationException if the source cannot read an offset, or
	 * has no consumer groups
	 */
	public StartPositions(SourceRegistry sources, CheckpointStore checkpoints, Map<String, StartPosition> positions,
			MonotonicClock clock) {
		this.clock = clock;
		this.sources = sources;
		this.checkpoints = checkpoints;
		this.positions = Map.copyOf(positions);
		this.positions.forEach(this::check);
	}

	/**
	 * Returns the same start positions, as another instance resolves them that has asked
	 * for none yet.
	 */
	public StartPositions of(SourceRegistry otherSources, CheckpointStore otherCheckpoints, MonotonicClock otherClock) {
		return new StartPositions(otherSources, otherCheckpoints, this.positions, otherClock);
	}

	private void check(String topic, StartPosition position) {
		try {
			if (position instanceof StartPosition.From) {
				this.sources.resolve(position, List.of(ShardId.of(topic, 0)));
			}
			else if (position instanceof StartPosition.Group) {
				this.sources.groups(topic);
			}
		}
		catch (IllegalArgumentException ex) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.topics.%s.start' is '%s', where the topic cannot begin: %s.".formatted(topic,
							position, ex.getMessage()),
					"Set it to 'earliest', 'latest', a time like '2026-11-21T10:00:00Z', the offset of the first record "
							+ "that is wanted, or, if the source has consumer groups, 'group:' and the name of one.",
					ex);
		}
	}

	/**
	 * Stores since when the topics are consumed; called again if that may be lost.
	 * @throws StoreUnavailableException if the store does not reply, or refuses it for a
	 * topic; then the start of the first shard counts
	 */
	void consume(Collection<String> topics) {
		StoreUnavailableException refusal = null;
		for (String topic : topics) {
			try {
				if (isLatest(topic)) {
					ask(topic);
				}
			}
			catch (StoreUnavailableException ex) {
				if (!ex.isRefusal()) {
					throw ex;
				}
				// May concern only this topic.
				refusal = ex;
			}
		}
		if (refusal != null) {
			throw refusal;
		}
	}

	@Override
	public boolean isFirst(String topic) {
		return !this.positions.containsKey(topic);
	}

	@Override
	public Map<ShardId, GroupPositions.Position> resolve(String topic, Collection<ShardId> shards) {
		StartPosition position = position(topic);
		return (position != null) ? this.sources.resolve(position, shards) : Map.of();
	}

	private boolean isLatest(String topic) {
		return this.positions.get(topic) instanceof StartPosition.Latest;
	}

	private @Nullable StartPosition position(String topic) {
		if (!isLatest(topic)) {
			return this.positions.get(topic);
		}
		Moment known = this.moments.get(topic);
		if (known != null && known.asked().until(this.clock.now()).compareTo(FRESH) < 0) {
			return known.position();
		}
		return ask(topic);
	}

	/** Sends the known time, too: the store may have lost it. */
	private StartPosition ask(String topic) {
		MonotonicTime now = this.clock.now();
		Moment known = this.moments.get(topic);
		Instant since = this.checkpoints.consumedSince(topic, (known != null) ? known.since() : null);
		this.moments.put(topic, new Moment(since, StartPosition.at(since), now));
		return StartPosition.at(since);
	}

	private record Moment(Instant since, StartPosition position, MonotonicTime asked) {

	}

}
