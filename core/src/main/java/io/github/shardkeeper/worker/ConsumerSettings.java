package io.github.shardkeeper.worker;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

import org.springframework.core.retry.RetryPolicy;

import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * How the records of one topic are consumed. Immutable.
 *
 * @param commits when offset and state are committed
 * @param ordering what is handled one after the other
 * @param concurrency how many calls run at once inside a shard, where the ordering allows
 * more than one
 * @param maxAhead how many records beyond the lowest one that is not done may be taken up
 * @param batchSize the most records that a handler of lists gets at once
 * @param buffer what may wait for the handler, for each shard
 * @param maxPayloadBytes a record is not handed out whose payload, key and headers come
 * to more
 * @param retry how often, and with which pauses, a record is tried in place
 * @param onFailure what becomes of a record that keeps failing
 * @param retryDelays how long it waits in the retry queue, each time
 * @param longCall how long a call may run before it shows as a problem of its shard
 * @param maxConversionFailures so many conversions that fail in a row halt a shard, 0 for
 * no such limit
 */
public record ConsumerSettings(Commits commits, Ordering ordering, int concurrency, int maxAhead, int batchSize,
		BufferLimits buffer, long maxPayloadBytes, RetryPolicy retry, OnFailure onFailure, List<Duration> retryDelays,
		Duration longCall, int maxConversionFailures) {

	public ConsumerSettings {
		retryDelays = List.copyOf(retryDelays);
	}

	/**
	 * Checks that the method of a handler can be called with these settings.
	 * @param handler the handler
	 * @throws ShardkeeperConfigurationException if it cannot
	 */
	public void check(ShardHandler handler) {
		boolean manual = this.commits.mode() == CommitMode.MANUAL;
		boolean inOrder = this.ordering == Ordering.SHARD;
		if (handler.takesAcknowledgment() && !manual) {
			throw refused(handler,
					"takes an Acknowledgment, but 'consumer.commit.mode' is '%s'".formatted(text(this.commits.mode())),
					"Set the mode to 'manual', or remove the parameter");
		}
		if (manual && handler.shape() != HandlerShape.LOOP && !handler.takesAcknowledgment()) {
			throw refused(handler, "takes no Acknowledgment, but 'consumer.commit.mode' is 'manual'",
					"Add a parameter of type Acknowledgment, or set the mode to 'background'");
		}
		if (manual && !inOrder && handler.takesState()) {
			throw refused(handler,
					"takes a ShardState, but 'consumer.commit.mode' is 'manual' and 'consumer.ordering' is '%s'"
						.formatted(text(this.ordering)),
					"State that later calls have seen cannot be left out of a commit: set the mode to 'background' or the ordering to 'shard'");
		}
		if (handler.shape() == HandlerShape.BATCH && !inOrder) {
			throw refused(handler,
					"takes a list of records, but 'consumer.ordering' is '%s'".formatted(text(this.ordering)),
					"Set the ordering to 'shard', or take one record at a time");
		}
	}

	private static ShardkeeperConfigurationException refused(ShardHandler handler, String what, String instead) {
		return new ShardkeeperConfigurationException(
				"The @ShardConsumer method %s %s (for topic '%s').".formatted(handler.name(), what, handler.topic()),
				"%s; under 'shardkeeper.consumer' for all topics, or 'shardkeeper.topics.%s.consumer' for this one."
					.formatted(instead, handler.topic()));
	}

	private static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * When offset and state are committed.
	 *
	 * @param mode what makes a commit due, beside the other two
	 * @param interval the longest time that something handled stays uncommitted
	 * @param records the most records that stay uncommitted
	 */
	public record Commits(CommitMode mode, Duration interval, int records) {

	}

	/** What makes a commit due. */
	public enum CommitMode {

		/** Time and number alone. */
		BACKGROUND,

		/**
		 * What was read together has been handled, or the list that a handler got;
		 * nothing more is handed out until the commit is answered.
		 */
		BATCH,

		/** As in the background, but a record counts only once it was acknowledged. */
		MANUAL

	}

	/** What is handled one after the other. */
	public enum Ordering {

		/** All records of a shard. */
		SHARD,

		/** The records of a key; those without one in any order. */
		KEY,

		/** Nothing. */
		NONE

	}

	/** What becomes of a record that keeps failing. */
	public enum OnFailure {

		/** It is stored as a dead letter, and the shard goes on. */
		DEAD_LETTER,

		/** It waits in the retry queue, and the shard goes on meanwhile. */
		RETRY_QUEUE,

		/** The shard stays in front of it. */
		HALT

	}

	/**
	 * What may wait for the handler of one shard.
	 *
	 * @param records how many records
	 * @param bytes how many bytes of them
	 */
	public record BufferLimits(int records, long bytes) {

	}

}
