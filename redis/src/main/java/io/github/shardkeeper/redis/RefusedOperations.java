package io.github.shardkeeper.redis;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Operations that Redis refuses because its user lacks a right, or that are skipped for
 * want of information, while consumption continues without them. Health shows them.
 * Thread-safe.
 */
public final class RefusedOperations {

	private static final Logger logger = LoggerFactory.getLogger(RefusedOperations.class);

	private final Map<String, String> reasons = new ConcurrentHashMap<>();

	/**
	 * Records and logs a failed operation, once, if a right is missing.
	 * @param operation the operation, in the infinitive
	 * @param failure the reason
	 */
	public void failed(String operation, Throwable failure) {
		if (recordIfNew(operation, failure)) {
			logger.warn("Cannot {}; trying again. {}", operation, failure.getMessage());
		}
	}

	/**
	 * Records a failed operation that the caller logs, if a right is missing.
	 * @param operation the operation, in the infinitive
	 * @param failure the reason
	 * @return whether this reason is new
	 */
	public boolean recordIfNew(String operation, Throwable failure) {
		return MissingRight.isReason(failure.getCause())
				&& !String.valueOf(failure.getMessage()).equals(this.reasons.put(operation, failure.getMessage()));
	}

	/**
	 * Records and logs, once, an operation that is skipped because Redis does not report
	 * what it needs.
	 * @param operation the operation, in the infinitive
	 * @param reason what Redis does not report, and what to do
	 */
	public void skipped(String operation, String reason) {
		if (!reason.equals(this.reasons.put(operation, reason))) {
			logger.warn("Cannot {}; trying again. {}", operation, reason);
		}
	}

	/**
	 * Removes an operation that has succeeded.
	 * @param operation the operation, in the infinitive
	 */
	public void succeeded(String operation) {
		// The check keeps the normal case free of cost.
		if (!this.reasons.isEmpty() && this.reasons.remove(operation) != null) {
			logger.info("Redis allows again to {}", operation);
		}
	}

	/**
	 * Returns the operations that are refused now.
	 * @return by operation the reason
	 */
	public Map<String, String> reasons() {
		return new TreeMap<>(this.reasons);
	}

}
