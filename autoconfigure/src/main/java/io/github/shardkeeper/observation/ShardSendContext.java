package io.github.shardkeeper.observation;

import java.util.Map;

import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.SenderContext;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * Context of the observation of one record that is sent. Its carrier holds the headers of
 * the record, into which the trace is written. The observation starts on the sender's
 * thread and stops on the thread on which the reply arrives. Thread-safe.
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
	 * {@return the shard that the record is sent to}
	 */
	public ShardId shard() {
		return this.shard;
	}

	/**
	 * {@return the key of the record, {@code null} if there is none}
	 */
	public @Nullable String key() {
		return this.key;
	}

	/**
	 * {@return the record's offset, {@code null} before the reply or if not known}
	 */
	public @Nullable Offset offset() {
		return this.offset;
	}

}
