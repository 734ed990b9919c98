package io.github.shardkeeper.source.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Reads streams of one process. Thread-safe but for {@link #poll()}.
 */
final class MemoryStreamReader implements ShardReader {

	private static final int RECORDS_PER_POLL = 500;

	/** The source's; whoever waits for records waits on it. */
	private final Object lock;

	private final Function<ShardId, MemoryStream> streams;

	private final Map<ShardId, Position> positions = new HashMap<>();

	MemoryStreamReader(Object lock, Function<ShardId, MemoryStream> streams) {
		this.lock = lock;
		this.streams = streams;
	}

	@Override
	public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
		synchronized (this.lock) {
			this.positions.put(shard, new Position(sink, (after != null) ? Integer.parseInt(after.value()) : 0));
			this.lock.notifyAll();
		}
	}

	@Override
	public void stop(ShardId shard) {
		synchronized (this.lock) {
			this.positions.remove(shard);
		}
	}

	@Override
	public void resume(ShardId shard) {
		synchronized (this.lock) {
			Position position = this.positions.get(shard);
			if (position != null) {
				position.paused = false;
				this.lock.notifyAll();
			}
		}
	}

	@Override
	public boolean poll() throws InterruptedException {
		synchronized (this.lock) {
			if (!deliver()) {
				this.lock.wait(1000);
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
		for (Map.Entry<ShardId, Position> entry : List.copyOf(this.positions.entrySet())) {
			delivered |= deliver(this.streams.apply(entry.getKey()), entry.getValue());
		}
		return delivered;
	}

	private static boolean deliver(MemoryStream stream, Position position) {
		int end = Math.min(stream.records().size(), position.next + RECORDS_PER_POLL);
		if (position.paused || position.ended) {
			return false;
		}
		if (position.next < end) {
			List<SourceRecord> records = List.copyOf(stream.records().subList(position.next, end));
			boolean room = position.sink.offer(records);
			position.next = end;
			position.paused = !room;
			return true;
		}
		if (stream.isClosed()) {
			position.ended = true;
			position.sink.ended();
			return true;
		}
		return false;
	}

	@Override
	public void close() {
		synchronized (this.lock) {
			this.positions.clear();
			this.lock.notifyAll();
		}
	}

	private static final class Position {

		private final RecordSink sink;

		private int next;

		private boolean paused;

		private boolean ended;

		Position(RecordSink sink, int next) {
			this.sink = sink;
			this.next = next;
		}

	}

}
