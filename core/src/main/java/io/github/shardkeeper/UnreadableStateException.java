package io.github.shardkeeper;

import java.lang.reflect.Type;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a value of the state cannot be converted to the type that the handler asks
 * for, for example after a change of its class. If a call ends with it, also as a cause,
 * the shard halts before its record until it has another owner: no record is retried or
 * put aside, because the record is not at fault. A handler that catches it may read the
 * value as another type.
 */
public class UnreadableStateException extends IllegalArgumentException {

	/** Key and type, as one part of a sentence. */
	private final String subject;

	/**
	 * Creates the exception.
	 * @param key the key of the value, as it is to be shown
	 * @param type the type that the handler asks for
	 * @param reason why the value cannot be converted; may quote it
	 * @param cause the cause, {@code null} for none
	 */
	public UnreadableStateException(String key, Type type, String reason, @Nullable Throwable cause) {
		this("he state under key '%s' cannot be read as %s".formatted(key, type.getTypeName()), reason, cause);
	}

	private UnreadableStateException(String subject, String reason, @Nullable Throwable cause) {
		super("T%s: %s".formatted(subject, reason), cause);
		this.subject = "t" + subject;
	}

	/**
	 * Returns what cannot be read. Unlike the message, it quotes nothing of the value.
	 * @return the key and the type, as a sentence that begins with a small letter
	 */
	public String subject() {
		return this.subject;
	}

}
