package io.github.shardkeeper.autoconfigure.properties;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import org.springframework.core.env.Environment;
import org.springframework.util.unit.DataSize;

import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Assignment;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.CallTransaction;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Handover;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.History;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Jdbc;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Load;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Mode;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.OnLeave;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Outbox;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Redis;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Session;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.SessionTimes;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Signals;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Template;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Topic;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Trim;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.text.DurationText;

/**
 * Checks every rule for {@code shardkeeper.*} that needs no bean. Reports all problems
 * together, each with the property and the fix. Confined to one thread.
 */
final class PropertiesValidator {

	private static final int HEARTBEATS_PER_LEASE = 3;

	private static final Duration MIN_HEARTBEAT_INTERVAL = Duration.ofMillis(10);

	/** Size of the largest value that Redis stores. */
	private static final DataSize MAX_VALUE_SIZE = DataSize.ofMegabytes(512);

	/** So that the largest entry of a call has room with others. */
	private static final long MIN_STATE_CACHE = 1_048_576;

	private static final DataSize MAX_SIGNAL_SIZE = DataSize.ofMegabytes(1);

	/** Entries of about 200 bytes. */
	private static final int MAX_HISTORY = 1_000_000;

	private static final int MAX_CAPACITY = 1_000_000;

	private static final Duration MAX_QUIET_PERIOD = Duration.ofDays(1);

	private final ShardkeeperProperties properties;

	private final Environment environment;

	private final Duration shutdownPhase;

	private final PropertyProblems problems = new PropertyProblems();

	private PropertiesValidator(ShardkeeperProperties properties, Environment environment, Duration shutdownPhase) {
		this.properties = properties;
		this.environment = environment;
		this.shutdownPhase = shutdownPhase;
	}

	/**
	 * Validates the properties.
	 * @param properties the properties
	 * @param environment where they come from
	 * @param shutdownPhase maximum duration of a phase of the application's shutdown
	 * @throws ShardkeeperConfigurationException if a rule is broken, with all problems
	 */
	static void validate(ShardkeeperProperties properties, Environment environment, Duration shutdownPhase) {
		PropertiesValidator validator = new PropertiesValidator(properties, environment, shutdownPhase);
		validator.validate();
		validator.problems.throwIfAny();
	}

	private void validate() {
		new PropertyNames(this.environment, this.properties.strictProperties(), this.problems).check();
		this.problems.requireNameIfSet("shardkeeper.group", this.properties.group());
		this.problems.requireNameIfSet("shardkeeper.instance-id", this.properties.instanceId());
		String keyPrefix = this.properties.keyPrefix();
		this.problems.require(
				!keyPrefix.isBlank() && keyPrefix.chars().noneMatch((c) -> c == '{' || c == '}' || c <= ' '),
				"shardkeeper.key-prefix", "'" + keyPrefix + "'",
				"Use text without braces and spaces (braces would move the keys to another slot), "
						+ "for example 'shardkeeper'.");
		validate(this.properties.session());
		validate(this.properties.handover());
		validate(this.properties.redis());
		validate(this.properties.jdbc());
		this.problems.requireAtLeast("shardkeeper.rebalance.settle-time", this.properties.rebalance().settleTime(),
				Duration.ZERO);
		requireValueSize("shardkeeper.max-record-size", this.properties.maxRecordSize());
		validate(this.properties.template());
		validate(this.properties.outbox());
		validate(this.properties.signals());
		validate(this.properties.history());
		validate(this.properties.assignment());
		this.problems.requireBetween("shardkeeper.consumer.threads", this.properties.consumer().threads(), 1,
				ConsumerPropertiesValidator.MAX_CONCURRENCY);
		this.problems.requireBetween("shardkeeper.consumer.buffer.total-size",
				this.properties.consumer().buffer().totalSize().toBytes(), 1, Long.MAX_VALUE);
		this.problems.requireBetween("shardkeeper.consumer.state.cache-size",
				this.properties.consumer().state().cacheSize().toBytes(), MIN_STATE_CACHE, Long.MAX_VALUE);
		ConsumerPropertiesValidator.ofAllTopics(this.problems).validate(this.properties.consumer());
		this.properties.topics().forEach(this::validate);
		this.properties.parameters().keySet().forEach(this::validateParameter);
	}

	private void validateParameter(String name) {
		if (!Names.isValid(name)) {
			this.problems.reject(
					"The name '%s' of a parameter in 'shardkeeper.parameters' is not valid.".formatted(name),
					Names.RULE);
		}
	}

	private void validate(Session session) {
		SessionTimes times = session.times();
		Duration heartbeatInterval = times.heartbeatInterval();
		Duration lease = times.lease();
		this.problems.requireAtLeast("shardkeeper.session.heartbeat-interval", heartbeatInterval,
				MIN_HEARTBEAT_INTERVAL);
		Duration minLease = heartbeatInterval.multipliedBy(HEARTBEATS_PER_LEASE);
		Duration longest = lease.dividedBy(HEARTBEATS_PER_LEASE).truncatedTo(ChronoUnit.MILLIS);
		if (lease.compareTo(minLease) < 0) {
			this.problems.reject(
					"'shardkeeper.session.lease' is %s, shorter than three times 'shardkeeper.session.heartbeat-interval', which is %s: one late heartbeat would stop consumption."
						.formatted(text(lease, session.lease()), text(heartbeatInterval, session.heartbeatInterval())),
					"Set the lease to at least %s%s.".formatted(DurationText.of(minLease),
							(longest.compareTo(MIN_HEARTBEAT_INTERVAL) >= 0)
									? ", or the heartbeat interval to at most " + DurationText.of(longest) : ""));
		}
		if (times.timeout().compareTo(lease) < 0) {
			this.problems.reject(
					"'shardkeeper.session.timeout' is %s, shorter than 'shardkeeper.session.lease', which is %s: a session would end while its member still consumes."
						.formatted(text(times.timeout(), session.timeout()), text(lease, session.lease())),
					"Set the timeout to at least %s; five times the lease, %s, is a good value."
						.formatted(DurationText.of(lease), DurationText.of(lease.multipliedBy(5))));
		}
		if (session.onLeave() == OnLeave.KEEP) {
			this.problems.requireBetween("shardkeeper.session.away-timeout", session.awayTimeout(),
					Duration.ofSeconds(1), Duration.ofDays(1));
			String instance = this.properties.instanceId();
			if (instance == null || instance.isBlank()) {
				this.problems.reject(
						"'shardkeeper.session.on-leave' is 'keep', but 'shardkeeper.instance-id' is not set: shards are kept for an id that is the same after a restart, and the default id is not.",
						"Set 'shardkeeper.instance-id' to an id that differs between instances and outlives a restart, for example to ${HOSTNAME}, the name of the pod in a StatefulSet, or set 'shardkeeper.session.on-leave' to 'release'.");
			}
		}
	}

	private void validate(Handover handover) {
		Duration timeout = handover.timeout();
		if (timeout != null) {
			this.problems.requireAtLeast("shardkeeper.handover.timeout", timeout, Duration.ofMillis(100));
			if (timeout.compareTo(this.shutdownPhase) > 0) {
				this.problems.reject(
						"'shardkeeper.handover.timeout' is %s, longer than 'spring.lifecycle.timeout-per-shutdown-phase', which is %s: a shutdown would cut off handlers that a move waits for."
							.formatted(DurationText.of(timeout), DurationText.of(this.shutdownPhase)),
						"Set the shutdown phase to at least %s (and your platform's time limit to more), or the handover timeout to at most %s."
							.formatted(DurationText.of(timeout), DurationText.of(this.shutdownPhase)));
			}
		}
		this.problems.requireBetween("shardkeeper.handover.quiet-period", handover.quietPeriod(), Duration.ZERO,
				MAX_QUIET_PERIOD);
		this.problems.requireBetween("shardkeeper.handover.crash-quiet-period", handover.crashQuietPeriod(),
				Duration.ZERO, MAX_QUIET_PERIOD);
		this.problems.require(handover.maxConcurrentMoves() >= 0, "shardkeeper.handover.max-concurrent-moves",
				handover.maxConcurrentMoves(), "Set it to 1 or more, or to 0 for no limit.");
	}

	private void validate(Redis redis) {
		this.problems.requireBetween("shardkeeper.redis.record-ids.retention", redis.recordIds().retention(),
				Duration.ofSeconds(1), Duration.ofDays(1));
		this.problems.requireBetween("shardkeeper.redis.record-ids.max-count", redis.recordIds().maxCount(), 1,
				10_000_000);
		this.problems.require(redis.waitForReplicas() >= 0, "shardkeeper.redis.wait-for-replicas",
				redis.waitForReplicas(),
				"Set it to the number of replicas that must have a change of ownership, or to 0 for none.");
		if (redis.waitForReplicas() <= 0) {
			return;
		}
		Session session = this.properties.session();
		Duration lease = session.times().lease();
		Duration wait = redis.waitTimeoutUnder(lease);
		this.problems.requireAtLeast("shardkeeper.redis.wait-timeout", wait, Duration.ofMillis(1));
		Duration longest = Redis.longestWaitUnder(lease);
		if (wait.compareTo(longest) > 0) {
			this.problems.reject(
					"'shardkeeper.redis.wait-timeout' is %s, longer than a third of 'shardkeeper.session.lease', which is %s: a leader that waits for replicas would be considered stuck."
						.formatted(DurationText.of(wait), text(lease, session.lease())),
					"Set the timeout to at most %s, or the lease to at least %s.".formatted(
							DurationText.of(longest.truncatedTo(ChronoUnit.MILLIS)),
							DurationText.of(Redis.shortestLeaseFor(wait))));
		}
	}

	private void validate(Jdbc jdbc) {
		this.problems.requireBetween("shardkeeper.jdbc.lock-wait", jdbc.lockWait(), Duration.ofSeconds(1),
				Duration.ofMinutes(5));
	}

	private void validate(Template template) {
		this.problems.requireBetween("shardkeeper.template.max-in-flight", template.maxInFlight(), 1,
				Integer.MAX_VALUE);
		this.problems.requireBetween("shardkeeper.template.retries", template.retries(), 0, 100);
		requireValueSize("shardkeeper.template.max-in-flight-size", template.maxInFlightSize());
		requireRoomForRecord("shardkeeper.template.max-in-flight-size", template.maxInFlightSize());
	}

	private void validate(Outbox outbox) {
		this.problems.requireBetween("shardkeeper.outbox.max-records", outbox.maxRecords(), 1, Integer.MAX_VALUE);
		requireValueSize("shardkeeper.outbox.max-size", outbox.maxSize());
		requireRoomForRecord("shardkeeper.outbox.max-size", outbox.maxSize());
	}

	private void requireRoomForRecord(String property, DataSize size) {
		DataSize maxRecordSize = this.properties.maxRecordSize();
		if (size.compareTo(maxRecordSize) < 0) {
			this.problems.reject("'%s' is %s, less than 'shardkeeper.max-record-size', which is %s.".formatted(property,
					size, maxRecordSize), "Set it to at least the size of one record.");
		}
	}

	private void validate(History history) {
		this.problems.require(history.maxMoves() >= 0 && history.maxMoves() <= MAX_HISTORY,
				"shardkeeper.history.max-moves", history.maxMoves(),
				"Set it to 0 (no history) up to " + MAX_HISTORY + ".");
		this.problems.require(
				history.retention().compareTo(Duration.ofMinutes(1)) >= 0
						&& history.retention().compareTo(Duration.ofDays(365)) <= 0,
				"shardkeeper.history.retention", history.retention(), "Set it to 1m or more, and to at most 365d.");
	}

	private void validate(Signals signals) {
		this.problems.require(
				!signals.retention().isNegative() && signals.retention().compareTo(Duration.ofDays(365)) <= 0,
				"shardkeeper.signals.retention", signals.retention(), "Set it to 0s or more, and to at most 365d.");
		this.problems.require(
				signals.maxPayloadSize().toBytes() >= 1 && signals.maxPayloadSize().compareTo(MAX_SIGNAL_SIZE) <= 0,
				"shardkeeper.signals.max-payload-size", signals.maxPayloadSize(),
				"Set it to 1B or more, and to at most 1MB: every instance reads the payload. Store more elsewhere and "
						+ "send its key.");
	}

	private void requireValueSize(String property, DataSize size) {
		this.problems.require(size.toBytes() >= 1 && size.compareTo(MAX_VALUE_SIZE) <= 0, property, size,
				"Set it to 1B or more, and to at most 512MB, the largest value that Redis stores.");
	}

	private void validate(Assignment assignment) {
		this.problems.require(assignment.capacity() >= 1 && assignment.capacity() <= MAX_CAPACITY,
				"shardkeeper.assignment.capacity", assignment.capacity(),
				"Set it to a number from 1 to %d: an instance of 4 takes twice as much as one of 2. ".formatted(
						MAX_CAPACITY) + "An instance that must not take any shards has no @ShardConsumer method.");
		this.problems.requireNameIfSet("shardkeeper.assignment.zone", assignment.zone());
		this.problems.requireBetween("shardkeeper.assignment.timeout", assignment.timeout(), Duration.ofMillis(10),
				Duration.ofMinutes(1));
		validate(assignment.load());
	}

	private void validate(Load load) {
		String prefix = "shardkeeper.assignment.load.";
		this.problems.requireBetween(prefix + "report-interval", load.reportInterval(), Duration.ofMillis(100),
				Duration.ofHours(1));
		this.problems.requireBetween(prefix + "cool-down", load.coolDown(), Duration.ZERO, Duration.ofDays(7));
		this.problems.requireBetween(prefix + "moves-per-plan", load.movesPerPlan(), 1, Integer.MAX_VALUE);
		this.problems.require(load.differenceShare() >= 0 && load.differenceShare() < 1, prefix + "difference-share",
				load.differenceShare(), "Set it to a number from 0 to 0.99; 0.2, the default, is a fifth.");
		double difference = load.effectiveDifference();
		this.problems.require(difference > 0 && difference < Double.MAX_VALUE, prefix + "difference", difference,
				"Set it to a number above 0, in %s; the default is %.0f.".formatted(load.measure().unit(),
						load.measure().defaultDifference()));
		if (difference > 0) {
			this.problems.require(load.effectiveGain() > 0 && load.effectiveGain() <= difference / 2, prefix + "gain",
					load.effectiveGain(),
					"Set it to a number above 0, and to at most half of '%sdifference', which is %s: no move gains more."
						.formatted(prefix, difference));
		}
	}

	private void validate(String name, Topic topic) {
		String prefix = "shardkeeper.topics.%s.".formatted(name);
		this.problems.requireName("shardkeeper.topics.*", name);
		this.problems.requireBetween(prefix + "shards", topic.shards(), 1, TopicShards.MOST_SHARDS);
		try {
			StartPosition.parse(topic.start());
		}
		catch (IllegalArgumentException ex) {
			this.problems.reject("'%sstart' is '%s': %s.".formatted(prefix, topic.start(), ex.getMessage()),
					"Leave it out, or set it to 'earliest', 'latest', a time like '2026-11-21T10:00:00Z', an offset, or 'group:' and the name of a consumer group.");
		}
		validate(prefix + "trim.", topic.trim());
		Duration missedAfter = topic.schedule().missedAfter();
		if (missedAfter != null) {
			this.problems.requireBetween(prefix + "schedule.missed-after", missedAfter, Duration.ofSeconds(1),
					Duration.ofDays(1));
		}
		topic.weights().forEach((shard, weight) -> {
			this.problems.requireBetween(prefix + "weights." + shard, weight, 1, ShardTraits.MOST_WEIGHT);
		});
		topic.zones().forEach((shard, zone) -> {
			this.problems.requireName(prefix + "zones." + shard, zone);
		});
		topic.pinned().forEach((shard, instance) -> {
			this.problems.requireName(prefix + "pinned." + shard, instance);
		});
		if (topic.resume()) {
			validateResume(name, topic);
		}
		if (topic.mode() == Mode.BROADCAST) {
			validateBroadcast(name, topic);
			if (this.properties.consumer().overriddenBy(topic.consumer()).transaction() == CallTransaction.JDBC) {
				this.problems.reject(
						"'shardkeeper.topics.%s.mode' is 'broadcast', but its 'consumer.transaction' is 'jdbc': the rows in the database are those of the group."
							.formatted(name),
						"Set 'shardkeeper.topics.%s.consumer.transaction' to 'none', or the mode to 'coordinated'."
							.formatted(name));
			}
		}
		new ConsumerPropertiesValidator(this.problems, name, topic.consumer())
			.validate(this.properties.consumer().overriddenBy(topic.consumer()));
	}

	private void validate(String prefix, Trim trim) {
		Long maxLength = trim.maxLength();
		this.problems.require(maxLength == null || maxLength >= 1, prefix + "max-length", maxLength,
				"Set it to 1 or more, or leave it out to keep any number of records.");
		if (trim.maxAge() != null) {
			this.problems.requireAtLeast(prefix + "max-age", trim.maxAge(), Duration.ofSeconds(1));
		}
	}

	/** Nobody assigns the shards of a broadcast topic. */
	private void validateBroadcast(String name, Topic topic) {
		rejectAssignment(name, "strategy", topic.strategy() != null && !topic.strategy().isEmpty());
		rejectAssignment(name, "weights", !topic.weights().isEmpty());
		rejectAssignment(name, "zones", !topic.zones().isEmpty());
		rejectAssignment(name, "pinned", !topic.pinned().isEmpty());
	}

	private void validateResume(String name, Topic topic) {
		String instance = this.properties.instanceId();
		if (topic.mode() != Mode.BROADCAST) {
			this.problems.reject(
					"'shardkeeper.topics.%s.resume' is true, but the topic's mode is 'coordinated': the group always resumes where it was."
						.formatted(name),
					"Remove 'resume', or set the mode to 'broadcast'.");
		}
		else if (instance == null || instance.isBlank()) {
			this.problems.reject(
					"'shardkeeper.topics.%s.resume' is true, but 'shardkeeper.instance-id' is not set: offsets are kept for an id that is the same after a restart, and the default id is not."
						.formatted(name),
					"Set 'shardkeeper.instance-id' to an id that differs between instances and outlives a restart, for example to ${HOSTNAME}, the name of the pod in a StatefulSet; or remove 'resume', and each start begins at 'shardkeeper.topics.%s.start'."
						.formatted(name));
		}
	}

	private void rejectAssignment(String name, String property, boolean isSet) {
		if (isSet) {
			this.problems.reject(
					"'shardkeeper.topics.%s.%s' is set, but 'shardkeeper.topics.%s.mode' is 'broadcast': every instance consumes every shard, so none is assigned."
						.formatted(name, property, name),
					"Remove '%s', or set the mode to 'coordinated'.".formatted(property));
		}
	}

	/** Names the profile if a time of the session is its default. */
	private String text(Duration inForce, @Nullable Duration configured) {
		if (configured != null) {
			return DurationText.of(inForce);
		}
		String profile = this.properties.session().profile().name().toLowerCase(Locale.ROOT).replace('_', '-');
		return "%s (default of 'shardkeeper.session.profile: %s')".formatted(DurationText.of(inForce), profile);
	}

}
