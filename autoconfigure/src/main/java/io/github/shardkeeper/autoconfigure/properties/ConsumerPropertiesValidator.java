package io.github.shardkeeper.autoconfigure.properties;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

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
		// The binder does not check the bound of the type argument.
		for (Class<?> excluded : retry.excludes()) {
			this.problems.require(Throwable.class.isAssignableFrom(excluded), name("retry.excludes", own.excludes()),
					excluded.getName(),
					"Set it to classes of exceptions only, such as java.lang.IllegalArgumentException.");
		}
	}

	/** Names the property that a value comes from. */
	private String name(String property, @Nullable Object override) {
		return (override != null) ? "shardkeeper.topics.%s.consumer.%s".formatted(this.topic, property)
				: "shardkeeper.consumer." + property;
	}

}
