package io.github.shardkeeper.autoconfigure.properties;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.ConfigurationPropertiesSource;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.assignment.load.LoadMeasure;
import io.github.shardkeeper.protocol.HandoverRules.OnTimeout;
import io.github.shardkeeper.schedule.RunRules.MissedRuns;
import io.github.shardkeeper.schedule.RunRules.OnInterruption;
import io.github.shardkeeper.source.ResetPolicy;
import io.github.shardkeeper.worker.shard.ConsumerSettings.AfterDelays;
import io.github.shardkeeper.worker.shard.ConsumerSettings.CommitMode;
import io.github.shardkeeper.worker.shard.ConsumerSettings.OnFailure;
import io.github.shardkeeper.worker.shard.ConsumerSettings.Ordering;
import io.github.shardkeeper.worker.shard.ConsumerSettings.StateRead;

/**
 * Properties of Shardkeeper. Immutable.
 *
 * @param enabled Whether to enable Shardkeeper. With false it defines no beans, so a
 * ShardTemplate cannot be injected either.
 * @param strictProperties Whether an unknown property below shardkeeper fails startup
 * instead of being logged as a warning.
 * @param group Name of the group of instances that share the topics' shards. Must be set
 * if spring.application.name is not. Defaults to spring.application.name.
 * @param instanceId Id of this instance, a part of its member ids. It need not be unique,
 * because each session adds a random part, unless broadcast topics resume or shards are
 * kept on leave (shardkeeper.session.on-leave). Defaults to the host name and the process
 * id, and a number for each further application context of the process.
 * @param version Version of this application. While a group runs several versions, shards
 * move to the newest one. Defaults to spring.application.version.
 * @param store Store of membership, ownership, offsets and state: redis, or memory of
 * this process for tests and a first look.
 * @param keyPrefix Prefix of all keys in Redis. Not blank, without braces and spaces.
 * @param jsonMapper Name of the JsonMapper bean that reads and writes payloads, state,
 * signals and parameters. Defaults to the only or primary one.
 * @param redis Replication of changes in Redis.
 * @param session Sessions of members in the group.
 * @param rebalance Timing of assignments.
 * @param assignment Assignment of shards to instances.
 * @param handover Moves of shards between instances.
 * @param maxRecordSize Maximum size of key, headers and payload of a record, with one
 * byte per character of key and headers. A larger record is refused before it is sent;
 * one that others have sent counts as one that cannot be converted. 1B to 512MB.
 * @param consumer Consumption of topics.
 * @param template Limits of ShardTemplate.
 * @param outbox Limits of what handlers send as parts of their calls.
 * @param signals Signals to all instances of the group.
 * @param history History of moves of shards between instances.
 * @param observations Observations of handler calls and sent records.
 * @param kafka Topics in Kafka.
 * @param sls Topics in Aliyun LogHub (SLS).
 * @param jdbc Transactions of the application's database that contain the offsets.
 * @param topics Topics by name, which is global in a Redis: applications that use the
 * same one share its records. Names with other characters than letters, digits and dashes
 * must be written in brackets.
 * @param parameters Defaults of cluster parameters by name, as text; a list or an object
 * as JSON in one text. A name that no code declares is allowed. Names with other
 * characters than letters, digits, dots and dashes must be written in brackets. Defaults
 * to the value in the code.
 */
@Internal
@ConfigurationProperties("shardkeeper")
public record ShardkeeperProperties(@DefaultValue("true") boolean enabled,
		@DefaultValue("false") boolean strictProperties, @Nullable String group, @Nullable String instanceId,
		@Nullable String version, @DefaultValue("redis") Store store, @DefaultValue("shardkeeper") String keyPrefix,
		@Nullable String jsonMapper, @DefaultValue Redis redis, @DefaultValue Session session,
		@DefaultValue Rebalance rebalance, @DefaultValue Assignment assignment, @DefaultValue Handover handover,
		@DefaultValue("16MB") DataSize maxRecordSize, @DefaultValue Consumer consumer, @DefaultValue Template template,
		@DefaultValue Outbox outbox, @DefaultValue Signals signals, @DefaultValue History history,
		@DefaultValue Observations observations, @DefaultValue @NestedConfigurationProperty KafkaSourceProperties kafka,
		@DefaultValue @NestedConfigurationProperty SlsSourceProperties sls, @DefaultValue Jdbc jdbc,
		@DefaultValue Map<String, Topic> topics, @DefaultValue Map<String, String> parameters) {

	/**
	 * Store of the group.
	 */
	public enum Store {

		/** Redis, for any number of instances. */
		REDIS,

		/** Memory of this process, for tests and a first look. */
		MEMORY

	}

	/**
	 * What is expected of Redis.
	 *
	 * @param waitForReplicas Number of replicas that must have a change of ownership
	 * before the new owner consumes. With 0, a failover may undo a change that was just
	 * made. Not negative.
	 * @param waitTimeout Maximum time to wait for these replicas before the change is
	 * tried again. At least 1ms, at most a third of the lease. Defaults to 1s, or a third
	 * of the lease if that is less.
	 * @param recordIds Ids of records that are sent with Outgoing.withId.
	 * @param trustEmpty Whether a Redis without any key of the group counts as new, for
	 * tests and demonstrations: the first instance then assigns the shards at once
	 * instead of after a lease. A Redis that was emptied looks the same, and a shard may
	 * then be consumed by two instances at the same time.
	 */
	public record Redis(@DefaultValue("0") int waitForReplicas, @Nullable Duration waitTimeout,
			@DefaultValue RecordIds recordIds, @DefaultValue("false") boolean trustEmpty) {

		private static final int WAITS_PER_LEASE = 3;

		private static final Duration MAX_DEFAULT_WAIT = Duration.ofSeconds(1);

		/** Returns the wait timeout, or its default under a lease. */
		public Duration waitTimeoutUnder(Duration lease) {
			if (this.waitTimeout != null) {
				return this.waitTimeout;
			}
			Duration longest = longestWaitUnder(lease);
			return (longest.compareTo(MAX_DEFAULT_WAIT) < 0) ? longest : MAX_DEFAULT_WAIT;
		}

		/** Returns the longest wait that does not make a leader look stuck. */
		static Duration longestWaitUnder(Duration lease) {
			return lease.dividedBy(WAITS_PER_LEASE);
		}

		/** Returns the shortest lease under which a leader may wait for so long. */
		static Duration shortestLeaseFor(Duration wait) {
			return wait.multipliedBy(WAITS_PER_LEASE);
		}

	}

	/**
	 * Ids of records that are sent with Outgoing.withId.
	 *
	 * @param retention Time for which an id is remembered, unless more than max-count ids
	 * of the shard follow: a record that is sent again later is appended again. 1s to 1d.
	 * @param maxCount Number of ids of a shard after which older ones are forgotten
	 * before their time. At most twice as many are stored. 1 to 10000000.
	 */
	public record RecordIds(@DefaultValue("10m") Duration retention, @DefaultValue("100000") int maxCount) {

	}

	/**
	 * Transactions of the application's database that contain the offsets.
	 *
	 * @param initializeSchema Database in which the tables are created at startup: an
	 * embedded one, any (always), or none (never).
	 * @param tablePrefix Beginning of the tables' names, with the schema and a dot if
	 * they are in another one. Letters, digits and underscores.
	 * @param lockWait Maximum time that a statement of Shardkeeper waits for a lock of
	 * the database, above all that of a shard's row; handlers' statements wait as the
	 * database says. In whole seconds, 1s to 5m.
	 * @param transactionManager Name of the PlatformTransactionManager bean of the
	 * transactions. Defaults to the only or primary one.
	 */
	public record Jdbc(@DefaultValue("embedded") InitializeSchema initializeSchema,
			@DefaultValue("shardkeeper_") String tablePrefix, @DefaultValue("10s") Duration lockWait,
			@Nullable String transactionManager) {

	}

	/**
	 * Database in which tables are created at startup.
	 */
	public enum InitializeSchema {

		/** An embedded database only, such as H2 in memory. */
		EMBEDDED,

		/** Any database. */
		ALWAYS,

		/** None: the application creates them, for example with Flyway. */
		NEVER

	}

	/**
	 * Transaction in which a handler is called.
	 */
	public enum CallTransaction {

		/** None of Shardkeeper's. Commits are written in the background. */
		NONE,

		/** One of the application's database that also contains the offset. */
		JDBC

	}

	/**
	 * Sessions of members in the group.
	 *
	 * @param profile Defaults of the times of a session: standard, or fast-failover, with
	 * which shards of an instance that crashed move sooner and shorter pauses of the
	 * store or the process suspend consumption. Should be the same for all instances.
	 * @param heartbeatInterval Time between two heartbeats. Each heartbeat is one
	 * command. At least 10ms. Defaults to 500ms, or 300ms with the profile fast-failover.
	 * @param lease Time for which an instance may consume after its last answered
	 * heartbeat. Shards of an instance that crashed move after this time. At least three
	 * heartbeat intervals. Defaults to 3s, or 1500ms with the profile fast-failover.
	 * @param timeout Time after which a silent instance loses its shards although its
	 * process still runs. At least the lease. Defaults to 15s, or 7500ms with the profile
	 * fast-failover.
	 * @param onLoss Reaction to the end of the lease, which happens if the store does not
	 * reply in time or the process was paused: suspend stops consumption until the store
	 * replies, exit ends the process.
	 * @param onLeave Handling of the shards of an instance that leaves the group in
	 * order: release gives them to others, keep keeps them for its return within the away
	 * timeout and requires shardkeeper.instance-id.
	 * @param awayTimeout Time for which the shards of an instance that has left are kept
	 * for its return; nobody consumes them meanwhile. From 1s to a day. Used only if
	 * shards are kept on leave.
	 */
	public record Session(@DefaultValue("standard") SessionProfile profile, @Nullable Duration heartbeatInterval,
			@Nullable Duration lease, @Nullable Duration timeout, @DefaultValue("suspend") OnLoss onLoss,
			@DefaultValue("release") OnLeave onLeave, @DefaultValue("1m") Duration awayTimeout) {

		/**
		 * Returns the times of the session: those that are set, others by the profile.
		 */
		public SessionTimes times() {
			return new SessionTimes(or(this.heartbeatInterval, this.profile.times.heartbeatInterval()),
					or(this.lease, this.profile.times.lease()), or(this.timeout, this.profile.times.timeout()));
		}

	}

	/**
	 * Times of a session.
	 *
	 * @param heartbeatInterval the time between two heartbeats
	 * @param lease the time for which an instance may consume after an answered one
	 * @param timeout the time after which a silent instance loses its shards
	 */
	public record SessionTimes(Duration heartbeatInterval, Duration lease, Duration timeout) {

	}

	/**
	 * Defaults of the times of a session. Each has five heartbeats or more in a lease,
	 * and five leases in the timeout. What else depends on the lease, such as time limits
	 * of commands and margins for clocks, is computed from the lease in force.
	 */
	public enum SessionProfile {

		/** A lease of 3s, a heartbeat every 500ms, a timeout of 15s. */
		STANDARD(500, 3000, 15_000),

		/** A lease of 1500ms, a heartbeat every 300ms, a timeout of 7500ms. */
		FAST_FAILOVER(300, 1500, 7500);

		private final SessionTimes times;

		SessionProfile(long heartbeatMillis, long leaseMillis, long timeoutMillis) {
			this.times = new SessionTimes(Duration.ofMillis(heartbeatMillis), Duration.ofMillis(leaseMillis),
					Duration.ofMillis(timeoutMillis));
		}

	}

	/**
	 * Handling of the shards of an instance that leaves the group in order.
	 */
	public enum OnLeave {

		/** Gives them to other instances. */
		RELEASE,

		/** Keeps them for a restart of the instance under the same id. */
		KEEP

	}

	/**
	 * Reaction to the end of the lease.
	 */
	public enum OnLoss {

		/** Suspends consumption until the store replies. */
		SUSPEND,

		/**
		 * Ends the process immediately with exit code 75, without shutdown hooks. For
		 * handlers that ignore interruptions and whose writes are not fenced.
		 */
		EXIT

	}

	/**
	 * Moves of shards between instances.
	 *
	 * @param timeout Maximum time that a shard that moves waits for a handler call. Then
	 * the call is interrupted and reported, and again after each further period of this
	 * length. From 100ms to spring.lifecycle.timeout-per-shutdown-phase. Defaults to the
	 * shutdown phase, at most 50s: 30s with Spring Boot's own default.
	 * @param onTimeout Reaction to a handler call that has not returned within the
	 * timeout: hold keeps the shard until the call returns, force moves it.
	 * @param quietPeriod Time for which nobody consumes a shard after a planned move. At
	 * most a day.
	 * @param crashQuietPeriod Time for which nobody consumes a shard after its owner
	 * crashed. The leader's value applies. At most a day.
	 * @param maxConcurrentMoves Maximum number of shards of the group that move at the
	 * same time, 0 for no limit. The leader's value applies. Not negative.
	 */
	public record Handover(@Nullable Duration timeout, @DefaultValue("hold") OnTimeout onTimeout,
			@DefaultValue("0s") Duration quietPeriod, @DefaultValue("0s") Duration crashQuietPeriod,
			@DefaultValue("0") int maxConcurrentMoves) {

		static final Duration MAX_DEFAULT_TIMEOUT = Duration.ofSeconds(50);

		/** Returns the timeout, or its default for a shutdown phase of this duration. */
		Duration timeoutWithin(Duration shutdownPhase) {
			if (this.timeout != null) {
				return this.timeout;
			}
			return (shutdownPhase.compareTo(MAX_DEFAULT_TIMEOUT) < 0) ? shutdownPhase : MAX_DEFAULT_TIMEOUT;
		}

	}

	/**
	 * Timing of assignments.
	 *
	 * @param settleTime Time that the leader waits for further joins and leaves after
	 * one, to plan them together. Not negative.
	 */
	public record Rebalance(@DefaultValue("100ms") Duration settleTime) {

	}

	/**
	 * Assignment of shards to instances.
	 *
	 * @param strategy Strategy by which the leader assigns shards. The leader's value
	 * applies. Defaults to the application's AssignmentStrategy bean, or else sticky.
	 * @param capacity Share of shards that this instance takes, compared with others. An
	 * instance of 4 takes twice as much as one of 2. Never a limit. 1 to 1000000.
	 * @param zone Zone in which this instance runs. Shards with data in the same zone are
	 * preferred.
	 * @param timeout Maximum time that an AssignmentStrategy or ShardCatalog bean may
	 * take for one assignment. Then it is interrupted, and shards stay with their owners.
	 * 10ms to 1m.
	 * @param load Measurement of loads for the load-aware strategy.
	 */
	public record Assignment(@Nullable String strategy, @DefaultValue("1") int capacity, @Nullable String zone,
			@DefaultValue("5s") Duration timeout, @DefaultValue Load load) {

	}

	/**
	 * Measurement of loads for the load-aware strategy. Differences and gains are in
	 * milliseconds of handler time per second, or in records per second, of an instance
	 * of average capacity.
	 *
	 * @param measure Measure of a shard's load, the same on every instance: the time that
	 * its handler runs (1000 is one busy thread), or the number of its records.
	 * @param reportInterval Time between two checks of an instance for changed loads, and
	 * of the leader for reported ones. 100ms to 1h.
	 * @param difference Minimum difference of load between two instances before a shard
	 * moves between them, in milliseconds or records per second. Above 0. Defaults to 100
	 * ms, or 1000 records, per second.
	 * @param differenceShare Additional minimum difference of load, as a share of the
	 * busier instance's own load. 0 to below 1.
	 * @param gain Minimum reduction of the higher of the two loads by a move, in
	 * milliseconds or records per second. Above 0, at most half the difference. Defaults
	 * to 20 ms, or 200 records, per second.
	 * @param coolDown Time after any move for which a shard does not move because of its
	 * load. 0s to 7d.
	 * @param movesPerPlan Maximum number of shards that move because of their load at the
	 * same time. The leader's value applies. At least 1.
	 */
	public record Load(@DefaultValue("handler-time") LoadMeasure measure, @DefaultValue("10s") Duration reportInterval,
			@Nullable Double difference, @DefaultValue("0.2") double differenceShare, @Nullable Double gain,
			@DefaultValue("5m") Duration coolDown, @DefaultValue("10") int movesPerPlan) {

		public double effectiveDifference() {
			return or(this.difference, this.measure.defaultDifference());
		}

		/** Defaults to at most half the difference, because no move can gain more. */
		public double effectiveGain() {
			return or(this.gain, Math.min(this.measure.defaultGain(), effectiveDifference() / 2));
		}

	}

	/**
	 * Consumption of topics. A topic may override all but the startup, the threads and
	 * the total size of the buffers.
	 *
	 * @param startup Beginning of the consumption: with the application context, or once
	 * the application is ready to accept traffic, after its runners. Until then this
	 * instance gets no shards.
	 * @param autoStartup Whether this instance takes part in topics by itself. If not,
	 * the application has to call ShardConsumers.start.
	 * @param threads Number of threads that all shards of this instance share. Ignored
	 * with spring.threads.virtual.enabled. 1 to 10000.
	 * @param threadNamePrefix Beginning of the names of the threads that call handlers,
	 * virtual ones included.
	 * @param commit Commits of offset and state.
	 * @param ordering Order of calls: one after the other for each shard, for each key of
	 * a shard, or in no order.
	 * @param concurrency Maximum number of concurrent calls for a shard, with the
	 * ordering key or none. 1 to 10000.
	 * @param maxAhead Maximum number of records that are started after the oldest record
	 * of a shard that is not handled yet. 1 to 100000.
	 * @param batchSize Maximum number of records that a handler of lists gets at once;
	 * max-ahead limits it, too. 1 to 100000.
	 * @param buffer Records that are read ahead of the handlers.
	 * @param retry Retries in place.
	 * @param onFailure Reaction to a record that still fails after the retries in place:
	 * it becomes a dead letter, it goes to the retry queue, it waits there with all later
	 * records of its key (park-key), or the shard halts before it.
	 * @param failures Rules for failures by the class of their exception, which replace
	 * retry and on-failure for them. The first one that matches applies.
	 * @param retryQueue Retry queue.
	 * @param parkKey Keys that wait for a failing record.
	 * @param deadLetters Dead letters to keep.
	 * @param state State of shards.
	 * @param longCall Duration after which a handler call that still runs is reported as
	 * a problem of its shard, with the place in the code where it is. The call is not
	 * interrupted. At least 1s.
	 * @param maxConversionFailures Maximum number of records in a row that cannot be
	 * converted before their shard halts, 0 for no limit. Not negative.
	 * @param showExceptionMessages Whether the problems of shards, in health, endpoint
	 * and Redis, have the messages of exceptions, which may quote records. If not, they
	 * name class and place, and only the log has the message.
	 * @param transaction Transaction of each call, with the offset as its last part:
	 * none, or one of the application's database (jdbc).
	 */
	public record Consumer(@DefaultValue("with-context") Startup startup, @DefaultValue("true") boolean autoStartup,
			@DefaultValue("16") int threads, @DefaultValue("shardkeeper-worker-") String threadNamePrefix,
			@DefaultValue Commit commit, @DefaultValue("shard") Ordering ordering, @DefaultValue("8") int concurrency,
			@DefaultValue("1000") int maxAhead, @DefaultValue("500") int batchSize, @DefaultValue Buffer buffer,
			@DefaultValue Retry retry, @DefaultValue("dead-letter") OnFailure onFailure,
			@DefaultValue List<FailureRule> failures, @DefaultValue RetryQueue retryQueue,
			@DefaultValue ParkKey parkKey, @DefaultValue DeadLetterLimits deadLetters, @DefaultValue State state,
			@DefaultValue("5m") Duration longCall, @DefaultValue("20") int maxConversionFailures,
			@DefaultValue("false") boolean showExceptionMessages, @DefaultValue("none") CallTransaction transaction) {

		/** Returns these settings with those that a topic overrides. */
		public Consumer overriddenBy(TopicConsumer topic) {
			return new Consumer(this.startup, or(topic.autoStartup(), this.autoStartup), this.threads,
					this.threadNamePrefix, this.commit.overriddenBy(topic.commit()),
					or(topic.ordering(), this.ordering), or(topic.concurrency(), this.concurrency),
					or(topic.maxAhead(), this.maxAhead), or(topic.batchSize(), this.batchSize),
					this.buffer.overriddenBy(topic.buffer()), this.retry.overriddenBy(topic.retry()),
					or(topic.onFailure(), this.onFailure), or(topic.failures(), this.failures),
					this.retryQueue.overriddenBy(topic.retryQueue()), this.parkKey.overriddenBy(topic.parkKey()),
					this.deadLetters.overriddenBy(topic.deadLetters()), this.state.overriddenBy(topic.state()),
					or(topic.longCall(), this.longCall), or(topic.maxConversionFailures(), this.maxConversionFailures),
					or(topic.showExceptionMessages(), this.showExceptionMessages),
					or(topic.transaction(), this.transaction));
		}

	}

	/** Beginning of the consumption. */
	public enum Startup {

		/** With the other beans of the application context. */
		WITH_CONTEXT,

		/** Once the application is ready to accept traffic. */
		AFTER_READINESS

	}

	/**
	 * Commits of offset and state. A handover always commits.
	 *
	 * @param mode Trigger of a commit: time and number of records (background); also the
	 * end of a batch (batch); or as in the background, but only of acknowledged records
	 * (manual).
	 * @param interval Maximum time that a handled record stays uncommitted. A shard that
	 * has handled everything commits after a fifth of it, but not within 1s. At least
	 * 1ms.
	 * @param records Maximum number of handled records that stay uncommitted. A commit is
	 * also due when there is 1 MB to commit. At least 1.
	 */
	public record Commit(@DefaultValue("background") CommitMode mode, @DefaultValue("5s") Duration interval,
			@DefaultValue("1000") int records) {

		private Commit overriddenBy(TopicCommit topic) {
			return new Commit(or(topic.mode(), this.mode), or(topic.interval(), this.interval),
					or(topic.records(), this.records));
		}

	}

	/**
	 * Records that are read ahead of the handlers. A single read may exceed the limits.
	 *
	 * @param records Maximum number of records that are read ahead for each shard. At
	 * least 1.
	 * @param size Maximum size of the records that are read ahead for each shard. At
	 * least 1B.
	 * @param totalSize Maximum size of the records that are read ahead for all shards of
	 * this instance. When it is used up, only shards with less than an even share are
	 * read. At least 1B.
	 */
	public record Buffer(@DefaultValue("1000") int records, @DefaultValue("4MB") DataSize size,
			@DefaultValue("64MB") DataSize totalSize) {

		private Buffer overriddenBy(TopicBuffer topic) {
			return new Buffer(or(topic.records(), this.records), or(topic.size(), this.size), this.totalSize);
		}

	}

	/**
	 * Retries in place: the shard, or the key, waits meanwhile.
	 *
	 * @param maxAttempts Maximum number of calls with a record in place, including the
	 * first one. At least 1.
	 * @param initialInterval Pause before the second call. At least 1ms.
	 * @param multiplier Multiplier of each further pause. At least 1.
	 * @param maxInterval Maximum pause between two calls. At least the initial interval.
	 * @param excludes Classes of exceptions after which a record is not retried, also as
	 * a cause.
	 */
	public record Retry(@DefaultValue("5") int maxAttempts, @DefaultValue("200ms") Duration initialInterval,
			@DefaultValue("2") double multiplier, @DefaultValue("30s") Duration maxInterval,
			@DefaultValue List<Class<? extends Throwable>> excludes) {

		private Retry overriddenBy(TopicRetry topic) {
			return new Retry(or(topic.maxAttempts(), this.maxAttempts),
					or(topic.initialInterval(), this.initialInterval), or(topic.multiplier(), this.multiplier),
					or(topic.maxInterval(), this.maxInterval), or(topic.excludes(), this.excludes));
		}

	}

	/**
	 * Keys that wait for a failing record, with on-failure park-key.
	 *
	 * @param maxKeys Maximum number of keys of a shard that wait. With more the shard
	 * halts until there is room. 1 to 100000.
	 * @param maxRecords Maximum number of records of a shard that wait. With more the
	 * shard halts until there is room. 1 to 1000000.
	 * @param afterDelays Reaction to a record that fails after the last delay: its key
	 * waits, and it is retried after that delay again (repeat); or it becomes a dead
	 * letter, and its key continues without it.
	 */
	public record ParkKey(@DefaultValue("100") int maxKeys, @DefaultValue("10000") int maxRecords,
			@DefaultValue("repeat") AfterDelays afterDelays) {

		private ParkKey overriddenBy(TopicParkKey topic) {
			return new ParkKey(or(topic.maxKeys(), this.maxKeys), or(topic.maxRecords(), this.maxRecords),
					or(topic.afterDelays(), this.afterDelays));
		}

	}

	/**
	 * Retry queue.
	 *
	 * @param delays Delays of a record in the retry queue, one for each failure. After
	 * the last one it becomes a dead letter, or what park-key.after-delays says. Not
	 * empty if failed records go to the retry queue.
	 * @param maxAge Maximum time since its last failure after which a record of the retry
	 * queue is handled again, for example because nobody has consumed its shard; then it
	 * becomes a dead letter. Without it there is no limit. Ignored with park-key. At
	 * least 1s.
	 */
	public record RetryQueue(@DefaultValue( {
			"10s", "1m", "10m" }) List<Duration> delays, @Nullable Duration maxAge){

		private RetryQueue overriddenBy(TopicRetryQueue topic) {
			return new RetryQueue(or(topic.delays(), this.delays),
					(topic.maxAge() != null) ? topic.maxAge() : this.maxAge);
		}

	}

	/**
	 * Dead letters to keep. All are kept unless a limit is set.
	 *
	 * @param maxAge Maximum time that dead letters are kept, by Redis' clock. Older ones
	 * are removed permanently. At least 1m.
	 * @param maxCount Maximum number of dead letters of each shard. The oldest ones
	 * beyond it are removed permanently. At least 1.
	 */
	public record DeadLetterLimits(@Nullable Duration maxAge, @Nullable Long maxCount) {

		private DeadLetterLimits overriddenBy(TopicDeadLetterLimits topic) {
			return new DeadLetterLimits((topic.maxAge() != null) ? topic.maxAge() : this.maxAge,
					(topic.maxCount() != null) ? topic.maxCount() : this.maxCount);
		}

	}

	/**
	 * State of shards.
	 *
	 * @param read When entries of the state are read. With on-acquisition the whole state
	 * of an owned shard is in memory. With on-use an entry is read when a call first uses
	 * it, so that a move does not take longer the larger the state is; a failover of the
	 * store that loses commits has their records handled again.
	 * @param cacheSize Approximate size of the entries in memory of all states of this
	 * instance that are read on use; changes that are not committed may exceed it. At
	 * least 1MB.
	 * @param ttl Time to live of values that handlers put without one. What is stored
	 * already keeps its own. Without it they stay until they are removed. 1ms to 36500d.
	 */
	public record State(@DefaultValue("on-acquisition") StateRead read, @DefaultValue("64MB") DataSize cacheSize,
			@Nullable Duration ttl) {

		private State overriddenBy(TopicState topic) {
			return new State(or(topic.read(), this.read), this.cacheSize,
					(topic.ttl() != null) ? topic.ttl() : this.ttl);
		}

	}

	/**
	 * Consumers of a topic's shards.
	 */
	public enum Mode {

		/** One instance of the group consumes a shard. */
		COORDINATED,

		/** Every instance consumes every shard. */
		BROADCAST

	}

	/**
	 * Consumption of one topic, as far as it differs from all others.
	 *
	 * @param autoStartup Whether this instance takes part in the topic by itself. If not,
	 * the application has to call ShardConsumers.start. Defaults to
	 * shardkeeper.consumer.auto-startup.
	 * @param commit Commits of offset and state.
	 * @param ordering Order of calls: one after the other for each shard, for each key of
	 * a shard, or in no order. Defaults to shardkeeper.consumer.ordering.
	 * @param concurrency Maximum number of concurrent calls for a shard, with the
	 * ordering key or none. 1 to 10000. Defaults to shardkeeper.consumer.concurrency.
	 * @param maxAhead Maximum number of records that are started after the oldest record
	 * of a shard that is not handled yet. 1 to 100000. Defaults to
	 * shardkeeper.consumer.max-ahead.
	 * @param batchSize Maximum number of records that a handler of lists gets at once;
	 * max-ahead limits it, too. 1 to 100000. Defaults to shardkeeper.consumer.batch-size.
	 * @param buffer Records that are read ahead for each shard.
	 * @param retry Retries in place.
	 * @param onFailure Reaction to a record that still fails after the retries in place:
	 * it becomes a dead letter, it goes to the retry queue, it waits there with all later
	 * records of its key (park-key), or the shard halts before it. Defaults to
	 * shardkeeper.consumer.on-failure.
	 * @param failures Rules for failures by the class of their exception, which replace
	 * retry and on-failure for them. The first one that matches applies. Defaults to
	 * shardkeeper.consumer.failures.
	 * @param retryQueue Retry queue.
	 * @param parkKey Keys that wait for a failing record.
	 * @param deadLetters Dead letters to keep.
	 * @param state State of shards.
	 * @param longCall Duration after which a handler call that still runs is reported as
	 * a problem of its shard, with the place in the code where it is. The call is not
	 * interrupted. At least 1s. Defaults to shardkeeper.consumer.long-call.
	 * @param maxConversionFailures Maximum number of records in a row that cannot be
	 * converted before their shard halts, 0 for no limit. Not negative. Defaults to
	 * shardkeeper.consumer.max-conversion-failures.
	 * @param showExceptionMessages Whether the problems of shards, in health, endpoint
	 * and Redis, have the messages of exceptions, which may quote records. If not, they
	 * name class and place, and only the log has the message. Defaults to
	 * shardkeeper.consumer.show-exception-messages.
	 * @param transaction Transaction of each call, with the offset as its last part:
	 * none, or one of the application's database (jdbc). Defaults to
	 * shardkeeper.consumer.transaction.
	 */
	public record TopicConsumer(@Nullable Boolean autoStartup, @DefaultValue TopicCommit commit,
			@Nullable Ordering ordering, @Nullable Integer concurrency, @Nullable Integer maxAhead,
			@Nullable Integer batchSize, @DefaultValue TopicBuffer buffer, @DefaultValue TopicRetry retry,
			@Nullable OnFailure onFailure, @Nullable List<FailureRule> failures,
			@DefaultValue TopicRetryQueue retryQueue, @DefaultValue TopicParkKey parkKey,
			@DefaultValue TopicDeadLetterLimits deadLetters, @DefaultValue TopicState state,
			@Nullable Duration longCall, @Nullable Integer maxConversionFailures,
			@Nullable Boolean showExceptionMessages, @Nullable CallTransaction transaction) {

		/** Overrides nothing. */
		static final TopicConsumer NONE = new TopicConsumer(null, new TopicCommit(null, null, null), null, null, null,
				null, new TopicBuffer(null, null), new TopicRetry(null, null, null, null, null), null, null,
				new TopicRetryQueue(null, null), new TopicParkKey(null, null, null),
				new TopicDeadLetterLimits(null, null), new TopicState(null, null), null, null, null, null);

	}

	/**
	 * Commits of offset and state of one topic.
	 *
	 * @param mode Trigger of a commit: time and number of records (background); also the
	 * end of a batch (batch); or as in the background, but only of acknowledged records
	 * (manual). Defaults to shardkeeper.consumer.commit.mode.
	 * @param interval Maximum time that a handled record stays uncommitted. A shard that
	 * has handled everything commits after a fifth of it, but not within 1s. At least
	 * 1ms. Defaults to shardkeeper.consumer.commit.interval.
	 * @param records Maximum number of handled records that stay uncommitted. A commit is
	 * also due when there is 1 MB to commit. At least 1. Defaults to
	 * shardkeeper.consumer.commit.records.
	 */
	public record TopicCommit(@Nullable CommitMode mode, @Nullable Duration interval, @Nullable Integer records) {

	}

	/**
	 * Records that are read ahead for each shard of one topic.
	 *
	 * @param records Maximum number of records that are read ahead for each shard. At
	 * least 1. Defaults to shardkeeper.consumer.buffer.records.
	 * @param size Maximum size of the records that are read ahead for each shard. At
	 * least 1B. Defaults to shardkeeper.consumer.buffer.size.
	 */
	public record TopicBuffer(@Nullable Integer records, @Nullable DataSize size) {

	}

	/**
	 * Retries in place for one topic.
	 *
	 * @param maxAttempts Maximum number of calls with a record in place, including the
	 * first one. At least 1. Defaults to shardkeeper.consumer.retry.max-attempts.
	 * @param initialInterval Pause before the second call. At least 1ms. Defaults to
	 * shardkeeper.consumer.retry.initial-interval.
	 * @param multiplier Multiplier of each further pause. At least 1. Defaults to
	 * shardkeeper.consumer.retry.multiplier.
	 * @param maxInterval Maximum pause between two calls. At least the initial interval.
	 * Defaults to shardkeeper.consumer.retry.max-interval.
	 * @param excludes Classes of exceptions after which a record is not retried, also as
	 * a cause. Defaults to shardkeeper.consumer.retry.excludes.
	 */
	public record TopicRetry(@Nullable Integer maxAttempts, @Nullable Duration initialInterval,
			@Nullable Double multiplier, @Nullable Duration maxInterval,
			@Nullable List<Class<? extends Throwable>> excludes) {

	}

	/**
	 * Retry queue of one topic.
	 *
	 * @param delays Delays of a record in the retry queue, one for each failure. After
	 * the last one it becomes a dead letter, or what park-key.after-delays says. Not
	 * empty if failed records go to the retry queue. Defaults to
	 * shardkeeper.consumer.retry-queue.delays.
	 * @param maxAge Maximum time since its last failure after which a record of the retry
	 * queue is handled again, for example because nobody has consumed its shard; then it
	 * becomes a dead letter. Ignored with park-key. At least 1s. Defaults to
	 * shardkeeper.consumer.retry-queue.max-age.
	 */
	public record TopicRetryQueue(@Nullable List<Duration> delays, @Nullable Duration maxAge) {

	}

	/**
	 * Keys of one topic that wait for a failing record.
	 *
	 * @param maxKeys Maximum number of keys of a shard that wait. With more the shard
	 * halts until there is room. 1 to 100000. Defaults to
	 * shardkeeper.consumer.park-key.max-keys.
	 * @param maxRecords Maximum number of records of a shard that wait. With more the
	 * shard halts until there is room. 1 to 1000000. Defaults to
	 * shardkeeper.consumer.park-key.max-records.
	 * @param afterDelays Reaction to a record that fails after the last delay: its key
	 * waits, and it is retried after that delay again (repeat); or it becomes a dead
	 * letter, and its key continues without it. Defaults to
	 * shardkeeper.consumer.park-key.after-delays.
	 */
	public record TopicParkKey(@Nullable Integer maxKeys, @Nullable Integer maxRecords,
			@Nullable AfterDelays afterDelays) {

	}

	/**
	 * Dead letters of one topic to keep.
	 *
	 * @param maxAge Maximum time that dead letters are kept, by Redis' clock. Older ones
	 * are removed permanently. At least 1m. Defaults to
	 * shardkeeper.consumer.dead-letters.max-age.
	 * @param maxCount Maximum number of dead letters of each shard. The oldest ones
	 * beyond it are removed permanently. At least 1. Defaults to
	 * shardkeeper.consumer.dead-letters.max-count.
	 */
	public record TopicDeadLetterLimits(@Nullable Duration maxAge, @Nullable Long maxCount) {

	}

	/**
	 * State of the shards of one topic.
	 *
	 * @param read When entries of the state are read: all when the shard is acquired, or
	 * each when a call first uses it. Defaults to shardkeeper.consumer.state.read.
	 * @param ttl Time to live of values that handlers put without one. What is stored
	 * already keeps its own. 1ms to 36500d. Defaults to shardkeeper.consumer.state.ttl.
	 */
	public record TopicState(@Nullable StateRead read, @Nullable Duration ttl) {

	}

	/**
	 * Signals to all instances of the group.
	 *
	 * @param retention Time after a signal was sent in which instances handle it that
	 * rejoin, or that start and have a method with atStart. 0s to 365d.
	 * @param maxPayloadSize Maximum size of the payload of a signal. A larger one is
	 * refused. 1B to 1MB.
	 */
	public record Signals(@DefaultValue("1h") Duration retention, @DefaultValue("64KB") DataSize maxPayloadSize) {

	}

	/**
	 * History of moves of shards between instances.
	 *
	 * @param maxMoves Maximum number of moves that are kept, approximately; each takes
	 * about 300 bytes of Redis' memory. With 0, no history is kept. 0 to 1000000.
	 * @param retention Time for which a move is kept, approximately. 1m to 365d.
	 */
	public record History(@DefaultValue("10000") int maxMoves, @DefaultValue("7d") Duration retention) {

	}

	/**
	 * Observations of handler calls and sent records.
	 *
	 * @param enabled Whether each handler call and each record that is sent is an
	 * observation, which continues the record's trace. Costs most of the throughput of
	 * small records; calls and records are timed without it, too.
	 */
	public record Observations(@DefaultValue("false") boolean enabled) {

	}

	/**
	 * Limits of ShardTemplate.
	 *
	 * @param maxInFlight Maximum number of records that are sent and not yet answered.
	 * Further senders wait. At least 1.
	 * @param maxInFlightSize Maximum size of the records that are sent and not yet
	 * answered. From shardkeeper.max-record-size to 512MB.
	 * @param retries Maximum number of times that a ShardTemplate repeats a record whose
	 * append was not confirmed. It is in its shard once nevertheless. Of topics in Redis
	 * and in memory. 0 to 100.
	 */
	public record Template(@DefaultValue("10000") int maxInFlight, @DefaultValue("16MB") DataSize maxInFlightSize,
			@DefaultValue("0") int retries) {

	}

	/**
	 * Limits of what handlers send as parts of their calls.
	 *
	 * @param maxRecords Maximum number of records that a shard has sent and that are not
	 * in their targets yet. Further calls wait. At least 1.
	 * @param maxSize Maximum size of these records. From shardkeeper.max-record-size to
	 * 512MB.
	 */
	public record Outbox(@DefaultValue("10000") int maxRecords, @DefaultValue("16MB") DataSize maxSize) {

	}

	/**
	 * Trimming of a topic's streams. Nothing is trimmed unless a limit is set.
	 *
	 * @param maxLength Maximum number of records of each shard. At least 1.
	 * @param maxAge Maximum age of records, by Redis' clock. At least 1s.
	 * @param beyondCheckpoints Whether to also trim records that a group has not handled
	 * yet.
	 */
	public record Trim(@Nullable Long maxLength, @Nullable Duration maxAge,
			@DefaultValue("false") boolean beyondCheckpoints) {

		public boolean hasLimit() {
			return this.maxLength != null || this.maxAge != null;
		}

	}

	/**
	 * Schedule of a handler without records.
	 *
	 * @param cron Times of the calls for each shard, as a cron expression with six fields
	 * or a macro such as '@daily'. Replaces cron and interval of the annotation. Only for
	 * topics without records. Defaults to that of the annotation.
	 * @param zone Time zone of the cron expression, such as Europe/Berlin. Defaults to
	 * that of the annotation, or else UTC.
	 * @param interval Pause from the end of a call to the next one for the same shard.
	 * Replaces interval and cron of the annotation. 0s to 36500d. Defaults to that of the
	 * annotation.
	 * @param onInterruption Treatment of a call that was interrupted by a crash, the end
	 * of the lease or a move. Defaults to repeat. Only for topics without records.
	 * @param missedRuns Treatment of times of the cron expression that passed while no
	 * instance could call the handler. Defaults to once.
	 * @param missedAfter Delay after which a time of the cron expression counts as
	 * missed. 1s to 1d. Defaults to 1m.
	 */
	public record Schedule(@Nullable String cron, @Nullable String zone, @Nullable Duration interval,
			@Nullable OnInterruption onInterruption, @Nullable MissedRuns missedRuns, @Nullable Duration missedAfter) {

	}

	/**
	 * A topic.
	 *
	 * @param shards Number of shards that the topic starts with. On Redis, the number
	 * stored there applies. 1 to 100000.
	 * @param mode Consumers of a shard: one instance of the group (coordinated), or every
	 * instance (broadcast). An instance with another mode than those that run is refused.
	 * @param start Start position of the group, or of a broadcast topic's instance, in a
	 * shard that has no offset yet: earliest; latest, for records after the group first
	 * consumed the topic; a time such as 2026-11-21T10:00:00Z; group: and the name of a
	 * consumer group of the source, whose members must be gone; or the offset of the
	 * first record.
	 * @param resume Whether an instance resumes where it was before a restart. If not,
	 * each start begins at the start position, and offsets, state, retry queue and dead
	 * letters end with the instance. Only with mode broadcast, and with
	 * shardkeeper.instance-id.
	 * @param strategy Strategy by which the leader assigns the shards of this topic.
	 * Topics with the same strategy are assigned together, separately from the others.
	 * Defaults to shardkeeper.assignment.strategy.
	 * @param weights Weight of the shard: its share of work, compared with others. 1 to
	 * 1000000. Defaults to 1.
	 * @param zones Zone in which the shard's data is.
	 * @param pinned Instance id of the instance that owns the shard while it is present
	 * and consumes the topic. Otherwise the shard is assigned like any other: a pin never
	 * leaves it without an owner.
	 * @param consumer Consumption of this topic. Defaults to shardkeeper.consumer.
	 * @param trim Trimming of the topic's streams.
	 * @param selector Name of the ShardSelector bean that selects the shards of this
	 * topic's records. Defaults to the only ShardSelector bean, or else the hash of the
	 * key.
	 * @param converter Name of the PayloadConverter bean that converts the payloads of
	 * this topic. Defaults to the only or primary PayloadConverter bean, or else JSON.
	 * @param failureHandler Name of the FailureHandler bean that chooses what becomes of
	 * failed records of this topic, after the rules of consumer.failures. Defaults to all
	 * FailureHandler beans.
	 * @param source Source of the topic. Defaults to the application's ShardSource beans,
	 * or else the source of shardkeeper.store.
	 * @param reset Position at which a shard resumes if its source no longer has the next
	 * record: earliest, latest, or stop, which reports a problem and waits for a new
	 * position. Not for Redis Streams, which resume at the first available record.
	 * Defaults to earliest.
	 * @param names Names of the shards, instead of their number. Not empty. Only with the
	 * source fixed.
	 * @param namesBean Name of the ShardNames bean that lists the names of the shards,
	 * instead of their number. Only with the source fixed.
	 * @param schedule Schedule of a handler without records. Replaces what its annotation
	 * says.
	 */
	@ConfigurationPropertiesSource
	public record Topic(@DefaultValue("1") int shards, @DefaultValue("coordinated") Mode mode,
			@DefaultValue("earliest") String start, @DefaultValue("false") boolean resume, @Nullable String strategy,
			@DefaultValue Map<String, Long> weights, @DefaultValue Map<String, String> zones,
			@DefaultValue Map<String, String> pinned, @DefaultValue TopicConsumer consumer, @DefaultValue Trim trim,
			@Nullable String selector, @Nullable String converter, @Nullable String failureHandler,
			@Nullable String source, @Nullable ResetPolicy reset, @Nullable List<String> names,
			@Nullable String namesBean, @DefaultValue Schedule schedule) {

		public boolean hasTraits() {
			return !this.weights.isEmpty() || !this.zones.isEmpty() || !this.pinned.isEmpty();
		}

	}

	private static <T> T or(@Nullable T value, T fallback) {
		return (value != null) ? value : fallback;
	}

}
