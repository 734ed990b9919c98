package io.github.shardkeeper.checkpoint;

import org.jspecify.annotations.Nullable;

/** The version of a stored value is not known here, or cannot be converted. */
final class ValueVersionException extends IllegalArgumentException {

	ValueVersionException(String reason, @Nullable Throwable cause) {
		super(reason, cause);
	}

}
