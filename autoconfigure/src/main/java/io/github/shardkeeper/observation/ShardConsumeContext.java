package io.github.shardkeeper.observation;

import java.util.List;
import java.util.Map;

import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

/**
 * Context of the observation of one call of a handler. Its carrier holds the headers of
 * the record, so that the call continues the record's trace. A call with a batch or
 * without records has an empty carrier and begins a new trace, because the records of a
 * batch may belong to several. Confined to the thread of the call.
 */
public final class ShardConsumeContext extends ReceiverContext<Map<String, String>> {

	private final ShardContext shard;

	private final List<SourceRecord> records;

	ShardConsumeContext(ShardContext shard, List<SourceRecord> records) {
		super(Map::get);
		this.shard = shard;
		this.records = records;
		setCarrier((records.size() == 1) ? records.get(0).headers() : Map.of());
	}

	/**
	 * Returns the shard that the call is made for.
	 * @return the context that the handler gets too
	 */
	public ShardContext shard() {
		return this.shard;
	}

	/**
	 * Returns the number of records that the call is made with.
	 * @return the number, 0 for a handler that loops
	 */
	public int records() {
		return this.records.size();
	}

	/**
	 * Returns the offset of the record, or of the first record of a batch.
	 * @return the offset, {@code null} for a handler that loops
	 */
	public @Nullable Offset offset() {
		return this.records.isEmpty() ? null : this.records.get(0).offset();
	}

	/**
	 * Returns the key of the record, or of the first record of a batch.
	 * @return the key, {@code null} if there is none
	 */
	public @Nullable String key() {
		return this.records.isEmpty() ? null : this.records.get(0).key();
	}

}
