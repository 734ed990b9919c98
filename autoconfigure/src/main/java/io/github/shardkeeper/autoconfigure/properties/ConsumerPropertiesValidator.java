package io.github.shardkeeper.autoconfigure.properties;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Buffer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Commit;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Consumer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Retry;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.TopicConsumer;
import io.github.shardkeeper.checkpoint.ExpiringValues;
import io.github.shardkeeper.text.DurationText;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;

/**
 * Checks the rules for {@code shardkeeper.consumer.*}, as it is in force for all topics
 * or for one. Confined to one thread.
 */
final class ConsumerPropertiesValidator {

	static final int MAX_CONCURRENCY = 10_000;

	private static final int MAX_WINDOW = 100_000;

	private static final int MAX_PARKED_KEYS = 100_000;

	private static final int MAX_PARKED_RECORDS = 1_000_000;

	private final PropertyProblems problems;

	private final String topic;

	private final TopicConsumer own;

	/**
	 * Creates a validator for a topic.
	 * @param own what the topic has of its own
	 */
	ConsumerPropertiesValidator(PropertyProblems problems, String topic, @Nullable TopicConsumer own) {
		this.problems = problems;
		this.topic = topic;
		this.own = (own != null) ? own : TopicConsumer.NONE;
	}

	static ConsumerPropertiesValidator ofAllTopics(PropertyProblems problems) {
		return new ConsumerPropertiesValidator(problems, "", null);
	}

	void validate(Consumer consumer) {
		this.problems.requireBetween(name("concurrency", this.own.concurrency()), consumer.concurrency(), 1,
				MAX_CONCURRENCY);
		this.problems.requireBetween(name("max-ahead", this.own.maxAhead()), consumer.maxAhead(), 1, MAX_WINDOW);
		this.problems.requireBetween(name("batch-size", this.own.batchSize()), consumer.batchSize(), 1, MAX_WINDOW);
		this.problems.requireBetween(name("max-conversion-failures", this.own.maxConversionFailures()),
				consumer.maxConversionFailures(), 0, Integer.MAX_VALUE);
		this.problems.requireAtLeast(name("long-call", this.own.longCall()), consumer.longCall(),
				Duration.ofSeconds(1));
		validate(consumer.buffer());
		validate(consumer.commit());
		validate(consumer.retry());
		String delays = name("retry-queue.delays", this.own.retryQueue().delays());
		for (Duration delay : consumer.retryQueue().delays()) {
			this.problems.requireAtLeast(delays, delay, Duration.ZERO);
		}
		this.problems.requireAtLeast(name("retry-queue.max-age", this.own.retryQueue().maxAge()),
				consumer.retryQueue().maxAge(), Duration.ofSeconds(1));
		this.problems.requireAtLeast(name("dead-letters.max-age", this.own.deadLetters().maxAge()),
				consumer.deadLetters().maxAge(), Duration.ofMinutes(1));
		Long maxCount = consumer.deadLetters().maxCount();
		if (maxCount != null) {
			this.problems.requireBetween(name("dead-letters.max-count", this.own.deadLetters().maxCount()), maxCount, 1,
					Long.MAX_VALUE);
		}
		if (consumer.onFailure() == OnFailure.RETRY_QUEUE && consumer.retryQueue().delays().isEmpty()) {
			this.problems.reject("'%s' is 'retry-queue', but '%s' is empty."
				.formatted(name("on-failure", this.own.onFailure()), delays),
					"Set at least one delay, or set 'on-failure' to 'dead-letter'.");
		}
		if (consumer.onFailure() == OnFailure.PARK_KEY && consumer.retryQueue().delays().isEmpty()) {
			this.problems.reject("'%s' is 'park-key', but '%s' is empty."
				.formatted(name("on-failure", this.own.onFailure()), delays),
					"Set at least one delay, or set 'on-failure' to 'halt'.");
		}
		validateFailures(consumer);
		validate(consumer.parkKey());
		Duration ttl = consumer.state().ttl();
		if (ttl != null) {
			this.problems.requireBetween(name("state.ttl", this.own.state().ttl()), ttl, ExpiringValues.MIN_TTL,
					ExpiringValues.MAX_TTL);
		}
	}

	private void validate(ShardkeeperProperties.ParkKey parkKey) {
		ShardkeeperProperties.TopicParkKey own = this.own.parkKey();
		this.problems.requireBetween(name("park-key.max-keys", own.maxKeys()), parkKey.maxKeys(), 1, MAX_PARKED_KEYS);
		this.problems.requireBetween(name("park-key.max-records", own.maxRecords()), parkKey.maxRecords(), 1,
				MAX_PARKED_RECORDS);
	}

	private void validate(Buffer buffer) {
		ShardkeeperProperties.TopicBuffer own = this.own.buffer();
		this.problems.requireBetween(name("buffer.records", own.records()), buffer.records(), 1, Integer.MAX_VALUE);
		this.problems.requireBetween(name("buffer.size", own.size()), buffer.size().toBytes(), 1, Long.MAX_VALUE);
	}

	private void validate(Commit commit) {
		ShardkeeperProperties.TopicCommit own = this.own.commit();
		this.problems.requireBetween(name("commit.records", own.records()), commit.records(), 1, Integer.MAX_VALUE);
		this.problems.requireAtLeast(name("commit.interval", own.interval()), commit.interval(), Duration.ofMillis(1));
	}

	private void validate(Retry retry) {
		ShardkeeperProperties.TopicRetry own = this.own.retry();
		this.problems.requireBetween(name("retry.max-attempts", own.maxAttempts()), retry.maxAttempts(), 1,
				Integer.MAX_VALUE);
		String initialInterval = name("retry.initial-interval", own.initialInterval());
		this.problems.requireAtLeast(initialInterval, retry.initialInterval(), Duration.ofMillis(1));
		this.problems.require(retry.multiplier() >= 1, name("retry.multiplier", own.multiplier()), retry.multiplier(),
				"Set it to 1 (pauses that do not grow) or more.");
		this.problems.require(retry.maxInterval().compareTo(retry.initialInterval()) >= 0,
				name("retry.max-interval", own.maxInterval()), retry.maxInterval(),
				"Set it to at least '%s', which is %s.".formatted(initialInterval,
						DurationText.of(retry.initialInterval())));
		requireExceptions(name("retry.excludes", own.excludes()), retry.excludes());
	}

	/** The binder does not check the bound of the type argument. */
	private void requireExceptions(String property, List<? extends Class<?>> types) {
		for (Class<?> type : types) {
			this.problems.require(Throwable.class.isAssignableFrom(type), property, type.getName(),
					"Set it to classes of exceptions only, such as java.lang.IllegalArgumentException.");
		}
	}

	private void validateFailures(Consumer consumer) {
		String property = name("failures", this.own.failures());
		for (int i = 0; i < consumer.failures().size(); i++) {
			validate("%s[%d].".formatted(property, i), consumer.failures().get(i), consumer);
		}
	}

	private void validate(String prefix, FailureRule rule, Consumer consumer) {
		if (rule.exceptions().isEmpty()) {
			this.problems.reject("'%sexceptions' is not set.".formatted(prefix),
					"Set it to classes of exceptions; 'java.lang.Throwable' matches all.");
		}
		requireExceptions(prefix + "exceptions", rule.exceptions());
		this.problems.require(rule.multiplier() >= 1, prefix + "multiplier", rule.multiplier(),
				"Set it to 1 (delays that do not grow) or more.");
		this.problems.require(rule.maxAttempts() == null || rule.maxAttempts() >= 2, prefix + "max-attempts",
				rule.maxAttempts(), "Set it to 2 or more, or leave it out for no limit.");
		Duration delay = rule.delay();
		if (delay != null) {
			this.problems.requireBetween(prefix + "delay", delay, FailureAction.MIN_DELAY, FailureAction.MAX_DELAY);
		}
		Duration maxDelay = rule.maxDelay();
		if (maxDelay != null) {
			this.problems.requireBetween(prefix + "max-delay", maxDelay,
					(delay != null) ? delay : FailureAction.MIN_DELAY, FailureAction.MAX_DELAY);
		}
		FailureAction.Kind action = rule.action();
		if (action == null) {
			this.problems.reject("'%saction' is not set.".formatted(prefix),
					"Set it to 'retry', 'retry-queue', 'park-key', 'dead-letter', 'halt' or 'as-configured'.");
			return;
		}
		if (delay != null && !action.isDelayed()) {
			this.problems.reject("'%sdelay' is set, but '%saction' makes no further call.".formatted(prefix, prefix),
					"Remove the delay, or set the action to 'retry' or 'retry-queue'.");
		}
		if (delay == null && (rule.multiplier() > 1 || maxDelay != null)) {
			this.problems.reject(
					"'%smultiplier' or '%smax-delay' is set, but '%sdelay' is not.".formatted(prefix, prefix, prefix),
					"Set the delay, or remove them.");
		}
		if (delay == null && action == FailureAction.Kind.RETRY) {
			this.problems.reject("'%saction' is 'retry', but '%sdelay' is not set.".formatted(prefix, prefix),
					"Set the delay to the pause before the next call.");
		}
		validate(prefix, action, delay, consumer);
	}

	/** Checks that the topic has what a rule chooses. */
	private void validate(String prefix, FailureAction.Kind action, @Nullable Duration delay, Consumer consumer) {
		String onFailure = name("on-failure", this.own.onFailure());
		boolean parks = consumer.onFailure() == OnFailure.PARK_KEY;
		if (action == FailureAction.Kind.PARK_KEY && !parks) {
			this.problems.reject(
					"'%saction' is 'park-key', but '%s' is not: no record of the topic waits for others of its key."
						.formatted(prefix, onFailure),
					"Set 'on-failure' to 'park-key', and add rules for what is not to wait; or set the action to 'retry-queue'.");
		}
		if (action == FailureAction.Kind.RETRY_QUEUE && parks) {
			this.problems.reject(
					"'%saction' is 'retry-queue', but '%s' is 'park-key': a record in the retry queue holds up its key."
						.formatted(prefix, onFailure),
					"Set the action to 'park-key', or, if 'on-failure' is the topic's own, give the topic rules of its own: 'shardkeeper.topics.%s.consumer.failures'."
						.formatted(this.topic));
		}
		if (action == FailureAction.Kind.RETRY_QUEUE && delay == null && consumer.retryQueue().delays().isEmpty()) {
			this.problems.reject("'%saction' is 'retry-queue', but neither '%sdelay' nor '%s' has a delay.".formatted(
					prefix, prefix, name("retry-queue.delays", this.own.retryQueue().delays())), "Set one of them.");
		}
	}

	/** Names the property that a value comes from. */
	private String name(String property, @Nullable Object override) {
		return (override != null) ? "shardkeeper.topics.%s.consumer.%s".formatted(this.topic, property)
				: "shardkeeper.consumer." + property;
	}

}
