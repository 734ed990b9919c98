package io.github.shardkeeper.state.value;

import org.jspecify.annotations.Nullable;

/** The version of a stored value is not known here, or cannot be converted. */
final class ValueVersionException extends IllegalArgumentException {

	private final String reason;

	ValueVersionException(String reason, @Nullable Throwable cause) {
		super(reason, cause);
		this.reason = reason;
	}

	/** Returns why, as the second part of a sentence. May quote the value. */
	String reason() {
		return this.reason;
	}

}
