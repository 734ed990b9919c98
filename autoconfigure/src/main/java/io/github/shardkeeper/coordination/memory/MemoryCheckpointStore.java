package io.github.shardkeeper.coordination.memory;

import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CommitNumber;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The checkpoints of one group inside one process, for tests and for trying things out
 * without Redis. All members of the group share one instance; it forgets everything with
 * the process. It holds no resources: closing it does nothing, so that no member takes it
 * away from the others. Thread-safe.
 */
public final class MemoryCheckpointStore implements CheckpointStore {

	private final InstantSource clock;

	private Map<ShardId, Entry> entries = new HashMap<>();

	private Map<String, Instant> consumedSince = new HashMap<>();

	/**
	 * Creates an empty store that goes by the system's clock.
	 */
	public MemoryCheckpointStore() {
		this(InstantSource.system());
	}

	/**
	 * Creates an empty store.
	 * @param clock the store's time; milliseconds count
	 */
	public MemoryCheckpointStore(InstantSource clock) {
		this.clock = clock;
	}

	@Override
	public synchronized Acquisition acquire(ShardId shard, Token token) {
		Entry entry = this.entries.computeIfAbsent(shard, (id) -> new Entry());
		if (entry.fence.compareTo(token) > 0) {
			return new Acquisition.Refused(entry.fence);
		}
		if (entry.fence.compareTo(token) < 0) {
			entry.fence = token;
			entry.lastCommit = 0;
		}
		return new Acquisition.Acquired(entry.toCheckpoint());
	}

	@Override
	public synchronized CommitReply commit(ShardId shard, Token token, CommitNumber number, @Nullable Offset offset,
			Map<String, @Nullable String> changes) {
		Entry entry = this.entries.get(shard);
		if (entry == null || entry.fence.compareTo(token) < 0) {
			return CommitReply.GONE;
		}
		if (entry.fence.compareTo(token) > 0 || number.attempt() < entry.lastCommit) {
			return CommitReply.STALE;
		}
		if (number.attempt() == entry.lastCommit) {
			return CommitReply.COMMITTED;
		}
		if (entry.lastCommit < number.acknowledged()) {
			return CommitReply.GONE;
		}
		entry.lastCommit = number.attempt();
		if (offset != null) {
			entry.offset = offset;
		}
		changes.forEach(entry::change);
		return CommitReply.COMMITTED;
	}

	@Override
	public synchronized Checkpoint read(ShardId shard) {
		Entry entry = this.entries.get(shard);
		return (entry != null) ? entry.toCheckpoint() : new Checkpoint(null, Map.of());
	}

	@Override
	public synchronized Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		Map<ShardId, Offset> offsets = new LinkedHashMap<>();
		for (ShardId shard : shards) {
			Entry entry = this.entries.get(shard);
			if (entry != null && entry.offset != null) {
				offsets.put(shard, entry.offset);
			}
		}
		return offsets;
	}

	@Override
	public synchronized Instant consumedSince(String topic) {
		return this.consumedSince.computeIfAbsent(topic, (t) -> this.clock.instant().truncatedTo(ChronoUnit.MILLIS));
	}

	/**
	 * Everything as it is now.
	 * @return a copy
	 */
	synchronized Snapshot snapshot() {
		return new Snapshot(copy(this.entries), Map.copyOf(this.consumedSince));
	}

	/**
	 * Forgets everything that was written since, as a failover may.
	 * @param snapshot what is known then
	 */
	synchronized void loseWritesSince(Snapshot snapshot) {
		this.entries = copy(snapshot.entries);
		this.consumedSince = new HashMap<>(snapshot.consumedSince);
	}

	/** Forgets everything, as a server without persistence does when it ends. */
	synchronized void empty() {
		this.entries = new HashMap<>();
		this.consumedSince = new HashMap<>();
	}

	private static Map<ShardId, Entry> copy(Map<ShardId, Entry> entries) {
		Map<ShardId, Entry> copy = new HashMap<>();
		entries.forEach((shard, entry) -> copy.put(shard, new Entry(entry)));
		return copy;
	}

	@Override
	public void close() {
	}

	/** What the store knew at a moment. */
	record Snapshot(Map<ShardId, Entry> entries, Map<String, Instant> consumedSince) {

	}

	/** The durable part of one shard. Confined to the lock of the store. */
	static final class Entry {

		/** In an order that is the same in every run. */
		private final SortedMap<String, String> state = new TreeMap<>();

		private Token fence = Token.NONE;

		private long lastCommit;

		private @Nullable Offset offset;

		Entry() {
		}

		Entry(Entry other) {
			this.state.putAll(other.state);
			this.fence = other.fence;
			this.lastCommit = other.lastCommit;
			this.offset = other.offset;
		}

		void change(String key, @Nullable String value) {
			if (value != null) {
				this.state.put(key, value);
			}
			else {
				this.state.remove(key);
			}
		}

		Checkpoint toCheckpoint() {
			return new Checkpoint(this.offset, Collections.unmodifiableMap(new TreeMap<>(this.state)));
		}

	}

}
