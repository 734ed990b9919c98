package io.github.shardkeeper.test.slice;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;
import io.github.shardkeeper.source.memory.MemoryStreamSource;

/**
 * Source of the application, as one instance reads it: without waiting, and only while
 * the instance runs. Confined to the thread of the test.
 */
final class SteppedSource implements ShardSource {

	private static final int RECORDS_AT_ONCE = 500;

	private final ShardSource source;

	private final InstanceProcess process;

	private final List<SteppedReader> readers = new ArrayList<>();

	SteppedSource(ShardSource source, InstanceProcess process) {
		this.source = source;
		this.process = process;
	}

	/** Passes on what can be read, and returns whether there was anything. */
	boolean deliver() {
		boolean delivered = false;
		for (SteppedReader reader : this.readers) {
			delivered |= reader.deliver();
		}
		return delivered;
	}

	@Override
	public Map<String, TopicShards> topics() {
		return this.source.topics();
	}

	@Override
	public boolean hasRecords(String topic) {
		return this.source.hasRecords(topic);
	}

	@Override
	public Watch watch(Runnable onChange) {
		Watch watch = this.source.watch(() -> this.process.execute(onChange));
		this.process.connected(watch::close);
		return watch;
	}

	@Override
	public ShardReader openReader() {
		if (this.source instanceof MemoryStreamSource memory) {
			SteppedReader reader = new SteppedReader(memory);
			this.readers.add(reader);
			return reader;
		}
		return this.source.openReader();
	}

	@Override
	public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		return this.source.before(position, shards);
	}

	@Override
	public void close() {
		// It belongs to the application, and other instances read it.
	}

	/** Reads what is there whenever nothing else is due. */
	private static final class SteppedReader implements ShardReader {

		private final MemoryStreamSource source;

		private final Map<ShardId, Reading> readings = new TreeMap<>();

		SteppedReader(MemoryStreamSource source) {
			this.source = source;
		}

		@Override
		public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
			this.readings.put(shard, new Reading(after, sink));
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
			}
		}

		boolean deliver() {
			boolean delivered = false;
			for (Map.Entry<ShardId, Reading> entry : List.copyOf(this.readings.entrySet())) {
				delivered |= deliver(entry.getKey(), entry.getValue());
			}
			return delivered;
		}

		private boolean deliver(ShardId shard, Reading reading) {
			if (reading.paused || reading.ended) {
				return false;
			}
			boolean closed = this.source.isClosed(shard);
			List<SourceRecord> records = this.source.records(shard, reading.after, RECORDS_AT_ONCE);
			if (records.isEmpty()) {
				if (closed) {
					reading.ended = true;
					reading.sink.ended();
				}
				return closed;
			}
			reading.paused = !reading.sink.offer(records);
			reading.after = records.get(records.size() - 1).position();
			return true;
		}

		@Override
		public boolean poll() {
			throw new UnsupportedOperationException("Records are delivered when nothing else is due");
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

		private @Nullable Offset after;

		private boolean paused;

		private boolean ended;

		Reading(@Nullable Offset after, ShardReader.RecordSink sink) {
			this.after = after;
			this.sink = sink;
		}

	}

}
