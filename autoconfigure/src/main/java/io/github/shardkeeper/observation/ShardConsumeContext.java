package io.github.shardkeeper.observation;

import java.util.List;
import java.util.Map;

import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.shard.Offset;

/**
 * Context of the observation of one handler call. Its carrier holds the record's headers,
 * so that the call continues the record's trace; it is empty without records and for a
 * batch, which may belong to several traces. Confined to the thread of the call.
 */
public final class ShardConsumeContext extends ReceiverContext<Map<String, String>> {

	private final ShardContext shard;

	private final List<ShardRecord<?>> records;

	ShardConsumeContext(ShardContext shard, List<ShardRecord<?>> records) {
		super(Map::get);
		this.shard = shard;
		this.records = records;
		setCarrier((records.size() == 1) ? records.get(0).headers() : Map.of());
	}

	/**
	 * {@return the context that the handler gets, too}
	 */
	public ShardContext shard() {
		return this.shard;
	}

	/**
	 * {@return the number of records of the call, 0 for a handler that loops}
	 */
	public int records() {
		return this.records.size();
	}

	/**
	 * {@return the offset of the first record, {@code null} for a handler that loops}
	 */
	public @Nullable Offset offset() {
		return this.records.isEmpty() ? null : this.records.get(0).offset();
	}

	/**
	 * {@return the key of the first record, {@code null} if there is none}
	 */
	public @Nullable String key() {
		return this.records.isEmpty() ? null : this.records.get(0).key();
	}

}
