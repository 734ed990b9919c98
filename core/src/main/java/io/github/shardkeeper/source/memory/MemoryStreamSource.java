package io.github.shardkeeper.source.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.RecordFields;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardListWatchers;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Topics inside one process. An offset is a record's number, beginning with 1; nothing is
 * ever trimmed. Shards may be added, closed, split and merged at any time; shards are
 * numbered in the order in which they came. Thread-safe.
 */
public final class MemoryStreamSource implements ShardSource, ShardAppender, ShardTopics {

	private final ShardListWatchers watchers = new ShardListWatchers();

	private final Object lock = new Object();

	/** Guarded by the lock, as is everything that readers hold. */
	private final Map<String, TopicShards> topics = new TreeMap<>();

	private final Map<ShardId, MemoryStream> streams = new HashMap<>();

	/**
	 * Creates a source without records.
	 * @param topics the topics with their shard counts
	 */
	public MemoryStreamSource(Map<String, Integer> topics) {
		Objects.requireNonNull(topics, "topics must not be null");
		topics.forEach((topic, count) -> this.topics.put(topic, TopicShards.count(count)));
	}

	@Override
	public Map<String, TopicShards> topics() {
		synchronized (this.lock) {
			return Collections.unmodifiableMap(new TreeMap<>(this.topics));
		}
	}

	@Override
	public Watch watch(Runnable onChange) {
		Objects.requireNonNull(onChange, "onChange must not be null");
		return this.watchers.add(onChange);
	}

	@Override
	public int shards(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		synchronized (this.lock) {
			return known(topic).size();
		}
	}

	/** Closed shards count as well. */
	@Override
	public int raise(String topic, int shards) {
		Objects.requireNonNull(topic, "topic must not be null");
		TopicShards.requirePossible(topic, shards);
		synchronized (this.lock) {
			if (known(topic).size() > shards) {
				throw new IllegalArgumentException("The topic '%s' has %d shards already, and cannot have fewer"
					.formatted(topic, known(topic).size()));
			}
			while (known(topic).size() < shards) {
				add(topic);
			}
		}
		this.watchers.changed();
		return shards;
	}

	/**
	 * Closes a shard: nothing can be appended to it any more, and who reads it comes to
	 * its end.
	 * @param shard the shard
	 * @throws IllegalStateException when it is closed already
	 */
	public void close(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		synchronized (this.lock) {
			requireOpen(shard).close();
			this.lock.notifyAll();
		}
		this.watchers.changed();
	}

	/**
	 * Closes a shard, and adds two whose parent it is.
	 * @param shard the shard
	 * @return its children
	 * @throws IllegalStateException when it is closed already
	 */
	public List<ShardId> split(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		List<ShardId> children;
		synchronized (this.lock) {
			known(shard.topic());
			requireOpen(shard).close();
			children = List.of(add(shard.topic(), shard.id()), add(shard.topic(), shard.id()));
			this.lock.notifyAll();
		}
		this.watchers.changed();
		return children;
	}

	/**
	 * Closes two shards, and adds one whose parents they are.
	 * @param one one of them
	 * @param other the other, of the same topic
	 * @return their child
	 * @throws IllegalStateException when one of them is closed already
	 */
	public ShardId merge(ShardId one, ShardId other) {
		Objects.requireNonNull(one, "one must not be null");
		Objects.requireNonNull(other, "other must not be null");
		if (!one.topic().equals(other.topic()) || one.equals(other)) {
			throw new IllegalArgumentException(one + " and " + other + " cannot be merged: take two of one topic");
		}
		ShardId child;
		synchronized (this.lock) {
			known(one.topic());
			MemoryStream first = requireOpen(one);
			requireOpen(other).close();
			first.close();
			child = add(one.topic(), one.id(), other.id());
			this.lock.notifyAll();
		}
		this.watchers.changed();
		return child;
	}

	private ShardId add(String topic, String... parents) {
		TopicShards before = known(topic);
		ShardId added = ShardId.of(topic, before.size());
		this.topics.put(topic, before.with(added.id(), parents));
		return added;
	}

	private TopicShards known(String topic) {
		TopicShards shards = this.topics.get(topic);
		if (shards == null) {
			throw ShardkeeperConfigurationException.unknownTopic("A call of ShardTopics", topic, this.topics.keySet());
		}
		return shards;
	}

	private MemoryStream requireOpen(ShardId shard) {
		MemoryStream stream = stream(shard);
		if (stream.isClosed()) {
			throw new IllegalStateException(shard + " is closed: use the shards that came after it");
		}
		return stream;
	}

	@Override
	public void check(NewRecord newRecord) {
		Objects.requireNonNull(newRecord, "newRecord must not be null");
		RecordFields.check(newRecord.headers());
	}

	/**
	 * Appends records.
	 * @throws IllegalArgumentException when a header is called like a field of a stream's
	 * entry; then nothing was appended
	 * @throws IllegalStateException when one of the shards is closed; then nothing was
	 * appended
	 */
	@Override
	public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		Objects.requireNonNull(records, "records must not be null");
		records.forEach(this::check);
		List<CompletableFuture<Offset>> offsets = new ArrayList<>(records.size());
		synchronized (this.lock) {
			records.forEach((newRecord) -> requireOpen(newRecord.shard()));
			for (NewRecord newRecord : records) {
				List<SourceRecord> stream = stream(newRecord.shard()).records();
				Offset offset = new Offset(Integer.toString(stream.size() + 1));
				stream.add(new SourceRecord(offset, newRecord.key(), newRecord.payload(), newRecord.headers(),
						System.currentTimeMillis()));
				offsets.add(CompletableFuture.completedFuture(offset));
			}
			this.lock.notifyAll();
		}
		return offsets;
	}

	@Override
	public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		Objects.requireNonNull(position, "position must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		if (position instanceof StartPosition.From from) {
			MemoryPositions.requireOffset(from.first());
		}
		if (position instanceof StartPosition.After after) {
			MemoryPositions.requireOffset(after.last());
		}
		Map<ShardId, Offset> offsets = new HashMap<>();
		synchronized (this.lock) {
			shards.forEach((shard) -> offsets.put(shard, MemoryPositions.before(position, stream(shard).records())));
		}
		return offsets;
	}

	private MemoryStream stream(ShardId shard) {
		return this.streams.computeIfAbsent(shard, (s) -> new MemoryStream());
	}

	@Override
	public ShardReader openReader() {
		return new MemoryStreamReader(this.lock, this::stream);
	}

	@Override
	public void close() {
		// Nothing is held open.
	}

}
