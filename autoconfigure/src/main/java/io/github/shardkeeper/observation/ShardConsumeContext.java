package io.github.shardkeeper.observation;

import java.util.List;
import java.util.Map;

import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.source.SourceRecord;

/**
 * One call of a handler's method. Its carrier are the record's headers, from which a
 * trace goes on. A call with a batch, which may come from many traces, has a carrier
 * without headers and begins a trace of its own; so has one without records. Confined to
 * the thread of the call.
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
	 * The shard that the call is made for.
	 * @return what the handler knows of it
	 */
	public ShardContext shard() {
		return this.shard;
	}

	/**
	 * How many records the call is made with.
	 * @return their number, 0 for a handler that loops
	 */
	public int records() {
		return this.records.size();
	}

	/**
	 * The position of the record, or of a batch's first one.
	 * @return the offset, {@code null} for a handler that loops
	 */
	public @Nullable Offset offset() {
		return this.records.isEmpty() ? null : this.records.get(0).offset();
	}

	/**
	 * The key of the record, or of a batch's first one.
	 * @return the key, {@code null} for none
	 */
	public @Nullable String key() {
		return this.records.isEmpty() ? null : this.records.get(0).key();
	}

}
