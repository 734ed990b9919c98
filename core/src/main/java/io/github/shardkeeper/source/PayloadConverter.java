package io.github.shardkeeper.source;

import java.lang.reflect.Type;

/**
 * Converts payloads to bytes and back, for all topics. A bean of this type replaces
 * {@link JsonPayloadConverter}. Has to be thread-safe.
 */
public interface PayloadConverter {

	/**
	 * Writes a payload.
	 * @param payload the payload that was given to a
	 * {@link io.github.shardkeeper.ShardTemplate}
	 * @return its bytes
	 * @throws IllegalArgumentException when it cannot be written; nothing is sent then
	 */
	byte[] write(Object payload);

	/**
	 * Reads a payload.
	 * @param payload its bytes
	 * @param type the type that the handler declares
	 * @return an instance of that type, never {@code null}
	 * @throws PayloadConversionException when the bytes are not of that type; a retry
	 * does not help. Every other exception counts as this one
	 */
	Object read(byte[] payload, Type type);

}
