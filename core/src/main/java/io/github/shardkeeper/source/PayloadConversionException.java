package io.github.shardkeeper.source;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

/**
 * A payload is not what its handler expects. A retry does not help: the record, the
 * handler's type or the JSON mapper must change.
 */
public class PayloadConversionException extends RuntimeException {

	/**
	 * Creates one for a record that cannot be handed out.
	 * @param message why not
	 */
	public PayloadConversionException(String message) {
		super(message);
	}

	/**
	 * Creates one for a record that cannot be handed out.
	 * @param message why not
	 * @param cause where it showed
	 */
	public PayloadConversionException(String message, Throwable cause) {
		super(message, cause);
	}

	PayloadConversionException(Type type, String reason, @Nullable Throwable cause) {
		super("The payload cannot be converted to %s: %s".formatted(type.getTypeName(), reason), cause);
	}

}
