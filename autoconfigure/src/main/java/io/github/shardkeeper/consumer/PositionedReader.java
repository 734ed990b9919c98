package io.github.shardkeeper.consumer;

import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.ShardReader;

/**
 * A reader that begins shards of which nothing is committed where they are to begin.
 * Thread-safe as far as the reader behind it is.
 */
final class PositionedReader implements ShardReader {

	private final ShardReader reader;

	private final Function<ShardId, @Nullable Offset> before;

	/**
	 * Creates a reader over another one.
	 * @param before tells by shard the offset after which to begin, {@code null} for the
	 * first record; may ask the store for it
	 */
	PositionedReader(ShardReader reader, Function<ShardId, @Nullable Offset> before) {
		this.reader = reader;
		this.before = before;
	}

	@Override
	public void start(ShardId shard, @Nullable Offset after, RecordSink sink) {
		this.reader.start(shard, (after != null) ? after : this.before.apply(shard), sink);
	}

	@Override
	public void stop(ShardId shard) {
		this.reader.stop(shard);
	}

	@Override
	public void resume(ShardId shard) {
		this.reader.resume(shard);
	}

	@Override
	public boolean poll() throws InterruptedException {
		return this.reader.poll();
	}

	@Override
	public Map<ShardId, String> problems() {
		return this.reader.problems();
	}

	@Override
	public void close() {
		this.reader.close();
	}

}
