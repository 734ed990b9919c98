package io.github.shardkeeper.autoconfigure.failure;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.ShardContext;
import io.github.shardkeeper.ShardRecord;
import io.github.shardkeeper.autoconfigure.properties.FailureRule;

/**
 * Chooses by the rules in properties. The first rule counts that names the class of the
 * failure or of one of its causes, or a superclass of these, and whose attempts are not
 * used up. Immutable.
 */
final class FailureTable implements FailureHandler {

	private static final int MAX_CAUSES = 20;

	private final List<FailureRule> rules;

	FailureTable(List<FailureRule> rules) {
		this.rules = List.copyOf(rules);
	}

	@Override
	public FailureAction choose(ShardContext shard, ShardRecord<byte[]> record, Throwable failure) {
		for (FailureRule rule : this.rules) {
			Integer maxAttempts = rule.maxAttempts();
			if ((maxAttempts == null || record.attempt() < maxAttempts) && matches(rule, failure)) {
				return new FailureAction(Objects.requireNonNull(rule.action()), delay(rule, record.attempt()));
			}
		}
		return FailureAction.asConfigured();
	}

	private static boolean matches(FailureRule rule, Throwable failure) {
		Throwable cause = failure;
		for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
			for (Class<?> type : rule.exceptions()) {
				if (type.isInstance(cause)) {
					return true;
				}
			}
			cause = cause.getCause();
		}
		return false;
	}

	private static Duration longer(Duration one, Duration other) {
		return (one.compareTo(other) > 0) ? one : other;
	}

	private static @Nullable Duration delay(FailureRule rule, int attempt) {
		Duration first = rule.delay();
		if (first == null) {
			return null;
		}
		Duration longest = (rule.maxDelay() != null) ? rule.maxDelay() : longer(first, FailureRule.MAX_DELAY);
		double millis = first.toMillis() * Math.pow(rule.multiplier(), attempt - 1.0);
		return (millis < longest.toMillis()) ? Duration.ofMillis((long) millis) : longest;
	}

}
