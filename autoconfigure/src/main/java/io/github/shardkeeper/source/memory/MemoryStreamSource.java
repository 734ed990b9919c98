package io.github.shardkeeper.source.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Topics inside one process. An offset is a record's number, beginning with 1; nothing is
 * ever trimmed. Thread-safe.
 */
public final class MemoryStreamSource implements ShardSource, ShardAppender {

	private static final int RECORDS_PER_POLL = 500;

	private final Map<String, Integer> topics;

	/** Guarded by this, as is everything that readers hold. */
	private final Map<ShardId, List<SourceRecord>> streams = new HashMap<>();

	/**
	 * Creates a source without records.
	 * @param topics the topics with their shard counts
	 */
	public MemoryStreamSource(Map<String, Integer> topics) {
		this.topics = Map.copyOf(topics);
	}

	@Override
	public Map<String, Integer> topics() {
		return this.topics;
	}

	@Override
	public synchronized List<Offset> append(List<NewRecord> records) {
		List<Offset> offsets = new ArrayList<>(records.size());
		for (NewRecord newRecord : records) {
			List<SourceRecord> stream = stream(newRecord.shard());
			Offset offset = new Offset(Integer.toString(stream.size() + 1));
			stream.add(new SourceRecord(offset, newRecord.key(), newRecord.payload(), newRecord.headers(),
					System.currentTimeMillis()));
			offsets.add(offset);
		}
		notifyAll();
		return offsets;
	}

	@Override
	public synchronized Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		if (position instanceof StartPosition.From from) {
			MemoryPositions.requireOffset(from.first());
		}
		Map<ShardId, Offset> offsets = new HashMap<>();
		shards.forEach((shard) -> offsets.put(shard, MemoryPositions.before(position, stream(shard))));
		return offsets;
	}

	private List<SourceRecord> stream(ShardId shard) {
		return this.streams.computeIfAbsent(shard, (s) -> new ArrayList<>());
	}

	@Override
	public ShardReader openReader() {
		return new Reader();
	}

	@Override
	public void close() {
		// Nothing is held open.
	}

	private final class Reader implements ShardReader {

		private final Map<ShardId, Position> positions = new HashMap<>();

		@Override
		public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
			synchronized (MemoryStreamSource.this) {
				this.positions.put(shard, new Position(sink, (after != null) ? Integer.parseInt(after.value()) : 0));
				MemoryStreamSource.this.notifyAll();
			}
		}

		@Override
		public void stop(ShardId shard) {
			synchronized (MemoryStreamSource.this) {
				this.positions.remove(shard);
			}
		}

		@Override
		public void resume(ShardId shard) {
			synchronized (MemoryStreamSource.this) {
				Position position = this.positions.get(shard);
				if (position != null) {
					position.paused = false;
					MemoryStreamSource.this.notifyAll();
				}
			}
		}

		@Override
		public boolean poll() throws InterruptedException {
			synchronized (MemoryStreamSource.this) {
				if (!deliver()) {
					MemoryStreamSource.this.wait(1000);
					deliver();
				}
				return true;
			}
		}

		@Override
		public Map<ShardId, String> problems() {
			return Map.of();
		}

		private boolean deliver() {
			boolean delivered = false;
			for (Map.Entry<ShardId, Position> entry : this.positions.entrySet()) {
				Position position = entry.getValue();
				List<SourceRecord> stream = stream(entry.getKey());
				int end = Math.min(stream.size(), position.next + RECORDS_PER_POLL);
				if (!position.paused && position.next < end) {
					List<SourceRecord> records = List.copyOf(stream.subList(position.next, end));
					position.next = end;
					position.paused = !position.sink.offer(records);
					delivered = true;
				}
			}
			return delivered;
		}

		@Override
		public void close() {
			synchronized (MemoryStreamSource.this) {
				this.positions.clear();
				MemoryStreamSource.this.notifyAll();
			}
		}

	}

	private static final class Position {

		private final ShardReader.RecordSink sink;

		private int next;

		private boolean paused;

		Position(ShardReader.RecordSink sink, int next) {
			this.sink = sink;
			this.next = next;
		}

	}

}
