package io.github.shardkeeper.redis;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Steps that Redis refuses because its user lacks a right, or that are left out because
 * it does not tell what they need, although nothing stands still without them: nobody
 * else would tell. Thread-safe.
 */
public final class RefusedSteps {

	private static final Logger logger = LoggerFactory.getLogger(RefusedSteps.class);

	private final Map<String, String> texts = new ConcurrentHashMap<>();

	/**
	 * A step has failed. Remembers it and logs it once, if a right is missing.
	 * @param step what cannot be done, in the infinitive
	 * @param failure why
	 */
	public void failed(String step, Throwable failure) {
		if (remember(step, failure)) {
			logger.warn("Cannot {}; trying again. {}", step, failure.getMessage());
		}
	}

	/**
	 * The same for a step whose caller logs it.
	 * @param step what cannot be done, in the infinitive
	 * @param failure why
	 * @return whether it is new that a right is missing for it
	 */
	public boolean remember(String step, Throwable failure) {
		return MissingRight.isReason(failure.getCause())
				&& !String.valueOf(failure.getMessage()).equals(this.texts.put(step, failure.getMessage()));
	}

	/**
	 * A step is left out because of something that Redis does not tell. Remembers it and
	 * logs it once.
	 * @param step what cannot be done, in the infinitive
	 * @param why what it does not tell, and what to do
	 */
	public void skipped(String step, String why) {
		if (!why.equals(this.texts.put(step, why))) {
			logger.warn("Cannot {}; trying again. {}", step, why);
		}
	}

	/**
	 * A step has succeeded.
	 * @param step what can be done (again), in the infinitive
	 */
	public void done(String step) {
		// Nearly always there is nothing, and that costs nothing.
		if (!this.texts.isEmpty() && this.texts.remove(step) != null) {
			logger.info("Redis allows again to {}", step);
		}
	}

	/**
	 * What is refused now.
	 * @return by step why
	 */
	public Map<String, String> texts() {
		return new TreeMap<>(this.texts);
	}

}
