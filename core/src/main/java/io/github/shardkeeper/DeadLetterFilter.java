package io.github.shardkeeper;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Selects the dead letters of a topic or of one shard that meet all conditions.
 * Immutable: each condition returns a new filter. Thread-safe if its predicates are.
 * <pre>
 * DeadLetterFilter.topic("orders").exception("TimeoutException").failedSince(deployedAt)
 * </pre>
 */
public final class DeadLetterFilter {

	private final String topic;

	private final @Nullable ShardId shard;

	private final Predicate<DeadLetter> condition;

	private DeadLetterFilter(String topic, @Nullable ShardId shard, Predicate<DeadLetter> condition) {
		this.topic = topic;
		this.shard = shard;
		this.condition = condition;
	}

	/**
	 * Selects all dead letters of a topic, from the shards that its source knows now.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @return the filter
	 */
	public static DeadLetterFilter topic(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return new DeadLetterFilter(topic, null, (letter) -> true);
	}

	/**
	 * Selects all dead letters of a shard.
	 * @param shard a shard of a configured topic, also a former one
	 * @return the filter
	 */
	public static DeadLetterFilter shard(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		return new DeadLetterFilter(shard.topic(), shard, (letter) -> true);
	}

	/**
	 * Adds a condition: the class or message of the exception contains a text.
	 * @param text the text, case-sensitive
	 * @return the new filter
	 */
	public DeadLetterFilter exception(String text) {
		Objects.requireNonNull(text, "text must not be null");
		return matching((letter) -> letter.exception().contains(text));
	}

	/**
	 * Adds a condition: the record has a certain key.
	 * @param key the key
	 * @return the new filter
	 */
	public DeadLetterFilter key(String key) {
		Objects.requireNonNull(key, "key must not be null");
		return matching((letter) -> key.equals(letter.key()));
	}

	/**
	 * Adds a condition: the last failure was at a time or later.
	 * @param time the time
	 * @return the new filter
	 */
	public DeadLetterFilter failedSince(Instant time) {
		Objects.requireNonNull(time, "time must not be null");
		return matching((letter) -> !letter.failedAt().isBefore(time));
	}

	/**
	 * Adds a condition: the last failure was before a time.
	 * @param time the time
	 * @return the new filter
	 */
	public DeadLetterFilter failedBefore(Instant time) {
		Objects.requireNonNull(time, "time must not be null");
		return matching((letter) -> letter.failedAt().isBefore(time));
	}

	/**
	 * Adds a condition of the application.
	 * @param predicate the condition; called once per dead letter, on the thread that
	 * calls {@link DeadLetters}
	 * @return the new filter
	 */
	public DeadLetterFilter matching(Predicate<? super DeadLetter> predicate) {
		Objects.requireNonNull(predicate, "predicate must not be null");
		return new DeadLetterFilter(this.topic, this.shard, this.condition.and(predicate));
	}

	/**
	 * Returns the topic of the dead letters.
	 * @return the name of the topic
	 */
	public String topic() {
		return this.topic;
	}

	/**
	 * Returns the only shard to search.
	 * @return the shard, empty for all shards of the topic
	 */
	public Optional<ShardId> shard() {
		return Optional.ofNullable(this.shard);
	}

	/**
	 * Returns whether a dead letter meets all conditions.
	 * @param letter a dead letter of the topic or shard
	 * @return whether it meets them
	 */
	public boolean matches(DeadLetter letter) {
		Objects.requireNonNull(letter, "letter must not be null");
		return this.condition.test(letter);
	}

}
