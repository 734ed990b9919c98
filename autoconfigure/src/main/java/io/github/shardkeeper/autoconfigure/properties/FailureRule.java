package io.github.shardkeeper.autoconfigure.properties;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.Internal;

/**
 * Rule for failures by the class of their exception. Immutable.
 *
 * @param exceptions Classes of exceptions that the rule matches, with their subclasses,
 * also as a cause. Not empty.
 * @param action Treatment of the record. Must be set.
 * @param delay Time until the next call with the record. 1ms to 365d. Required for retry;
 * defaults to shardkeeper.consumer.retry-queue.delays for retry-queue and park-key.
 * @param multiplier Multiplier of the delay for each call with the record so far,
 * whatever that has failed with. At least 1.
 * @param maxDelay Maximum delay. At least the delay, at most 365d. Defaults to 1h, or to
 * the delay if that is longer.
 * @param maxAttempts Number of calls with the record from which on the rule does not
 * match any more. At least 2. Without it there is no limit.
 */
@Internal
public record FailureRule(@DefaultValue List<Class<? extends Throwable>> exceptions,
		FailureAction.@Nullable Kind action, @Nullable Duration delay, @DefaultValue("1") double multiplier,
		@Nullable Duration maxDelay, @Nullable Integer maxAttempts) {

	/**
	 * Maximum delay if none is set: also a record that was called many times is retried.
	 */
	public static final Duration MAX_DELAY = Duration.ofHours(1);

}
