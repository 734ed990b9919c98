package io.github.shardkeeper.redis;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import io.github.shardkeeper.text.PrintableLogger;

/**
 * Operations (in the infinitive) that Redis refuses for want of a right or of a command,
 * or that are skipped for want of information, while consumption continues. Thread-safe.
 */
public final class RefusedOperations {

	private static final Logger logger = PrintableLogger.of(RefusedOperations.class);

	private final Map<String, String> reasons = new ConcurrentHashMap<>();

	/**
	 * Records and logs a failed operation, once, if a right or the command is missing;
	 * returns whether that is so.
	 */
	public boolean failed(String operation, Throwable failure) {
		if (recordIfNew(operation, failure)) {
			logger.warn("Cannot {}; trying again. {}", operation, failure.getMessage());
		}
		return isMissing(failure.getCause());
	}

	/**
	 * Records an operation that lacks a right or a command; returns whether the reason is
	 * new.
	 */
	public boolean recordIfNew(String operation, Throwable failure) {
		return isMissing(failure.getCause()) && isNew(operation, String.valueOf(failure.getMessage()));
	}

	private static boolean isMissing(@Nullable Throwable cause) {
		return MissingRight.isReason(cause) || UnknownCommand.isReason(cause);
	}

	/** Records an operation; returns whether the reason is new. */
	private boolean isNew(String operation, String reason) {
		return !reason.equals(this.reasons.put(operation, reason));
	}

	/** Records an operation that is refused for any reason, without logging it. */
	public void refused(String operation, String reason) {
		this.reasons.put(operation, reason);
	}

	/** Records and logs, once, an operation that lacks information from Redis. */
	public void skipped(String operation, String reason) {
		if (isNew(operation, reason)) {
			logger.warn("Cannot {}; trying again. {}", operation, reason);
		}
	}

	/** Removes an operation that has succeeded. */
	public void succeeded(String operation) {
		// The check keeps the normal case free of cost.
		if (!this.reasons.isEmpty() && this.reasons.remove(operation) != null) {
			logger.info("Redis allows again to {}", operation);
		}
	}

	/**
	 * {@return by operation the reason for which it is refused now}
	 */
	public Map<String, String> reasons() {
		return new TreeMap<>(this.reasons);
	}

}
