package io.github.shardkeeper.checkpoint.memory;

import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.Commit;
import io.github.shardkeeper.checkpoint.CommitHistory;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.checkpoint.FailedRecord;
import io.github.shardkeeper.checkpoint.Outbox;
import io.github.shardkeeper.checkpoint.Seeks;
import io.github.shardkeeper.checkpoint.Seeks.SeekRequest;
import io.github.shardkeeper.checkpoint.StoredTimer;
import io.github.shardkeeper.checkpoint.WaitingRecord;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The checkpoints of one group in one process, for tests and first experiments without
 * Redis. All members share one instance. Nothing is durable. Closing it does nothing.
 * Thread-safe.
 */
public final class MemoryCheckpointStore implements CheckpointStore {

	private final InstantSource clock;

	private final InstantSource sourceClock;

	private Map<ShardId, ShardData> entries = new HashMap<>();

	private Map<String, Instant> consumedSince = new HashMap<>();

	public MemoryCheckpointStore() {
		this(InstantSource.system());
	}

	/** Creates an empty store whose time is that of the clock, in milliseconds. */
	public MemoryCheckpointStore(InstantSource clock) {
		this(clock, clock);
	}

	private MemoryCheckpointStore(InstantSource clock, InstantSource sourceClock) {
		this.clock = clock;
		this.sourceClock = sourceClock;
	}

	/**
	 * Returns an empty store for records whose source has a clock of its own.
	 * @param sourceClock tells since when a topic is consumed; asked once for each topic,
	 * and may throw a {@link io.github.shardkeeper.StoreUnavailableException}
	 */
	public static MemoryCheckpointStore besides(InstantSource sourceClock) {
		return new MemoryCheckpointStore(InstantSource.system(), sourceClock);
	}

	@Override
	public CompletableFuture<Acquisition> acquire(ShardId shard, Token token) {
		return acquire(shard, token, false);
	}

	@Override
	public boolean readsStateOnUse(String topic) {
		return true;
	}

	@Override
	public CompletableFuture<Acquisition> acquireWithoutState(ShardId shard, Token token) {
		return acquire(shard, token, true);
	}

	private synchronized CompletableFuture<Acquisition> acquire(ShardId shard, Token token, boolean readsOnUse) {
		ShardData entry = this.entries.computeIfAbsent(shard, (id) -> new ShardData());
		if (entry.isFencedAgainst(token)) {
			return CompletableFuture.completedFuture(new Acquisition.Refused(entry.fence()));
		}
		entry.raiseFence(token, readsOnUse, this.clock.millis());
		return CompletableFuture.completedFuture(new Acquisition.Acquired(entry.toAcquired(this.clock.millis()),
				entry.seeks(), entry.lastCommit(), entry.before(), entry.acquired(), entry.outbox()));
	}

	@Override
	public synchronized CompletableFuture<CommitReply> commit(ShardId shard, Token token, Commit commit) {
		ShardData entry = this.entries.get(shard);
		return CompletableFuture
			.completedFuture((entry != null) ? entry.commit(token, commit, this.clock.millis()) : CommitReply.GONE);
	}

	@Override
	public synchronized DueRecords due(ShardId shard, int limit, long bytes, Set<Offset> except) {
		ShardData entry = this.entries.get(shard);
		return (entry != null) ? entry.due(limit, bytes, except, this.clock.millis()) : new DueRecords(List.of(), null);
	}

	@Override
	public boolean listsWaiting(String topic) {
		return true;
	}

	@Override
	public void waiting(ShardId shard, Consumer<WaitingRecord> consumer) {
		with(shard, ShardData::waiting).forEach(consumer);
	}

	@Override
	public List<FailedRecord> retries(ShardId shard, List<Offset> offsets, long bytes) {
		return with(shard, (data, nowMillis) -> data.retries(offsets, bytes));
	}

	@Override
	public int changeWaiting(ShardId shard, List<Offset> offsets, WaitingRecord.Change change) {
		return with(shard, (data, nowMillis) -> data.changeWaiting(offsets, change, nowMillis));
	}

	@Override
	public synchronized CompletionReply complete(ShardId shard, Token token, long acknowledged, long acquisition) {
		ShardData entry = this.entries.get(shard);
		return (entry != null) ? entry.complete(token, acknowledged, acquisition) : CompletionReply.GONE;
	}

	@Override
	public synchronized Checkpoint read(ShardId shard) {
		ShardData entry = this.entries.get(shard);
		return (entry != null) ? entry.toCheckpoint(this.clock.millis()) : new Checkpoint(null, Map.of());
	}

	@Override
	public synchronized @Nullable Map<String, String> ownedEntries(ShardId shard, CommitBasis basis,
			Collection<String> keys) {
		SortedMap<String, String> state = with(shard, (data, nowMillis) -> data.state(basis));
		if (state == null) {
			return null;
		}
		Map<String, String> entries = new HashMap<>();
		keys.forEach((key) -> {
			String value = state.get(key);
			if (value != null) {
				entries.put(key, value);
			}
		});
		return entries;
	}

	@Override
	public synchronized @Nullable Set<String> ownedKeys(ShardId shard, CommitBasis basis, String prefix,
			long nowMillis) {
		SortedMap<String, String> state = with(shard, (data, storeMillis) -> data.state(basis));
		if (state == null) {
			return null;
		}
		Set<String> keys = new HashSet<>(ExpiringValues.present(state, nowMillis).keySet());
		keys.removeIf((key) -> !key.startsWith(prefix));
		return keys;
	}

	@Override
	public synchronized @Nullable ExpiredKeys expiredKeys(ShardId shard, CommitBasis basis, @Nullable String after,
			long nowMillis) {
		SortedMap<String, String> state = with(shard, (data, storeMillis) -> data.state(basis));
		return (state != null) ? new ExpiredKeys(state.entrySet()
			.stream()
			.filter((entry) -> ExpiringValues.expiresAt(entry.getValue()) <= nowMillis)
			.map(Map.Entry::getKey)
			.toList(), null) : null;
	}

	@Override
	public synchronized Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		Map<ShardId, Offset> offsets = new LinkedHashMap<>();
		for (ShardId shard : shards) {
			ShardData entry = this.entries.get(shard);
			Offset offset = (entry != null) ? entry.offset() : null;
			if (offset != null) {
				offsets.put(shard, offset);
			}
		}
		return offsets;
	}

	@Override
	public synchronized Long countStateEntries(ShardId shard) {
		return (long) read(shard).state().size();
	}

	@Override
	public synchronized CommitHistory commits(ShardId shard) {
		return this.entries.getOrDefault(shard, new ShardData()).commits();
	}

	@Override
	public synchronized @Nullable SeekRequest seek(ShardId shard, Offset after, boolean clearsState) {
		return this.entries.computeIfAbsent(shard, (id) -> new ShardData())
			.seek(after, clearsState, this.clock.millis());
	}

	@Override
	public synchronized Map<ShardId, Seeks> seeks(Collection<ShardId> shards) {
		Map<ShardId, Seeks> seeks = new LinkedHashMap<>();
		for (ShardId shard : shards) {
			ShardData entry = this.entries.get(shard);
			seeks.put(shard, (entry != null) ? entry.seeks() : Seeks.NONE);
		}
		return seeks;
	}

	@Override
	public synchronized Instant consumedSince(String topic, @Nullable Instant known) {
		if (known != null) {
			this.consumedSince.merge(topic, known, (one, other) -> one.isBefore(other) ? one : other);
		}
		return this.consumedSince.computeIfAbsent(topic,
				(t) -> this.sourceClock.instant().truncatedTo(ChronoUnit.MILLIS));
	}

	@Override
	public synchronized Removal remove(String topic, Token newest) {
		SortedSet<ShardId> removed = new TreeSet<>();
		SortedSet<ShardId> kept = new TreeSet<>();
		this.entries.forEach((shard, entry) -> {
			if (shard.topic().equals(topic)) {
				(entry.isFencedAgainst(newest) ? kept : removed).add(shard);
			}
		});
		removed.forEach(this.entries::remove);
		if (kept.isEmpty()) {
			this.consumedSince.remove(topic);
		}
		return new Removal(removed, kept);
	}

	@Override
	public boolean keepsOutboxes(String topic) {
		return true;
	}

	@Override
	public synchronized List<Outbox.Entry> outbox(ShardId shard, Outbox.@Nullable Place after, int limit, long bytes) {
		return this.entries.getOrDefault(shard, new ShardData()).outbox(after, limit, bytes);
	}

	@Override
	public synchronized @Nullable Long countOutbox(ShardId shard) {
		Outbox outbox = this.entries.getOrDefault(shard, new ShardData()).outbox();
		return (outbox.era() != 0) ? outbox.entries() : null;
	}

	@Override
	public boolean keepsTimers(String topic) {
		return true;
	}

	@Override
	public List<StoredTimer> timers(ShardId shard, @Nullable StoredTimer after, int limit) {
		return with(shard, (data, nowMillis) -> data.timers(after, limit));
	}

	@Override
	public Long countTimers(ShardId shard) {
		return with(shard, (data, nowMillis) -> data.countTimers());
	}

	/** Returns whether a shard has data: it was acquired or had a seek. */
	public synchronized boolean contains(ShardId shard) {
		return this.entries.containsKey(shard);
	}

	/** Runs a function on the data of a shard and the current time in milliseconds. */
	public synchronized <T> T with(ShardId shard, BiFunction<ShardData, Long, T> work) {
		// Reading a shard that was never acquired must not create data for it.
		return work.apply(this.entries.getOrDefault(shard, new ShardData()), this.clock.millis());
	}

	public synchronized Snapshot snapshot() {
		return new Snapshot(copy(this.entries), Map.copyOf(this.consumedSince));
	}

	/** Loses all writes since a snapshot, as a failover may. */
	public synchronized void loseWritesSince(Snapshot snapshot) {
		this.entries = copy(snapshot.entries);
		this.consumedSince = new HashMap<>(snapshot.consumedSince);
	}

	/** Loses all data, as a restart of a server without persistence does. */
	public synchronized void empty() {
		this.entries = new HashMap<>();
		this.consumedSince = new HashMap<>();
	}

	private static Map<ShardId, ShardData> copy(Map<ShardId, ShardData> entries) {
		Map<ShardId, ShardData> copy = new HashMap<>();
		entries.forEach((shard, entry) -> copy.put(shard, new ShardData(entry)));
		return copy;
	}

	@Override
	public void close() {
	}

	public record Snapshot(Map<ShardId, ShardData> entries, Map<String, Instant> consumedSince) {

	}

}
