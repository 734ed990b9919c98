package io.github.shardkeeper.source;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Between payloads and their bytes: {@code byte[]} as it is, {@code String} as UTF-8,
 * everything else as JSON. Thread-safe.
 */
public final class PayloadConverter {

	private final JsonMapper mapper;

	/**
	 * Creates a converter.
	 * @param mapper reads and writes JSON
	 */
	public PayloadConverter(JsonMapper mapper) {
		this.mapper = mapper;
	}

	/**
	 * Writes a payload.
	 * @param payload the payload
	 * @return its bytes
	 * @throws IllegalArgumentException when it cannot be written as JSON
	 */
	public byte[] write(Object payload) {
		if (payload instanceof byte[] bytes) {
			return bytes;
		}
		if (payload instanceof String string) {
			return string.getBytes(StandardCharsets.UTF_8);
		}
		try {
			return this.mapper.writeValueAsBytes(payload);
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException(
					"Cannot write a payload of type %s as JSON".formatted(payload.getClass().getName()), ex);
		}
	}

	/**
	 * Reads a payload.
	 * @param payload its bytes
	 * @param type the type wanted
	 * @return the payload
	 * @throws PayloadConversionException when the bytes are not JSON of that type; a
	 * retry does not help
	 */
	public Object read(byte[] payload, Type type) {
		if (type == byte[].class) {
			return payload;
		}
		if (type == String.class) {
			return new String(payload, StandardCharsets.UTF_8);
		}
		try {
			Object value = this.mapper.readValue(payload, this.mapper.constructType(type));
			if (value == null) {
				throw new PayloadConversionException(type, "it is the JSON value null", null);
			}
			return value;
		}
		catch (JacksonException ex) {
			throw new PayloadConversionException(type, ex.getOriginalMessage(), ex);
		}
	}

}
