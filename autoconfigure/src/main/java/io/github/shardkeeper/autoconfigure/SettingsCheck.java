package io.github.shardkeeper.autoconfigure;

import java.time.Duration;

import org.springframework.util.unit.DataSize;

import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Handover;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Redis;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Session;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Template;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Trim;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.TopicShards;

/**
 * Checks settings by themselves and against each other. Has no state.
 */
final class SettingsCheck {

	private static final int HEARTBEATS_PER_LEASE = 3;

	private static final Duration SHORTEST_HANDOVER = Duration.ofMillis(100);

	private static final Duration LONGEST_QUIET_PERIOD = Duration.ofDays(1);

	private static final int WAITS_PER_LEASE = 3;

	private static final DataSize LONGEST_VALUE = DataSize.ofMegabytes(512);

	private static final Duration SHORTEST_AGE = Duration.ofSeconds(1);

	private static final int MOST_SHARDS = TopicShards.MOST_SHARDS;

	private SettingsCheck() {
	}

	/**
	 * Checks them.
	 * @param shutdownPhase how long a phase of the application's shutdown may take
	 */
	static void check(ShardkeeperProperties properties, Duration shutdownPhase) {
		checkSession(properties.session());
		checkHandover(properties.handover(), shutdownPhase);
		checkRedis(properties.redis(), properties.session());
		requireAtLeast("shardkeeper.rebalance.settle-time", properties.rebalance().settleTime(), Duration.ZERO);
		if (properties.consumer().threads() < 1) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.consumer.threads' is %d.".formatted(properties.consumer().threads()),
					"Set it to 1 or more; the default is 16.");
		}
		checkTemplate(properties.template());
		if (properties.keyPrefix().isBlank()
				|| properties.keyPrefix().chars().anyMatch((c) -> c == '{' || c == '}' || c <= ' ')) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.key-prefix' is '%s'.".formatted(properties.keyPrefix()),
					"Use text without braces and spaces (braces would move the keys to another slot), "
							+ "for example 'shardkeeper'.");
		}
		properties.topics().forEach((name, topic) -> {
			Names.requireValid(name, "shardkeeper.topics.*");
			if (topic.shards() < 1 || topic.shards() > MOST_SHARDS) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.topics.%s.shards' is %d.".formatted(name, topic.shards()),
						"Set it to a number from 1 to %d.".formatted(MOST_SHARDS));
			}
			checkTrim("shardkeeper.topics.%s.trim.".formatted(name), topic.trim());
			if (topic.start().isBlank()) {
				throw new ShardkeeperConfigurationException("'shardkeeper.topics.%s.start' is blank.".formatted(name),
						"Leave it out, or set it to 'earliest', 'latest', a time like '2026-11-21T10:00:00Z' or an offset.");
			}
		});
		AssignmentCheck.check(properties);
		BroadcastCheck.check(properties);
	}

	private static void checkTrim(String prefix, Trim trim) {
		Long maxLength = trim.maxLength();
		if (maxLength != null && maxLength < 1) {
			throw new ShardkeeperConfigurationException("'%smax-length' is %d.".formatted(prefix, maxLength),
					"Set it to 1 or more, or leave it out to keep any number of records.");
		}
		if (trim.maxAge() != null) {
			requireAtLeast(prefix + "max-age", trim.maxAge(), SHORTEST_AGE);
		}
	}

	private static void checkTemplate(Template template) {
		if (template.maxInFlight() < 1) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.template.max-in-flight' is %d.".formatted(template.maxInFlight()),
					"Set it to 1 or more; the default is 10000.");
		}
		requireSize("shardkeeper.template.max-payload-size", template.maxPayloadSize(), "1MB");
		requireSize("shardkeeper.template.max-in-flight-size", template.maxInFlightSize(), "16MB");
		if (template.maxInFlightSize().compareTo(template.maxPayloadSize()) < 0) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.template.max-in-flight-size' is %s, less than 'shardkeeper.template.max-payload-size', which is %s."
						.formatted(template.maxInFlightSize(), template.maxPayloadSize()),
					"Set it to at least the size of one payload.");
		}
	}

	private static void requireSize(String property, DataSize size, String usual) {
		if (size.toBytes() < 1 || size.toBytes() > LONGEST_VALUE.toBytes()) {
			throw new ShardkeeperConfigurationException("'%s' is %s.".formatted(property, size),
					"Set it to 1B or more, and to at most 512MB, which is what a value in Redis can have; the default is %s."
						.formatted(usual));
		}
	}

	private static void checkSession(Session session) {
		requireAtLeast("shardkeeper.session.heartbeat-interval", session.heartbeatInterval(), Duration.ofMillis(10));
		Duration shortestLease = session.heartbeatInterval().multipliedBy(HEARTBEATS_PER_LEASE);
		if (session.lease().compareTo(shortestLease) < 0) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.session.lease' is %s, shorter than three times 'shardkeeper.session.heartbeat-interval', which is %s: one late heartbeat would stop consumption."
						.formatted(text(session.lease()), text(session.heartbeatInterval())),
					"Set the lease to at least %s, or the heartbeat interval to at most %s."
						.formatted(text(shortestLease), text(session.lease().dividedBy(HEARTBEATS_PER_LEASE))));
		}
		if (session.timeout().compareTo(session.lease()) < 0) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.session.timeout' is %s, shorter than 'shardkeeper.session.lease', which is %s: a session would end while its member still consumes."
						.formatted(text(session.timeout()), text(session.lease())),
					"Set the timeout to at least %s; five times the lease, %s, is a good value."
						.formatted(text(session.lease()), text(session.lease().multipliedBy(5))));
		}
	}

	private static void checkHandover(Handover handover, Duration shutdownPhase) {
		Duration timeout = handover.timeout();
		if (timeout != null) {
			requireAtLeast("shardkeeper.handover.timeout", timeout, SHORTEST_HANDOVER);
			if (timeout.compareTo(shutdownPhase) > 0) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.handover.timeout' is %s, longer than 'spring.lifecycle.timeout-per-shutdown-phase', which is %s: a shutdown would cut off handlers that a move waits for."
							.formatted(text(timeout), text(shutdownPhase)),
						"Set the shutdown phase to at least %s (and your platform's time limit to more), or the handover timeout to at most %s."
							.formatted(text(timeout), text(shutdownPhase)));
			}
		}
		requireBetween("shardkeeper.handover.quiet-period", handover.quietPeriod(), LONGEST_QUIET_PERIOD);
		requireBetween("shardkeeper.handover.crash-quiet-period", handover.crashQuietPeriod(), LONGEST_QUIET_PERIOD);
		if (handover.maxConcurrentMoves() < 0) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.handover.max-concurrent-moves' is %d.".formatted(handover.maxConcurrentMoves()),
					"Set it to 1 or more, or to 0 for any number of moves at once.");
		}
	}

	private static void requireBetween(String property, Duration value, Duration most) {
		requireAtLeast(property, value, Duration.ZERO);
		if (value.compareTo(most) > 0) {
			throw new ShardkeeperConfigurationException("'%s' is %s.".formatted(property, text(value)),
					"Set it to %s or less: nobody consumes the shard meanwhile.".formatted(text(most)));
		}
	}

	private static void checkRedis(Redis redis, Session session) {
		if (redis.waitForReplicas() < 0) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.redis.wait-for-replicas' is %d.".formatted(redis.waitForReplicas()),
					"Set it to the number of replicas that must have a change of ownership, or to 0 for none.");
		}
		if (redis.waitForReplicas() == 0) {
			return;
		}
		requireAtLeast("shardkeeper.redis.wait-timeout", redis.waitTimeout(), Duration.ofMillis(1));
		Duration longest = session.lease().dividedBy(WAITS_PER_LEASE);
		if (redis.waitTimeout().compareTo(longest) > 0) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.redis.wait-timeout' is %s, longer than a third of 'shardkeeper.session.lease', which is %s: a leader that waits for replicas would be taken for one that hangs."
						.formatted(text(redis.waitTimeout()), text(session.lease())),
					"Set the timeout to at most %s, or the lease to at least %s.".formatted(text(longest),
							text(redis.waitTimeout().multipliedBy(WAITS_PER_LEASE))));
		}
	}

	private static void requireAtLeast(String property, Duration value, Duration least) {
		if (value.compareTo(least) < 0) {
			throw new ShardkeeperConfigurationException("'%s' is %s.".formatted(property, text(value)),
					"Set it to %s or more.".formatted(text(least)));
		}
	}

	/** As it is written in a properties file. */
	private static String text(Duration duration) {
		long millis = duration.toMillis();
		return (millis % 1000 == 0) ? millis / 1000 + "s" : millis + "ms";
	}

}
