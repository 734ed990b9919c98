package io.github.shardkeeper.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

import io.github.shardkeeper.assignment.LoadMeasure;
import io.github.shardkeeper.consumer.ConsumerSettings.CommitMode;
import io.github.shardkeeper.consumer.ConsumerSettings.OnFailure;
import io.github.shardkeeper.consumer.ConsumerSettings.Ordering;

/**
 * Settings of Shardkeeper. Immutable.
 *
 * @param enabled Whether Shardkeeper is set up at all.
 * @param group Name of the group of instances that share the topics' shards. Defaults to
 * spring.application.name.
 * @param instanceId Id of this instance, shown to people and part of its member ids.
 * Defaults to the host name and the process id, and a number for each further application
 * context of the process.
 * @param version Version of this application. While instances of several versions are
 * there, shards move to the newest. Defaults to spring.application.version.
 * @param store Where membership, ownership, offsets and state are kept.
 * @param keyPrefix Text that all keys in Redis begin with.
 * @param redis What Redis has to have done before it counts.
 * @param session How instances stay members of the group.
 * @param rebalance When shards are distributed.
 * @param assignment Which instance gets which shard.
 * @param handover How shards change hands.
 * @param consumer How handlers are run.
 * @param broadcast Where offsets of topics of which every instance consumes every shard
 * are kept.
 * @param template What a ShardTemplate may send.
 * @param topics Topics by name, each with its number of shards ("shards"), and, where
 * wanted, whether every instance consumes every shard ("mode"), where a new group begins
 * ("start"), the assignment strategy of this topic ("strategy"), and by shard the work
 * that it is ("weights"), the zone of its data ("zones") and the id of the instance that
 * shall have it ("pinned"). Names with other characters than letters, digits and dashes
 * are written in brackets.
 */
@ConfigurationProperties(prefix = "shardkeeper", ignoreUnknownFields = false)
public record ShardkeeperProperties(@DefaultValue("true") boolean enabled, @Nullable String group,
		@Nullable String instanceId, @Nullable String version, @DefaultValue("redis") Store store,
		@DefaultValue("shardkeeper") String keyPrefix, @DefaultValue Redis redis, @DefaultValue Session session,
		@DefaultValue Rebalance rebalance, @DefaultValue Assignment assignment, @DefaultValue Handover handover,
		@DefaultValue Consumer consumer, @DefaultValue Broadcast broadcast, @DefaultValue Template template,
		@DefaultValue Map<String, Topic> topics) {

	/** Where things are kept. */
	public enum Store {

		/** In Redis, for any number of instances. */
		REDIS,

		/** In this process, for tests and a first look; gone when it ends. */
		MEMORY

	}

	/**
	 * What Redis has to have done before it counts.
	 *
	 * @param waitForReplicas Number of replicas that a change of ownership must have
	 * reached before the new owner consumes. With 0, a failover may undo a change that
	 * was just made.
	 * @param waitTimeout How long to wait for these replicas before the change is tried
	 * again. At most a third of the lease.
	 */
	public record Redis(@DefaultValue("0") int waitForReplicas, @DefaultValue("1s") Duration waitTimeout) {

	}

	/**
	 * How instances stay members of the group.
	 *
	 * @param heartbeatInterval Time between two heartbeats, each of which is one command.
	 * @param lease How long after its last answered heartbeat an instance may consume. A
	 * dead instance's shards move after this time. At least three heartbeat intervals.
	 * @param timeout How long a slow instance (silent, but its process lives) keeps its
	 * shards. At least as long as the lease.
	 * @param onLoss What happens when the lease ends because the store does not answer in
	 * time, or the process was paused.
	 */
	public record Session(@DefaultValue("500ms") Duration heartbeatInterval, @DefaultValue("3s") Duration lease,
			@DefaultValue("15s") Duration timeout, @DefaultValue("suspend") OnLoss onLoss) {

	}

	/** What happens when the lease ends. */
	public enum OnLoss {

		/** Nothing is consumed until the store answers. */
		SUSPEND,

		/**
		 * The process ends at once, without shutdown hooks, with exit code 75: for
		 * handlers that ignore interruptions and whose writes nothing fences.
		 */
		EXIT

	}

	/**
	 * How shards change hands.
	 *
	 * @param timeout How long a shard that moves away may wait for a handler call to
	 * return; then the call is interrupted and reported. At most
	 * spring.lifecycle.timeout-per-shutdown-phase; defaults to that, and to at most 50s.
	 * @param onTimeout What happens to the shard then.
	 * @param quietPeriod How long nobody consumes a shard after a planned move.
	 * @param crashQuietPeriod How long nobody consumes a shard after its owner's death.
	 * @param maxConcurrentMoves How many shards of the group move at once; 0 for any
	 * number. The leader's number holds.
	 */
	public record Handover(@Nullable Duration timeout, @DefaultValue("hold") OnTimeout onTimeout,
			@DefaultValue("0s") Duration quietPeriod, @DefaultValue("0s") Duration crashQuietPeriod,
			@DefaultValue("0") int maxConcurrentMoves) {

		static final Duration LONGEST_DEFAULT_TIMEOUT = Duration.ofSeconds(50);

		/** The timeout, or its default with a shutdown phase of that length. */
		Duration timeoutWithin(Duration shutdownPhase) {
			if (this.timeout != null) {
				return this.timeout;
			}
			return (shutdownPhase.compareTo(LONGEST_DEFAULT_TIMEOUT) < 0) ? shutdownPhase : LONGEST_DEFAULT_TIMEOUT;
		}

	}

	/** What happens to a shard whose handler does not return in time. */
	public enum OnTimeout {

		/** It stays until the call returns; it never has a second owner. */
		HOLD,

		/**
		 * It goes to its next owner while the call may still run: what that call writes
		 * to the shard's state is refused, other side effects are not.
		 */
		FORCE

	}

	/**
	 * When shards are distributed.
	 *
	 * @param settleTime How long the leader waits for further joins and leaves after one,
	 * so that they are planned together.
	 */
	public record Rebalance(@DefaultValue("100ms") Duration settleTime) {

	}

	/**
	 * Which instance gets which shard.
	 *
	 * @param strategy Rule by which the leader decides: sticky, range, round-robin,
	 * average, circle, consistent-hash, load-aware, incremental, or the name of an
	 * AssignmentStrategy bean. Defaults to the application's AssignmentStrategy bean, or
	 * to sticky where there is none. The leader's rule holds.
	 * @param capacity How much this instance takes compared with others: one of 4 takes
	 * twice as much as one of 2. A share, never a limit.
	 * @param zone Where this instance runs. Shards whose data is in the same zone come
	 * here rather than elsewhere.
	 * @param timeout How long an AssignmentStrategy or ShardCatalog of the application
	 * may take for one assignment; then it is interrupted, and everything stays where it
	 * is.
	 * @param load How load-aware measures loads, and when they are worth a move.
	 */
	public record Assignment(@Nullable String strategy, @DefaultValue("1") int capacity, @Nullable String zone,
			@DefaultValue("5s") Duration timeout, @DefaultValue Load load) {

	}

	/**
	 * How load-aware measures loads, and when they are worth a move. Differences and
	 * gains are in milliseconds of handler time per second, or in records per second, as
	 * an instance of average capacity has them.
	 *
	 * @param measure What the load of a shard is, the same on every instance: the time
	 * that its handler runs (1000 is one thread that does nothing else), or its records.
	 * @param reportInterval How often an instance looks whether its loads have changed,
	 * and the leader whether something was reported.
	 * @param difference By how much an instance must be busier than another one before a
	 * shard moves between them. Defaults to 100 ms, or 1000 records, per second.
	 * @param differenceShare By which share of its own load it must be, too.
	 * @param gain By how much a move must bring down the higher of the two loads, at most
	 * half the difference. Defaults to 20 ms, or 200 records, per second.
	 * @param coolDown How long a shard does not move for its load after any move.
	 * @param movesPerPlan How many shards may move for their load at once.
	 */
	public record Load(@DefaultValue("handler-time") LoadMeasure measure, @DefaultValue("10s") Duration reportInterval,
			@Nullable Double difference, @DefaultValue("0.2") double differenceShare, @Nullable Double gain,
			@DefaultValue("5m") Duration coolDown, @DefaultValue("10") int movesPerPlan) {

	}

	/**
	 * How handlers are run. All but the threads and the total size of the buffers can be
	 * set otherwise for a topic.
	 *
	 * @param threads Number of threads that all shards of this instance share. Not used
	 * with spring.threads.virtual.enabled.
	 * @param commit When offset and state are committed.
	 * @param ordering What is handled one after the other: all records of a shard, those
	 * of a key, or nothing.
	 * @param concurrency How many calls run at once inside a shard, with the ordering key
	 * or none.
	 * @param maxAhead How many records may be taken up beyond the lowest one that is not
	 * done. As many may be remembered with a checkpoint.
	 * @param batchSize Most records that a handler of lists gets at once.
	 * @param buffer What is read ahead of the handlers.
	 * @param maxPayloadSize Largest payload, with key and headers, that is handed to a
	 * handler. A record with more counts as one that cannot be converted.
	 * @param retry How often, and with which pauses, a record is tried in place.
	 * @param onFailure What becomes of a record that keeps failing.
	 * @param retryQueue How long records wait in the retry queue.
	 * @param longCall How long a call of a handler may run before it shows as a problem
	 * of its shard.
	 * @param maxConversionFailures Number of records in a row that cannot be converted
	 * after which a shard halts. 0 for no limit.
	 */
	public record Consumer(@DefaultValue("16") int threads, @DefaultValue Commit commit,
			@DefaultValue("shard") Ordering ordering, @DefaultValue("8") int concurrency,
			@DefaultValue("1000") int maxAhead, @DefaultValue("500") int batchSize, @DefaultValue Buffer buffer,
			@DefaultValue("16MB") DataSize maxPayloadSize, @DefaultValue Retry retry,
			@DefaultValue("dead-letter") OnFailure onFailure, @DefaultValue RetryQueue retryQueue,
			@DefaultValue("5m") Duration longCall, @DefaultValue("20") int maxConversionFailures) {

	}

	/**
	 * When offset and state are committed, beside before every handover.
	 *
	 * @param mode What makes a commit due: time and number of records alone (background);
	 * also that what was read together was handled, or the list of a call (batch); or as
	 * in the background, but a record counts only once it was acknowledged (manual).
	 * @param interval Longest time that something handled stays uncommitted.
	 * @param records Most records that stay uncommitted.
	 */
	public record Commit(@DefaultValue("background") CommitMode mode, @DefaultValue("5s") Duration interval,
			@DefaultValue("1000") int records) {

	}

	/**
	 * What is read ahead of the handlers. What a single read brings may exceed it.
	 *
	 * @param records Most records for each shard.
	 * @param size Most bytes for each shard.
	 * @param totalSize Most bytes for all shards of this instance. When they are used up,
	 * only shards that have less than their even share are read on.
	 */
	public record Buffer(@DefaultValue("1000") int records, @DefaultValue("4MB") DataSize size,
			@DefaultValue("64MB") DataSize totalSize) {

	}

	/**
	 * How a record is tried again in place, while its shard, or its key, waits.
	 *
	 * @param maxAttempts Most calls, the first one included.
	 * @param initialInterval Pause before the second call.
	 * @param multiplier What each further pause is multiplied by.
	 * @param maxInterval Longest pause.
	 * @param excludes Exceptions that no further call would change. They are looked for
	 * among the causes, too.
	 */
	public record Retry(@DefaultValue("5") int maxAttempts, @DefaultValue("200ms") Duration initialInterval,
			@DefaultValue("2") double multiplier, @DefaultValue("30s") Duration maxInterval,
			@DefaultValue List<Class<? extends Throwable>> excludes) {

	}

	/**
	 * How long records wait in the retry queue.
	 *
	 * @param delays Each time a record fails it waits for the next of these times; after
	 * the last one it becomes a dead letter.
	 */
	public record RetryQueue(@DefaultValue( {
			"10s", "1m", "10m" }) List<Duration> delays){

	}

	/**
	 * Broadcast topics: offsets, state, retry queue and dead letters of each instance id.
	 *
	 * @param offsets Place of offsets, state, retry queue and dead letters of broadcast
	 * topics. Only 'redis' is supported; with 'shardkeeper.store=memory' it means memory.
	 * @param directory Directory of the offsets in files, which are no longer supported.
	 */
	public record Broadcast(@DefaultValue("redis") String offsets, @Nullable String directory) {

	}

	/** Who consumes a topic's shards. */
	public enum Mode {

		/** Each shard is consumed by one instance of the group. */
		COORDINATED,

		/** Each shard is consumed by every instance. */
		BROADCAST

	}

	/**
	 * How handlers of one topic are run, as far as it differs from all.
	 *
	 * @param commit When offset and state are committed.
	 * @param ordering What is handled one after the other.
	 * @param concurrency How many calls run at once inside a shard.
	 * @param maxAhead How many records may be taken up beyond the lowest one that is not
	 * done.
	 * @param batchSize Most records that a handler of lists gets at once.
	 * @param buffer What is read ahead for each shard.
	 * @param maxPayloadSize Largest payload, with key and headers, for a handler.
	 * @param retry How a record is tried in place.
	 * @param onFailure What becomes of a record that keeps failing.
	 * @param retryQueue How long records wait in the retry queue.
	 * @param longCall How long a call may run before it shows as a problem of its shard.
	 * @param maxConversionFailures Number of records in a row that cannot be converted
	 * after which a shard halts.
	 */
	public record TopicConsumer(@Nullable TopicCommit commit, @Nullable Ordering ordering,
			@Nullable Integer concurrency, @Nullable Integer maxAhead, @Nullable Integer batchSize,
			@Nullable TopicBuffer buffer, @Nullable DataSize maxPayloadSize, @Nullable TopicRetry retry,
			@Nullable OnFailure onFailure, @Nullable RetryQueue retryQueue, @Nullable Duration longCall,
			@Nullable Integer maxConversionFailures) {

	}

	/**
	 * When offset and state of one topic are committed.
	 *
	 * @param mode What makes a commit due.
	 * @param interval Longest time that something handled stays uncommitted.
	 * @param records Most records that stay uncommitted.
	 */
	public record TopicCommit(@Nullable CommitMode mode, @Nullable Duration interval, @Nullable Integer records) {

	}

	/**
	 * What is read ahead for each shard of one topic.
	 *
	 * @param records Most records for each shard.
	 * @param size Most bytes for each shard.
	 */
	public record TopicBuffer(@Nullable Integer records, @Nullable DataSize size) {

	}

	/**
	 * How a record of one topic is tried again in place.
	 *
	 * @param maxAttempts Most calls, the first one included.
	 * @param initialInterval Pause before the second call.
	 * @param multiplier What each further pause is multiplied by.
	 * @param maxInterval Longest pause.
	 * @param excludes Exceptions that no further call would change.
	 */
	public record TopicRetry(@Nullable Integer maxAttempts, @Nullable Duration initialInterval,
			@Nullable Double multiplier, @Nullable Duration maxInterval,
			@Nullable List<Class<? extends Throwable>> excludes) {

	}

	/**
	 * What a ShardTemplate may send.
	 *
	 * @param maxPayloadSize Longest payload. Longer ones are refused before anything is
	 * sent.
	 * @param maxInFlight Number of records that may be sent and not yet answered. Who
	 * sends more waits.
	 * @param maxInFlightSize What these may come to.
	 */
	public record Template(@DefaultValue("1MB") DataSize maxPayloadSize, @DefaultValue("10000") int maxInFlight,
			@DefaultValue("16MB") DataSize maxInFlightSize) {

	}

	/**
	 * What may be taken from a topic's streams; nothing as long as nothing is set.
	 *
	 * @param maxLength Number of records of each shard that may stay.
	 * @param maxAge How old records may become, by Redis' clock.
	 * @param beyondCheckpoints Whether records may go that a group has not handled yet.
	 */
	public record Trim(@Nullable Long maxLength, @Nullable Duration maxAge,
			@DefaultValue("false") boolean beyondCheckpoints) {

	}

	/**
	 * A topic.
	 *
	 * @param shards Number of shards, the same on every instance.
	 * @param mode Who consumes its shards, the same on every instance.
	 * @param start Where a group begins that has not consumed a shard yet: earliest;
	 * latest, with what comes after the group first consumed the topic; a time such as
	 * 2026-11-21T10:00:00Z; or the offset of the first record that is wanted.
	 * @param strategy Rule by which the leader assigns the shards of this topic, if it is
	 * another one than for all.
	 * @param weights By shard, how much work it is compared with others.
	 * @param zones By shard, the zone in which its data is.
	 * @param pinned By shard, the id of the instance that has it while it is there.
	 * @param consumer How its handlers are run, as far as it differs from
	 * shardkeeper.consumer.
	 * @param trim What may be taken from the topic's streams.
	 * @param selector Name of the ShardSelector bean that chooses the shards of this
	 * topic's records. Defaults to the application's only ShardSelector bean, or to the
	 * key's hash where there is none.
	 */
	public record Topic(@DefaultValue("1") int shards, @DefaultValue("coordinated") Mode mode,
			@DefaultValue("earliest") String start, @Nullable String strategy, @DefaultValue Map<String, Long> weights,
			@DefaultValue Map<String, String> zones, @DefaultValue Map<String, String> pinned,
			@DefaultValue TopicConsumer consumer, @DefaultValue Trim trim, @Nullable String selector) {

		boolean tellsOfShards() {
			return !this.weights.isEmpty() || !this.zones.isEmpty() || !this.pinned.isEmpty();
		}

	}

}
