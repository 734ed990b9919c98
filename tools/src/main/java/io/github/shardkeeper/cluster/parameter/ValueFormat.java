package io.github.shardkeeper.cluster.parameter;

import java.time.temporal.Temporal;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.TypeDescriptor;

import io.github.shardkeeper.text.FailureText;

/** Values as text: as in configuration properties, or as JSON. Thread-safe. */
public final class ValueFormat {

	private static final TypeDescriptor TEXT = TypeDescriptor.valueOf(String.class);

	private final ConversionService conversion;

	private final JsonMapper mapper;

	/** Creates a format. */
	public ValueFormat(ConversionService conversion, JsonMapper mapper) {
		this.conversion = conversion;
		this.mapper = mapper;
	}

	/**
	 * Reads a value.
	 * @throws UnusableValueException if the text is no value of the type
	 */
	Object read(String text, ValueType type) {
		Object value;
		try {
			value = type.isPlain() ? this.conversion.convert(text, TEXT, type.descriptor())
					: this.mapper.readValue(text, this.mapper.constructType(type.type()));
		}
		catch (ConversionException ex) {
			throw new UnusableValueException(noValue(type, reason(ex)), ex);
		}
		catch (JacksonException ex) {
			throw new UnusableValueException(noValue(type, "JSON: " + ex.getOriginalMessage()), ex);
		}
		if (value == null) {
			throw new UnusableValueException(noValue(type, "it has no value"), null);
		}
		return value;
	}

	private static String noValue(ValueType type, @Nullable String reason) {
		return "it is no value of type " + type + ((reason != null) ? " (" + reason + ")" : "");
	}

	private static @Nullable String reason(ConversionException ex) {
		Throwable cause = NestedExceptionUtils.getRootCause(ex);
		return (cause != null) ? cause.getMessage() : ex.getMessage();
	}

	/**
	 * Writes a value.
	 * @throws UnusableValueException if it cannot be written
	 */
	String write(Object value, ValueType type) {
		if (!type.isPlain()) {
			try {
				return this.mapper.writerFor(this.mapper.constructType(type.type()))
					.with(SerializationFeature.FAIL_ON_EMPTY_BEANS)
					.writeValueAsString(value);
			}
			catch (JacksonException ex) {
				throw new UnusableValueException(
						"it cannot be written as JSON (" + FailureText.ofWritingJson(ex.getOriginalMessage()) + ")",
						ex);
			}
		}
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		// Converters of times depend on the locale of the process.
		if (value instanceof Temporal || !this.conversion.canConvert(value.getClass(), String.class)) {
			return value.toString();
		}
		try {
			return String.valueOf(this.conversion.convert(value, String.class));
		}
		catch (ConversionException ex) {
			throw new UnusableValueException("it cannot be written as text (" + reason(ex) + ")", ex);
		}
	}

	/** A value that cannot be used; its message begins with "it". */
	static final class UnusableValueException extends RuntimeException {

		UnusableValueException(String message, @Nullable Throwable cause) {
			super(message, cause);
		}

		String reason() {
			return String.valueOf(getMessage());
		}

	}

}
