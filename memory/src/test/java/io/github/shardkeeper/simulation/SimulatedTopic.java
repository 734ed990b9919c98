package io.github.shardkeeper.simulation;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;

/**
 * A topic whose shards hold the records 1, 2, 3 and so on; a record's offset is its
 * number. Shards may be added, split and closed.
 */
final class SimulatedTopic {

	static final String NAME = "topic";

	private final VirtualTime time;

	private final RandomGenerator random;

	private final Map<ShardId, Long> ends = new TreeMap<>();

	private final Set<ShardId> closed = new TreeSet<>();

	private final List<Runnable> watchers = new ArrayList<>();

	private TopicShards shards;

	private final List<Reader> readers = new ArrayList<>();

	SimulatedTopic(int shards, VirtualTime time, RandomGenerator random) {
		this.time = time;
		this.random = random;
		this.shards = TopicShards.count(shards);
		this.shards.forEach(NAME, (shard) -> this.ends.put(shard, 0L));
	}

	/** The shards that there are now, closed ones among them. */
	TopicShards shards() {
		return this.shards;
	}

	/** Has something run whenever there are others. */
	void watch(Runnable onChange) {
		this.watchers.add(onChange);
	}

	/** A new shard; if it has parents, they are closed. */
	ShardId add(ShardId... parents) {
		ShardId added = ShardId.of(NAME, this.shards.size());
		this.ends.put(added, 0L);
		this.shards = this.shards.with(added.id(), Stream.of(parents).map(ShardId::id).toArray(String[]::new));
		Stream.of(parents).forEach(this::close);
		this.watchers.forEach(Runnable::run);
		return added;
	}

	/** Nothing can be appended any more, and who reads it comes to its end. */
	void close(ShardId shard) {
		this.closed.add(shard);
		this.readers.forEach((reader) -> reader.look(shard));
	}

	boolean isClosed(ShardId shard) {
		return this.closed.contains(shard);
	}

	/** Shards to which records can be appended. */
	List<ShardId> open() {
		return this.ends.keySet().stream().filter((shard) -> !isClosed(shard)).toList();
	}

	long end(ShardId shard) {
		return this.ends.getOrDefault(shard, 0L);
	}

	Map<ShardId, Long> ends() {
		return this.ends;
	}

	/** Nothing comes of it if the shard is closed. */
	void append(ShardId shard) {
		if (isClosed(shard)) {
			return;
		}
		this.ends.merge(shard, 1L, Long::sum);
		this.readers.forEach((reader) -> reader.look(shard));
	}

	private static @Nullable String key(long number) {
		return (number % 5 == 0) ? null : "key-" + number % 3;
	}

	static Offset offset(long number) {
		return new Offset(Long.toString(number));
	}

	static long number(@Nullable Offset offset) {
		return (offset != null) ? Long.parseLong(offset.value()) : 0;
	}

	static LongStream numbers(Collection<Offset> offsets) {
		return offsets.stream().mapToLong(SimulatedTopic::number);
	}

	ShardReader reader(SimulatedProcess process) {
		Reader reader = new Reader(process);
		this.readers.add(reader);
		return reader;
	}

	private final class Reader implements ShardReader {

		private final SimulatedProcess process;

		private final Map<ShardId, Reading> readings = new TreeMap<>();

		private Reader(SimulatedProcess process) {
			this.process = process;
		}

		@Override
		public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
			this.readings.put(shard, new Reading(number(after), sink));
			look(shard);
		}

		@Override
		public void stop(ShardId shard) {
			this.readings.remove(shard);
		}

		@Override
		public void resume(ShardId shard) {
			Reading reading = this.readings.get(shard);
			if (reading != null) {
				reading.paused = false;
				look(shard);
			}
		}

		private void look(ShardId shard) {
			Reading reading = this.readings.get(shard);
			if (reading == null || reading.looking || this.process.isCrashed()) {
				return;
			}
			reading.looking = true;
			long delay = SimulatedTopic.this.random.nextInt(4) == 0
					? SimulatedTopic.this.random.nextLong(Duration.ofMillis(20).toNanos()) : 0;
			SimulatedTopic.this.time.briefly(SimulatedTopic.this.time.now() + delay, this.process,
					() -> deliver(shard, reading));
		}

		private void deliver(ShardId shard, Reading reading) {
			reading.looking = false;
			long end = SimulatedTopic.this.ends.get(shard);
			if (this.readings.get(shard) != reading || reading.paused || reading.ended) {
				return;
			}
			if (reading.position >= end) {
				if (isClosed(shard)) {
					reading.ended = true;
					reading.sink.ended();
				}
				return;
			}
			List<SourceRecord> records = new ArrayList<>();
			long until = Math.min(end, reading.position + 1 + SimulatedTopic.this.random.nextInt(8));
			while (reading.position < until) {
				reading.position++;
				records.add(new SourceRecord(offset(reading.position), key(reading.position),
						Long.toString(reading.position).getBytes(StandardCharsets.UTF_8), Instant.EPOCH));
			}
			reading.paused = !reading.sink.offer(records);
			look(shard);
		}

		@Override
		public boolean poll() {
			throw new UnsupportedOperationException("Records come by themselves here");
		}

		@Override
		public Map<ShardId, String> problems() {
			return Map.of();
		}

		@Override
		public void close() {
			this.readings.clear();
		}

	}

	private static final class Reading {

		private final ShardReader.RecordSink sink;

		private long position;

		private boolean paused;

		private boolean looking;

		private boolean ended;

		private Reading(long position, ShardReader.RecordSink sink) {
			this.position = position;
			this.sink = sink;
		}

	}

}
