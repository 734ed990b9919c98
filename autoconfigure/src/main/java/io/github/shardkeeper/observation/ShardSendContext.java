package io.github.shardkeeper.observation;

import java.util.Map;

import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.SenderContext;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * One record that is sent. Its carrier are the record's headers, into which the trace is
 * written. Begun on the sender's thread, ended on whichever the answer comes on.
 */
public final class ShardSendContext extends SenderContext<Map<String, String>> {

	private final ShardId shard;

	private final @Nullable String key;

	private volatile @Nullable Offset offset;

	ShardSendContext(ShardId shard, @Nullable String key, Map<String, String> headers) {
		super((carrier, name, value) -> {
			if (carrier != null) {
				carrier.put(name, value);
			}
		}, Kind.PRODUCER);
		this.shard = shard;
		this.key = key;
		setCarrier(headers);
	}

	void appendedAt(@Nullable Offset position) {
		this.offset = position;
	}

	/**
	 * The shard that it is sent to.
	 * @return topic and id
	 */
	public ShardId shard() {
		return this.shard;
	}

	/**
	 * The record's key.
	 * @return the key, {@code null} for none
	 */
	public @Nullable String key() {
		return this.key;
	}

	/**
	 * Where it was appended.
	 * @return the position; {@code null} before the answer, and when that is not known
	 */
	public @Nullable Offset offset() {
		return this.offset;
	}

}
