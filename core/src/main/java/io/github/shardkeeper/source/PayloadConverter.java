package io.github.shardkeeper.source;

import java.lang.reflect.Type;

/**
 * Converts payloads to bytes and back, for all topics. A bean of this type replaces
 * {@link JsonPayloadConverter}. Implementations must be thread-safe.
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
	 * Converts bytes to a payload.
	 * @param payload the bytes
	 * @param type the type that the handler declares
	 * @return an instance of that type, never {@code null}
	 * @throws PayloadConversionException if they cannot be converted; a retry does not
	 * help. Any other exception is treated like this one
	 */
	Object read(byte[] payload, Type type);

}
