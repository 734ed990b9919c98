package io.github.shardkeeper.source.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.SendFailedException;
import io.github.shardkeeper.ShardTopics;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.IdempotentAppender;
import io.github.shardkeeper.source.PollingShardReader;
import io.github.shardkeeper.source.RecordFields;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardListWatchers;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.time.WallClock;

/**
 * Source whose records are held in memory. An offset is the number of a record in its
 * shard, beginning with 1; no record and no id of one is ever removed. Shards are
 * numbered in the order in which they are added. Thread-safe.
 */
public final class MemoryStreamSource implements ShardSource, IdempotentAppender, SequencedAppender, ShardTopics {

	private static final int RECORDS_PER_FETCH = 500;

	/** Readers are woken if there are records. */
	private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

	private final InstantSource clock;

	private final ShardListWatchers watchers = new ShardListWatchers();

	private final Object lock = new Object();

	/** Guarded by the lock, like the streams. */
	private final Map<String, TopicShards> topics = new TreeMap<>();

	/** Before any split or merge. */
	private final Map<String, TopicShards> initial;

	private final Map<ShardId, MemoryStream> streams = new HashMap<>();

	/** Guarded by the lock; forgets those that nobody uses any more. */
	private final Set<PollingShardReader> readers = Collections.newSetFromMap(new WeakHashMap<>());

	/** Creates a source without records; {@code topics}: the numbers of shards. */
	public MemoryStreamSource(Map<String, Integer> topics) {
		this(topics, WallClock.SYSTEM);
	}

	/** Creates a source whose records have the times of a clock. */
	public MemoryStreamSource(Map<String, Integer> topics, InstantSource clock) {
		this.clock = Objects.requireNonNull(clock, "clock must not be null");
		Objects.requireNonNull(topics, "topics must not be null");
		topics.forEach((topic, count) -> this.topics.put(topic, TopicShards.count(count)));
		this.initial = Map.copyOf(this.topics);
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

	/** Counts closed shards too. */
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
	 * Closes a shard: it takes no more records, and readers reach its end.
	 * @throws IllegalStateException if it is closed already
	 */
	public void close(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		synchronized (this.lock) {
			requireOpen(shard).close();
			this.readers.forEach(PollingShardReader::wakeUp);
		}
		this.watchers.changed();
	}

	/**
	 * Splits a shard: closes it, and adds and returns two children.
	 * @throws IllegalStateException if it is closed already
	 */
	public List<ShardId> split(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		List<ShardId> children;
		synchronized (this.lock) {
			known(shard.topic());
			requireOpen(shard).close();
			children = List.of(add(shard.topic(), shard.id()), add(shard.topic(), shard.id()));
			this.readers.forEach(PollingShardReader::wakeUp);
		}
		this.watchers.changed();
		return children;
	}

	/**
	 * Merges two shards of a topic: closes them, and adds and returns a child.
	 * @throws IllegalStateException if one of them is closed already
	 */
	public ShardId merge(ShardId one, ShardId other) {
		Objects.requireNonNull(one, "one must not be null");
		Objects.requireNonNull(other, "other must not be null");
		if (!one.topic().equals(other.topic()) || one.equals(other)) {
			throw new IllegalArgumentException(
					one + " and " + other + " cannot be merged: pass two shards of one topic");
		}
		ShardId child;
		synchronized (this.lock) {
			known(one.topic());
			MemoryStream first = requireOpen(one);
			requireOpen(other).close();
			first.close();
			child = add(one.topic(), one.id(), other.id());
			this.readers.forEach(PollingShardReader::wakeUp);
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
			throw new IllegalStateException(shard + " is closed: use its child shards");
		}
		return stream;
	}

	@Override
	public void check(NewRecord newRecord) {
		Objects.requireNonNull(newRecord, "newRecord must not be null");
		RecordFields.check(newRecord.headers());
	}

	/**
	 * Appends all records, or none.
	 * @throws IllegalArgumentException if a header has a name of {@link RecordFields}
	 * @throws IllegalStateException if a shard is closed
	 */
	@Override
	public List<CompletableFuture<Offset>> append(List<NewRecord> records) {
		Objects.requireNonNull(records, "records must not be null");
		records.forEach(this::check);
		List<CompletableFuture<Offset>> offsets = new ArrayList<>(records.size());
		synchronized (this.lock) {
			records.forEach((newRecord) -> requireOpen(newRecord.shard()));
			records.forEach((newRecord) -> offsets.add(CompletableFuture.completedFuture(add(newRecord))));
			this.readers.forEach(PollingShardReader::wakeUp);
		}
		return offsets;
	}

	private Offset add(NewRecord newRecord) {
		MemoryStream stream = stream(newRecord.shard());
		String id = newRecord.id();
		Offset known = (id != null) ? stream.ids.get(id) : null;
		if (known != null) {
			return known;
		}
		Offset offset = new Offset(Integer.toString(stream.records.size() + 1));
		stream.records.add(new SourceRecord(offset, newRecord.key(), newRecord.payload(), newRecord.headers(),
				this.clock.millis()));
		if (id != null) {
			stream.ids.put(id, offset);
		}
		return offset;
	}

	@Override
	public CompletableFuture<Appended> appendOnce(IdempotentAppender.Batch batch) {
		Objects.requireNonNull(batch, "batch must not be null");
		batch.records().forEach(this::check);
		synchronized (this.lock) {
			MemoryStream stream = requireOpen(batch.shard());
			LastBatch last = stream.batches.get(batch.producer());
			if (last != null && last.number() > batch.number()) {
				return CompletableFuture.failedFuture(new SendFailedException(
						"%s has had a later batch of the same producer".formatted(batch.shard()), null, true, true));
			}
			int before = batch.records().size();
			if (last == null || last.number() < batch.number()) {
				int records = stream.records.size();
				last = new LastBatch(batch.number(), batch.records().stream().map(this::add).toList());
				stream.batches.put(batch.producer(), last);
				before -= stream.records.size() - records;
				this.readers.forEach(PollingShardReader::wakeUp);
			}
			return CompletableFuture.completedFuture(new Appended(last.offsets(), before));
		}
	}

	/** Nothing else is to be done for a record with an id. */
	@Override
	public boolean appendRecognizesIds(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		return true;
	}

	@Override
	public CompletableFuture<SequencedAppender.Reply> append(Sequence sequence, SequencedAppender.Batch batch) {
		Objects.requireNonNull(sequence, "sequence must not be null");
		Objects.requireNonNull(batch, "batch must not be null");
		synchronized (this.lock) {
			MemoryStream stream = stream(batch.to());
			Received received = stream.received.getOrDefault(sequence.sender(), Received.NOTHING);
			if (received.isBeyond(sequence, batch)) {
				return CompletableFuture.completedFuture(new Reply.Superseded(received.era(), received.owner()));
			}
			long last = Math.max((received.era() == sequence.era()) ? received.number() : 0, batch.first() - 1);
			int before = (int) Math.min(last - batch.first() + 1, batch.records().size());
			append(batch.records().subList(before, batch.records().size()));
			stream.received.put(sequence.sender(),
					new Received(sequence.era(), Math.max(last, batch.last()), sequence.owner()));
			return CompletableFuture.completedFuture(new Reply.Appended(before));
		}
	}

	@Override
	public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		Objects.requireNonNull(position, "position must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		if (position instanceof StartPosition.From from) {
			requireOffset(from.first());
		}
		if (position instanceof StartPosition.After after) {
			requireOffset(after.last());
		}
		Map<ShardId, Offset> offsets = new HashMap<>();
		synchronized (this.lock) {
			shards.forEach((shard) -> offsets.put(shard, before(position, stream(shard).records())));
		}
		return offsets;
	}

	@Override
	public Lag lag(ShardId shard, Offset committed) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(committed, "committed must not be null");
		int handled = requireOffset(committed);
		synchronized (this.lock) {
			List<SourceRecord> stream = stream(shard).records();
			if (handled >= stream.size()) {
				return Lag.NONE;
			}
			long age = this.clock.millis() - stream.get(handled).timestampMillis();
			return new Lag((long) stream.size() - handled, Duration.ofMillis(Math.max(0, age)));
		}
	}

	private static Offset before(StartPosition position, List<SourceRecord> stream) {
		int before = 0;
		if (position instanceof StartPosition.Latest) {
			before = stream.size();
		}
		else if (position instanceof StartPosition.At at) {
			before = recordsBefore(at.time(), stream);
		}
		else if (position instanceof StartPosition.After after) {
			before = requireOffset(after.last());
		}
		else if (position instanceof StartPosition.From from) {
			before = Math.max(0, requireOffset(from.first()) - 1);
		}
		return new Offset(Integer.toString(before));
	}

	private static int recordsBefore(Instant time, List<SourceRecord> stream) {
		int records = 0;
		while (records < stream.size() && stream.get(records).timestamp().isBefore(time)) {
			records++;
		}
		return records;
	}

	private static int requireOffset(Offset offset) {
		int number;
		try {
			number = Integer.parseInt(offset.value());
		}
		catch (NumberFormatException ex) {
			throw malformed(offset);
		}
		if (number < 0) {
			throw malformed(offset);
		}
		return number;
	}

	private static IllegalArgumentException malformed(Offset offset) {
		return new IllegalArgumentException(
				"'%s' is no offset of a topic in memory; those are numbers that begin with 1".formatted(offset));
	}

	private MemoryStream stream(ShardId shard) {
		return this.streams.computeIfAbsent(shard, (s) -> new MemoryStream());
	}

	/**
	 * Returns the next records of a shard.
	 * @param after the offset of the last record to skip, {@code null} for none
	 */
	public List<SourceRecord> records(ShardId shard, @Nullable Offset after, int limit) {
		Objects.requireNonNull(shard, "shard must not be null");
		int begin = (after != null) ? requireOffset(after) : 0;
		synchronized (this.lock) {
			List<SourceRecord> records = stream(shard).records();
			return (begin < records.size())
					? List.copyOf(records.subList(begin, Math.min(records.size(), begin + limit))) : List.of();
		}
	}

	/** Removes all records, what is known of them, and what has become of the shards. */
	public void empty() {
		synchronized (this.lock) {
			this.streams.clear();
			this.topics.clear();
			this.topics.putAll(this.initial);
		}
	}

	@Override
	public ShardReader openReader() {
		PollingShardReader reader = new PollingShardReader(this::fetch, this::isClosed, POLL_INTERVAL);
		synchronized (this.lock) {
			this.readers.add(reader);
		}
		return reader;
	}

	private List<SourceRecord> fetch(ShardId shard, @Nullable Offset after) {
		return records(shard, after, RECORDS_PER_FETCH);
	}

	/** Returns whether a shard takes no more records. */
	public boolean isClosed(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		synchronized (this.lock) {
			return stream(shard).isClosed();
		}
	}

	@Override
	public void close() {
		// Nothing is held open.
	}

	/** Guarded by the lock. */
	private static final class MemoryStream {

		private final List<SourceRecord> records = new ArrayList<>();

		/** By sender, the last of its records. */
		private final Map<String, Received> received = new HashMap<>();

		private final Map<String, Offset> ids = new HashMap<>();

		/** By producer. */
		private final Map<String, LastBatch> batches = new HashMap<>();

		private boolean closed;

		List<SourceRecord> records() {
			return this.records;
		}

		void close() {
			this.closed = true;
		}

		boolean isClosed() {
			return this.closed;
		}

	}

	/** Number of the last record of a sequence, and who has sent it. */
	private record Received(long era, long number, long owner) {

		private static final Received NOTHING = new Received(0, 0, 0);

		boolean isBeyond(Sequence sequence, SequencedAppender.Batch batch) {
			if (this.era != sequence.era()) {
				return this.era > sequence.era();
			}
			return this.owner != sequence.owner() && (this.number > batch.lastPossible()
					|| this.number >= batch.first() && this.owner < batch.committedUnder());
		}

	}

	private record LastBatch(long number, List<Offset> offsets) {

	}

}
