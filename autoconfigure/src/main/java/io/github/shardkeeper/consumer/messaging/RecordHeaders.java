package io.github.shardkeeper.consumer.messaging;

import java.util.Map;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

import org.springframework.messaging.MessageHeaders;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardHeaders;
import io.github.shardkeeper.source.SourceRecord;

/**
 * The headers of a record's message. A record's own header called {@code id} or
 * {@code timestamp} is kept, and then is no UUID or number; a message has no id of its
 * own otherwise, because making one up costs more than the rest.
 */
final class RecordHeaders extends MessageHeaders {

	private static final long serialVersionUID = 1L;

	private final long appendedMillis;

	RecordHeaders(ShardContext context, SourceRecord source) {
		super(null, ID_VALUE_NONE, source.timestampMillis());
		this.appendedMillis = source.timestampMillis();
		Map<String, Object> values = getRawHeaders();
		values.putAll(source.headers());
		// A record without a key has none, whatever its headers say.
		values.remove(ShardHeaders.KEY);
		String key = source.key();
		if (key != null) {
			values.put(ShardHeaders.KEY, key);
		}
		values.put(ShardHeaders.TOPIC, context.shard().topic());
		values.put(ShardHeaders.SHARD, context.shard().id());
		values.put(ShardHeaders.OFFSET, source.offset().value());
		values.put(ShardHeaders.TIMESTAMP, source.timestamp());
		values.put(ShardHeaders.GROUP, context.group());
	}

	/** None, whatever the record's header of that name says. */
	@Override
	public @Nullable UUID getId() {
		return null;
	}

	/** When it was appended, whatever the record's header of that name says. */
	@Override
	public Long getTimestamp() {
		return this.appendedMillis;
	}

}
