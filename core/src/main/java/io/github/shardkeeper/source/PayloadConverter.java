package io.github.shardkeeper.source;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.Objects;

import io.github.shardkeeper.shard.ShardId;

/**
 * Converts payloads to bytes and back: of the topics that name its bean in
 * {@code shardkeeper.topics.<name>.converter}, or of all that name none. A bean of this
 * type replaces {@link JsonPayloadConverter}. Implementations must be thread-safe.
 */
public interface PayloadConverter {

	/**
	 * Converts a payload to bytes.
	 * @param payload the payload passed to a {@link io.github.shardkeeper.ShardTemplate}
	 * @return the bytes, never {@code null}
	 * @throws IllegalArgumentException if it cannot be converted; a retry does not help
	 */
	byte[] write(Object payload);

	/**
	 * Converts the payload of a record to send. By default, only the payload matters;
	 * override it for a format that depends on the topic, or that adds headers.
	 * @param shard the shard of the record
	 * @param payload the payload passed to a {@link io.github.shardkeeper.ShardTemplate}
	 * @param headers the headers of the record, which may be changed
	 * @return the bytes, never {@code null}
	 * @throws IllegalArgumentException if it cannot be converted; a retry does not help
	 * @throws io.github.shardkeeper.SendFailedException if it cannot be converted now
	 */
	default byte[] write(ShardId shard, Object payload, Map<String, String> headers) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(payload, "payload must not be null");
		Objects.requireNonNull(headers, "headers must not be null");
		return write(payload);
	}

	/**
	 * Converts bytes to a payload.
	 * @param payload the bytes
	 * @param type the type that the handler declares
	 * @return an instance of that type, never {@code null}
	 * @throws PayloadConversionException if they cannot be converted; a retry does not
	 * help. Any other exception is treated like this one
	 */
	Object read(byte[] payload, Type type);

	/**
	 * Converts the payload of a record. By default, only its bytes matter; override it
	 * for a format that depends on the topic or on headers.
	 * @param shard the shard of the record
	 * @param source the record
	 * @param type the type that the handler declares
	 * @return an instance of that type, never {@code null}
	 * @throws PayloadConversionException if it cannot be converted; a retry does not
	 * help. Any other exception is treated like this one
	 */
	default Object read(ShardId shard, SourceRecord source, Type type) {
		Objects.requireNonNull(shard, "shard must not be null");
		Objects.requireNonNull(source, "source must not be null");
		Objects.requireNonNull(type, "type must not be null");
		return read(source.payload(), type);
	}

}
