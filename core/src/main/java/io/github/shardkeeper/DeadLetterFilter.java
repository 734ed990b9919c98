package io.github.shardkeeper;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.shard.ShardId;

/**
 * Which dead letters are meant: those of a topic or of one shard that meet every
 * condition. Immutable, so conditions make a new filter; thread-safe if the predicates
 * are. <pre>
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
	 * All letters of a topic, of those shards that its source knows now.
	 * @param topic one of {@code shardkeeper.topics.*}
	 * @return the filter
	 */
	public static DeadLetterFilter topic(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return new DeadLetterFilter(topic, null, (letter) -> true);
	}

	/**
	 * All letters of a shard.
	 * @param shard a shard of one of {@code shardkeeper.topics.*}, also one that its
	 * source does not know any more
	 * @return the filter
	 */
	public static DeadLetterFilter shard(ShardId shard) {
		Objects.requireNonNull(shard, "shard must not be null");
		return new DeadLetterFilter(shard.topic(), shard, (letter) -> true);
	}

	/**
	 * Of these, the letters whose exception has a text in its class or message.
	 * @param text the text, in upper and lower case as it is there
	 * @return the filter
	 */
	public DeadLetterFilter exception(String text) {
		Objects.requireNonNull(text, "text must not be null");
		return matching((letter) -> letter.exception().contains(text));
	}

	/**
	 * Of these, the letters with a key.
	 * @param key the key
	 * @return the filter
	 */
	public DeadLetterFilter key(String key) {
		Objects.requireNonNull(key, "key must not be null");
		return matching((letter) -> key.equals(letter.key()));
	}

	/**
	 * Of these, the letters that failed at a time or later.
	 * @param time the time
	 * @return the filter
	 */
	public DeadLetterFilter failedSince(Instant time) {
		Objects.requireNonNull(time, "time must not be null");
		return matching((letter) -> !letter.failedAt().isBefore(time));
	}

	/**
	 * Of these, the letters that failed before a time.
	 * @param time the time
	 * @return the filter
	 */
	public DeadLetterFilter failedBefore(Instant time) {
		Objects.requireNonNull(time, "time must not be null");
		return matching((letter) -> letter.failedAt().isBefore(time));
	}

	/**
	 * Of these, the letters that meet a condition of your own.
	 * @param predicate the condition; asked once per letter, on the caller's thread
	 * @return the filter
	 */
	public DeadLetterFilter matching(Predicate<? super DeadLetter> predicate) {
		Objects.requireNonNull(predicate, "predicate must not be null");
		return new DeadLetterFilter(this.topic, this.shard, this.condition.and(predicate));
	}

	/**
	 * The topic of the letters.
	 * @return its name
	 */
	public String topic() {
		return this.topic;
	}

	/**
	 * The only shard that is looked at.
	 * @return the shard, empty for all of the topic
	 */
	public Optional<ShardId> shard() {
		return Optional.ofNullable(this.shard);
	}

	/**
	 * Whether a letter meets the conditions.
	 * @param letter a letter of the topic or shard
	 * @return whether it does
	 */
	public boolean matches(DeadLetter letter) {
		Objects.requireNonNull(letter, "letter must not be null");
		return this.condition.test(letter);
	}

}
