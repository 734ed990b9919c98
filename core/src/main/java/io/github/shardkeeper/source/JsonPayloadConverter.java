package io.github.shardkeeper.source;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.text.EncodableText;
import io.github.shardkeeper.text.FailureText;

/**
 * Converter of {@code byte[]} as it is, of {@code String} as UTF-8 and of everything else
 * as JSON. Thread-safe.
 */
public final class JsonPayloadConverter implements PayloadConverter {

	private final JsonMapper mapper;

	/** Refuses what has no properties: it would be sent as {@code {}} in silence. */
	private final ObjectWriter writer;

	/**
	 * Creates a converter.
	 * @param mapper reads and writes JSON
	 */
	public JsonPayloadConverter(JsonMapper mapper) {
		this.mapper = Objects.requireNonNull(mapper, "mapper must not be null");
		this.writer = mapper.writer(SerializationFeature.FAIL_ON_EMPTY_BEANS);
	}

	@Override
	public byte[] write(Object payload) {
		Objects.requireNonNull(payload, "payload must not be null");
		if (payload instanceof byte[] bytes) {
			return bytes;
		}
		if (payload instanceof String string) {
			EncodableText.require(string, "A payload");
			return string.getBytes(StandardCharsets.UTF_8);
		}
		try {
			return this.writer.writeValueAsBytes(payload);
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException("Cannot write a payload of type %s as JSON: %s"
				.formatted(payload.getClass().getName(), FailureText.ofWritingJson(ex.getOriginalMessage())), ex);
		}
	}

	@Override
	public Object read(byte[] payload, Type type) {
		Objects.requireNonNull(payload, "payload must not be null");
		Objects.requireNonNull(type, "type must not be null");
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
