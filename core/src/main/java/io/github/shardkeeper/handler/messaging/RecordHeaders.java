package io.github.shardkeeper.handler.messaging;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

import org.springframework.messaging.MessageHeaders;

import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardHeaders;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

/**
 * The headers of a record's message. A header of the record that is called {@code id} or
 * {@code timestamp} is kept, although it is not a UUID or a number. The message has no id
 * of its own: creating one would cost more than everything else.
 */
final class RecordHeaders extends MessageHeaders {

	private static final long serialVersionUID = 1L;

	private final transient ShardId shard;

	private final transient SourceRecord source;

	RecordHeaders(ShardContext context, SourceRecord source, int attempt) {
		super(null, ID_VALUE_NONE, source.timestampMillis());
		this.shard = context.shard();
		this.source = source;
		Map<String, Object> values = getRawHeaders();
		values.putAll(source.headers());
		// A header cannot stand for the key of a record without one.
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
		values.put(ShardHeaders.ATTEMPT, attempt);
	}

	/** Converts the payload of the record. */
	Object payload(PayloadConverter converter, Type type) {
		return converter.read(this.shard, this.source, type);
	}

	/** Returns {@code null}, also if the record has a header of that name. */
	@Override
	public @Nullable UUID getId() {
		return null;
	}

	/** Returns the time of appending, also if the record has a header of that name. */
	@Override
	public Long getTimestamp() {
		return this.source.timestampMillis();
	}

}
