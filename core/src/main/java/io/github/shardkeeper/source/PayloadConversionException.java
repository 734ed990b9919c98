package io.github.shardkeeper.source;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a record cannot be converted to what its handler takes. A retry does not
 * help: the record, the handler's parameter type or the JSON mapper must change.
 */
public class PayloadConversionException extends RuntimeException {

	private final @Nullable String target;

	/**
	 * Creates an exception.
	 * @param message the reason
	 */
	public PayloadConversionException(String message) {
		super(message);
		this.target = null;
	}

	/**
	 * Creates an exception with a cause.
	 * @param message the reason
	 * @param cause the cause
	 */
	public PayloadConversionException(String message, Throwable cause) {
		super(message, cause);
		this.target = null;
	}

	PayloadConversionException(Type type, String reason, @Nullable Throwable cause) {
		super("The payload cannot be converted to %s: %s".formatted(type.getTypeName(), reason), cause);
		this.target = type.getTypeName();
	}

	/**
	 * Returns the type that the payload cannot be converted to. Unlike the message, it
	 * quotes nothing of the record.
	 * @return the name of the type, {@code null} if it is not known
	 */
	public @Nullable String target() {
		return this.target;
	}

}
