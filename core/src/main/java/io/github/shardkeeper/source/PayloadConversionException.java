package io.github.shardkeeper.source;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a record cannot be converted to what its handler takes. A retry does not
 * help: the record, the handler's parameter type or the JSON mapper must change.
 */
public class PayloadConversionException extends RuntimeException {

	/**
	 * Creates an exception.
	 * @param message the reason
	 */
	public PayloadConversionException(String message) {
		super(message);
	}

	/**
	 * Creates an exception with a cause.
	 * @param message the reason
	 * @param cause the cause
	 */
	public PayloadConversionException(String message, Throwable cause) {
		super(message, cause);
	}

	PayloadConversionException(Type type, String reason, @Nullable Throwable cause) {
		super("The payload cannot be converted to %s: %s".formatted(type.getTypeName(), reason), cause);
	}

}
