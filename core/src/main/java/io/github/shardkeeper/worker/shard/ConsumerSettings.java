package io.github.shardkeeper.worker.shard;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import org.springframework.core.retry.RetryPolicy;

import io.github.shardkeeper.FailureAction;
import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.handler.HandlerShape;
import io.github.shardkeeper.handler.ShardHandler;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Settings of the consumption of one topic. Immutable.
 *
 * @param concurrency the maximum number of calls at a time for a shard, if the ordering
 * permits several
 * @param maxAhead the maximum number of records that are taken up and not done, counted
 * from the first one
 * @param batchSize the maximum number of records in a list
 * @param maxRecordBytes the maximum size of key, headers and payload of a record
 * @param retry the retries in place
 * @param retryDelays the time in the retry queue, for each round
 * @param retryMaxAge the time since its last failure after which a record of the retry
 * queue becomes a dead letter, {@code null} for no limit
 * @param parking the limits of what waits for a failing record of its key
 * @param stateRead when entries of the state are read
 * @param stateTtl the time to live of values in the state that are put without one,
 * {@code null} for no limit
 * @param longCall the duration from which a call is a problem of its shard
 * @param maxConversionFailures the number of failed conversions in a row that halts a
 * shard, 0 for no limit
 * @param showExceptionMessages whether problems have the messages of exceptions, which
 * may quote records
 * @param failureHandlers the handlers that choose what becomes of failed records, before
 * retry and onFailure do; in order
 */
public record ConsumerSettings(Commits commits, Ordering ordering, int concurrency, int maxAhead, int batchSize,
		BufferLimits buffer, long maxRecordBytes, RetryPolicy retry, OnFailure onFailure, List<Duration> retryDelays,
		@Nullable Duration retryMaxAge, Parking parking, StateRead stateRead, @Nullable Duration stateTtl,
		Duration longCall, int maxConversionFailures, boolean showExceptionMessages,
		List<FailureHandler> failureHandlers) {

	public ConsumerSettings {
		retryDelays = List.copyOf(retryDelays);
		failureHandlers = List.copyOf(failureHandlers);
	}

	/**
	 * Returns why the failed records of a topic cannot be treated as a failure handler
	 * has chosen, {@code null} if they can.
	 */
	public @Nullable String obstacle(FailureAction chosen, String topic) {
		boolean parks = this.onFailure == OnFailure.PARK_KEY;
		String property = "'shardkeeper.topics.%s.consumer.".formatted(topic);
		return switch (chosen.kind()) {
			case PARK_KEY -> parks ? null : property + "on-failure' is not 'park-key'";
			case RETRY_QUEUE ->
				parks ? property + "on-failure' is 'park-key', with which a record in the retry queue holds up its key"
						: (chosen.delay() == null && this.retryDelays.isEmpty())
								? property + "retry-queue.delays' is empty, and no delay is chosen" : null;
			case AS_CONFIGURED, RETRY, DEAD_LETTER, HALT -> null;
		};
	}

	/**
	 * Checks that the method of a handler can be called with these settings.
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
		if (this.onFailure == OnFailure.PARK_KEY && handler.shape() != HandlerShape.LOOP) {
			checkParking(handler, manual);
		}
		if (handler.shape() == HandlerShape.BATCH && !inOrder) {
			throw refused(handler,
					"takes a list of records, but 'consumer.ordering' is '%s'".formatted(text(this.ordering)),
					"Set the ordering to 'shard', or take one record at a time");
		}
	}

	private void checkParking(ShardHandler handler, boolean manual) {
		if (this.ordering == Ordering.NONE) {
			throw refused(handler,
					"has the 'consumer.on-failure' 'park-key', but 'consumer.ordering' is 'none': there is no order of a key to keep",
					"Set the ordering to 'key' or 'shard', or 'on-failure' to 'retry-queue'");
		}
		if (manual) {
			throw refused(handler,
					"has the 'consumer.on-failure' 'park-key', but 'consumer.commit.mode' is 'manual': a record that is handled and not acknowledged is handled again after later ones of its key",
					"Set the mode to 'background', or 'on-failure' to 'retry-queue'");
		}
	}

	/**
	 * Checks that a store can keep what these settings need.
	 * @throws ShardkeeperConfigurationException if it cannot
	 */
	public void check(ShardHandler handler, CheckpointStore checkpoints) {
		if (this.onFailure == OnFailure.PARK_KEY && handler.shape() != HandlerShape.LOOP
				&& !checkpoints.listsWaiting(handler.topic())) {
			throw refused(handler,
					"has the 'consumer.on-failure' 'park-key', but the CheckpointStore of this application cannot tell what waits in a retry queue",
					"Implement its methods listsWaiting, waiting, retries and changeWaiting, or set 'on-failure' to 'retry-queue'");
		}
		if (this.stateRead == StateRead.ON_USE && handler.takesState()
				&& !checkpoints.readsStateOnUse(handler.topic())) {
			throw refused(handler,
					"has the 'consumer.state.read' 'on-use', but the CheckpointStore of this application cannot read single entries of a state",
					"Implement its methods readsStateOnUse, acquireWithoutState, ownedEntries, ownedKeys and expiredKeys, or set 'state.read' to 'on-acquisition'");
		}
	}

	/**
	 * Checks that the method of a handler can be called in transactions that contain the
	 * commits.
	 * @throws ShardkeeperConfigurationException if it cannot
	 */
	public void checkTransacted(ShardHandler handler) {
		String instead = "Set 'consumer.transaction' to 'none', or %s";
		if (handler.shape() == HandlerShape.LOOP) {
			throw refused(handler, "takes no records, but 'consumer.transaction' is 'jdbc'",
					instead.formatted("take records: there is no offset to write in the transaction"));
		}
		if (handler.returnsLate()) {
			throw refused(handler,
					"does not return 'void', but 'consumer.transaction' is 'jdbc': the transaction belongs to the thread of the call, and its work may go on elsewhere",
					instead.formatted("wait for the work and declare the method 'void'"));
		}
		if (handler.takesAcknowledgment()) {
			throw refused(handler,
					"takes an Acknowledgment, but 'consumer.transaction' is 'jdbc': the transaction ends with the call, and commits its records",
					instead.formatted("remove the parameter"));
		}
		if (this.commits.mode() == CommitMode.MANUAL) {
			throw refused(handler,
					"has the 'consumer.commit.mode' 'manual', but 'consumer.transaction' is 'jdbc': the transaction ends with the call, and commits its records",
					instead.formatted("the mode to 'background'"));
		}
		if (this.ordering == Ordering.NONE) {
			throw refused(handler,
					"has the 'consumer.ordering' 'none', but 'consumer.transaction' is 'jdbc': what is in your database has an order, at least for each key",
					instead.formatted("the ordering to 'key' or 'shard'"));
		}
	}

	/**
	 * Checks that what the method of a handler sends can be part of its calls.
	 * @param broadcast whether every instance consumes the topic
	 * @param keepsOutboxes whether the checkpoints of the topic have outboxes
	 * @throws ShardkeeperConfigurationException if it cannot
	 */
	public void checkOutput(ShardHandler handler, boolean broadcast, boolean keepsOutboxes) {
		if (!handler.takesOutput()) {
			return;
		}
		if (broadcast) {
			throw new ShardkeeperConfigurationException(
					"The @ShardConsumer method %s takes a ShardOutput, but 'shardkeeper.topics.%s.mode' is 'broadcast': every instance would send each record."
						.formatted(handler.name(), handler.topic()),
					"Set the mode to 'coordinated', or send with ShardTemplate.");
		}
		if (!keepsOutboxes) {
			throw new ShardkeeperConfigurationException(
					"The @ShardConsumer method %s takes a ShardOutput, but the checkpoints of the topic '%s' are in a store without an outbox: what the call sends cannot be committed with it."
						.formatted(handler.name(), handler.topic()),
					"Remove the CheckpointStore bean of the application, or implement its methods keepsOutboxes and outbox; or send with ShardTemplate.");
		}
	}

	/**
	 * Checks that timers can be part of the calls of a handler.
	 * @param broadcast whether every instance consumes the topic
	 * @param keepsTimers whether the checkpoints of the topic have timers
	 * @throws ShardkeeperConfigurationException if they cannot
	 */
	public void checkTimers(ShardHandler handler, boolean broadcast, boolean keepsTimers) {
		if (handler.takesTimers() && !handler.hasTimers()) {
			throw new ShardkeeperConfigurationException(
					"The @ShardConsumer method %s takes a ShardTimers, but its bean has no @OnShardTimer method: nothing would be called for a timer."
						.formatted(handler.name()),
					"Add a method with @OnShardTimer to the bean, or remove the parameter.");
		}
		if (!handler.hasTimers()) {
			return;
		}
		if (broadcast) {
			throw new ShardkeeperConfigurationException(
					"The bean of the @ShardConsumer method %s has an @OnShardTimer method, but 'shardkeeper.topics.%s.mode' is 'broadcast': every instance would fire each timer."
						.formatted(handler.name(), handler.topic()),
					"Set the mode to 'coordinated', or remove the method.");
		}
		if (!keepsTimers) {
			throw new ShardkeeperConfigurationException(
					"The bean of the @ShardConsumer method %s has an @OnShardTimer method, but the checkpoints of the topic '%s' are in a store without timers."
						.formatted(handler.name(), handler.topic()),
					"Remove the CheckpointStore bean of the application, or implement its methods keepsTimers, timers and countTimers.");
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
	 * Settings of commits.
	 *
	 * @param interval the maximum time that a handled record stays uncommitted
	 * @param records the maximum number of uncommitted records
	 */
	public record Commits(CommitMode mode, Duration interval, int records) {

	}

	public enum CommitMode {

		/** Commits by time and number of records. */
		BACKGROUND,

		/**
		 * Commits after each list, or once all records that were read are handled;
		 * handles no record until the commit is answered.
		 */
		BATCH,

		/** Commits acknowledged records by time and number of records. */
		MANUAL

	}

	/** Records that are handled one after the other. */
	public enum Ordering {

		/** All records of a shard. */
		SHARD,

		/** The records of a key; records without a key are not ordered. */
		KEY,

		NONE

	}

	/** When entries of the state are read from the store. */
	public enum StateRead {

		/** All, when the shard is acquired: the whole state is in memory. */
		ON_ACQUISITION,

		/** Each, when a call first uses it. */
		ON_USE

	}

	/** Treatment of a record that keeps failing. */
	public enum OnFailure {

		DEAD_LETTER,

		RETRY_QUEUE,

		/** Waits in the retry queue, with all later records of its key behind it. */
		PARK_KEY,

		HALT

	}

	/**
	 * What may wait for failing records of their keys, for each shard.
	 *
	 * @param maxKeys the maximum number of keys
	 * @param maxRecords the maximum number of records, failing ones included
	 * @param afterDelays what becomes of a record that fails after the last delay
	 */
	public record Parking(int maxKeys, int maxRecords, AfterDelays afterDelays) {

	}

	/** Treatment of a record that fails after the last delay, while its key waits. */
	public enum AfterDelays {

		/** It is retried after the last delay, again and again. */
		REPEAT,

		/** It becomes a dead letter, and the next record of its key is handled. */
		DEAD_LETTER

	}

	/** Limits of the records of one shard that are read and not taken up. */
	public record BufferLimits(int records, long bytes) {

	}

}
