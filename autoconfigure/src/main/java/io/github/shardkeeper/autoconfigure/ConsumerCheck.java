package io.github.shardkeeper.autoconfigure;

import java.time.Duration;

import io.github.shardkeeper.consumer.ConsumerSettings;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Checks how topics are to be consumed. Has no state.
 */
final class ConsumerCheck {

	private static final Duration SHORTEST_COMMIT_INTERVAL = Duration.ofMillis(1);

	private static final Duration SHORTEST_LONG_CALL = Duration.ofSeconds(1);

	private static final int LONGEST_WINDOW = 100_000;

	private ConsumerCheck() {
	}

	/** Checks the settings of one topic, which may come from those for all. */
	static void check(String topic, ConsumerSettings settings) {
		requireBetween(topic, "concurrency", settings.concurrency(), 1, 10_000);
		requireBetween(topic, "max-ahead", settings.maxAhead(), 1, LONGEST_WINDOW);
		requireBetween(topic, "batch-size", settings.batchSize(), 1, LONGEST_WINDOW);
		requireBetween(topic, "buffer.records", settings.buffer().records(), 1, Integer.MAX_VALUE);
		requireBetween(topic, "buffer.size", settings.buffer().bytes(), 1, Long.MAX_VALUE);
		requireBetween(topic, "max-payload-size", settings.maxPayloadBytes(), 0, Long.MAX_VALUE);
		requireBetween(topic, "max-conversion-failures", settings.maxConversionFailures(), 0, Integer.MAX_VALUE);
		requireBetween(topic, "commit.records", settings.commits().records(), 1, Integer.MAX_VALUE);
		if (settings.commits().interval().compareTo(SHORTEST_COMMIT_INTERVAL) < 0) {
			throw refused(topic, "commit.interval", settings.commits().interval(), "1ms or more");
		}
		if (settings.longCall().compareTo(SHORTEST_LONG_CALL) < 0) {
			throw refused(topic, "long-call", settings.longCall(), "1s or more");
		}
		for (Duration delay : settings.retryDelays()) {
			if (delay.isNegative()) {
				throw refused(topic, "retry-queue.delays", settings.retryDelays(), "times that are not negative");
			}
		}
		if (settings.onFailure() == ConsumerSettings.OnFailure.RETRY_QUEUE && settings.retryDelays().isEmpty()) {
			throw refused(topic, "retry-queue.delays", "empty",
					"at least one time, or set 'on-failure' to 'dead-letter'");
		}
	}

	/** Checks how often a record is tried in place. */
	static void check(ShardkeeperProperties.Retry retry) {
		if (retry.maxAttempts() < 1) {
			throw refused("retry.max-attempts", retry.maxAttempts(), "1 (no second call) or more");
		}
		if (retry.initialInterval().toMillis() < 1) {
			throw refused("retry.initial-interval", retry.initialInterval(), "1ms or more");
		}
		if (retry.multiplier() < 1) {
			throw refused("retry.multiplier", retry.multiplier(), "1 (pauses that do not grow) or more");
		}
		// Binding does not look at the bound of the type argument.
		for (Class<?> excluded : retry.excludes()) {
			if (!Throwable.class.isAssignableFrom(excluded)) {
				throw refused("retry.excludes", excluded.getName(),
						"classes of exceptions only, such as java.lang.IllegalArgumentException");
			}
		}
		if (retry.maxInterval().compareTo(retry.initialInterval()) < 0) {
			throw refused("retry.max-interval", retry.maxInterval(),
					"at least 'shardkeeper.consumer.retry.initial-interval', which is " + retry.initialInterval());
		}
	}

	private static void requireBetween(String topic, String property, long value, long least, long most) {
		if (value < least || value > most) {
			throw refused(topic, property, value,
					(most < Integer.MAX_VALUE) ? "a number from %d to %d".formatted(least, most) : least + " or more");
		}
	}

	private static ShardkeeperConfigurationException refused(String topic, String property, Object value,
			String instead) {
		return new ShardkeeperConfigurationException(
				"'shardkeeper.consumer.%s' or 'shardkeeper.topics.%s.consumer.%s' is %s.".formatted(property, topic,
						property, value),
				"Set it to %s.".formatted(instead));
	}

	private static ShardkeeperConfigurationException refused(String property, Object value, String instead) {
		return new ShardkeeperConfigurationException(
				"'shardkeeper.consumer.%s', for all topics or for one of them, is %s.".formatted(property, value),
				"Set it to %s.".formatted(instead));
	}

}
