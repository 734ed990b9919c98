package io.github.shardkeeper.autoconfigure;

import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;

import static org.assertj.core.api.Assertions.assertThat;

class InvalidSettingsTests {

	private final ApplicationContextRunner redis = ShardkeeperAutoConfigurationTests.onRedis();

	private final ApplicationContextRunner memory = this.redis.withPropertyValues("shardkeeper.store=memory");

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					shardkeeper.group=or{d}ers                     | shardkeeper.group                       | letters, digits
					shardkeeper.group=or ders                      | shardkeeper.group                       | letters, digits
					shardkeeper.group=or\\u0007ders                | or\\u0007ders                           | letters, digits
					shardkeeper.group=                             | spring.application.name                 | shardkeeper.group
					shardkeeper.instance-id=a~b                    | shardkeeper.instance-id                 | letters, digits
					shardkeeper.topics.[a{b}].shards=2             | a{b}                                    | letters, digits
					shardkeeper.topics.[a b].shards=2              | a b                                     | letters, digits
					shardkeeper.topics.orders.shards=0             | shardkeeper.topics.orders.shards        | from 1
					shardkeeper.topics.orders.start=earlist        | shardkeeper.topics.orders.start         | Set it to 'earliest'
					shardkeeper.topics.orders.start=               | shardkeeper.topics.orders.start         | Leave it out
					shardkeeper.topics.orders.start=group:         | name of a consumer group must not be blank | Leave it out
					shardkeeper.key-prefix={x}                     | shardkeeper.key-prefix                  | without braces
					shardkeeper.consumer.threads=0                 | shardkeeper.consumer.threads            | from 1 to 10000
					shardkeeper.consumer.threads=100000            | shardkeeper.consumer.threads            | from 1 to 10000
					shardkeeper.consumer.buffer.total-size=0B      | shardkeeper.consumer.buffer.total-size  | 1 or more
					shardkeeper.consumer.state.cache-size=1023KB   | shardkeeper.consumer.state.cache-size   | 1048576 or more
					management.endpoint.shards.roles=              | management.endpoint.shards.roles        | at least one role
					shardkeeper.session.lease=1s                   | shardkeeper.session.heartbeat-interval  | at least 1500ms, or the heartbeat interval to at most 333ms.
					shardkeeper.session.lease=20ms                 | shardkeeper.session.lease' is 20ms      | Set the lease to at least 1500ms.
					shardkeeper.session.on-leave=keep              | shardkeeper.instance-id                 | ${HOSTNAME}
					shardkeeper.session.timeout=2s                 | shardkeeper.session.lease               | at least 3s
					shardkeeper.session.heartbeat-interval=1ms     | shardkeeper.session.heartbeat-interval  | 10ms or more
					shardkeeper.rebalance.settle-time=-1ms         | shardkeeper.rebalance.settle-time       | 0s or more
					shardkeeper.handover.timeout=31s               | spring.lifecycle.timeout-per-shutdown-phase | at most 30s
					shardkeeper.handover.timeout=31s               | shardkeeper.handover.timeout            | at least 31s
					shardkeeper.handover.timeout=1ms               | shardkeeper.handover.timeout            | 100ms or more
					shardkeeper.handover.quiet-period=-1ms         | shardkeeper.handover.quiet-period       | 0s or more
					shardkeeper.handover.quiet-period=25h          | shardkeeper.handover.quiet-period       | 1d or less
					shardkeeper.handover.quiet-period=-1d          | shardkeeper.handover.quiet-period' is -1d | 0s or more
					shardkeeper.handover.crash-quiet-period=-1ms   | shardkeeper.handover.crash-quiet-period | 0s or more
					shardkeeper.handover.max-concurrent-moves=-1   | shardkeeper.handover.max-concurrent-moves | 1 or more
					shardkeeper.redis.wait-for-replicas=-1         | shardkeeper.redis.wait-for-replicas     | 0 for none
					shardkeeper.assignment.strategy=random         | shardkeeper.assignment.strategy | Write one of sticky, range, round-robin
					shardkeeper.topics.orders.strategy=random      | shardkeeper.topics.orders.strategy      | Write one of sticky, range, round-robin
					shardkeeper.assignment.capacity=0              | shardkeeper.assignment.capacity         | from 1 to 1000000
					shardkeeper.assignment.capacity=1000001        | shardkeeper.assignment.capacity         | from 1 to 1000000
					shardkeeper.assignment.zone=eu 1               | shardkeeper.assignment.zone             | letters, digits
					shardkeeper.assignment.timeout=9ms             | shardkeeper.assignment.timeout          | 10ms or more
					shardkeeper.assignment.timeout=61s             | shardkeeper.assignment.timeout          | 1m or less
					shardkeeper.topics.orders.weights.0=0          | shardkeeper.topics.orders.weights.0 | from 1 to 1000000
					shardkeeper.topics.orders.weights.0=-5         | shardkeeper.topics.orders.weights.0     | from 1 to 1000000
					shardkeeper.topics.orders.weights.1=5000000000 | is 5000000000 | from 1 to 1000000
					shardkeeper.topics.orders.weights.2=5          | shardkeeper.topics.orders.weights.2     | shards are 0 to 1
					shardkeeper.topics.orders.zones.01=eu          | shardkeeper.topics.orders.zones.01      | shards are 0 to 1
					shardkeeper.topics.orders.zones.0=eu 1         | shardkeeper.topics.orders.zones.0       | letters, digits
					shardkeeper.topics.orders.pinned.x=host        | shardkeeper.topics.orders.pinned.x      | shards are 0 to 1
					shardkeeper.topics.orders.pinned.0=ho~st       | shardkeeper.topics.orders.pinned.0      | letters, digits
					shardkeeper.consumer.commit.interval=500us     | shardkeeper.consumer.commit.interval' is 500us | 1ms or more
					shardkeeper.consumer.state.ttl=0s              | shardkeeper.consumer.state.ttl' is 0s   | 1ms or more
					shardkeeper.topics.orders.consumer.state.ttl=-1h | shardkeeper.topics.orders.consumer.state.ttl' is -1h | 1ms or more
					shardkeeper.consumer.state.ttl=999999999d      | shardkeeper.consumer.state.ttl          | 36500d or less
					shardkeeper.consumer.retry.excludes=java.lang.String | java.lang.String                  | classes of exceptions
					shardkeeper.topics.orders.consumer.retry.excludes=java.io.IOException,java.util.List | java.util.List | classes of exceptions
					""")
	void invalidPropertyFailsStartupWithItsFix(String property, String names, String fix) {
		String value = property.replace("\\u0007", "\u0007");
		this.memory.withPropertyValues(value)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(), names, fix));
	}

	@Test
	void allInvalidPropertiesAreReportedTogether() {
		this.memory
			.withPropertyValues("shardkeeper.consumer.threads=0", "shardkeeper.consumer.max-ahead=0",
					"shardkeeper.topics.orders.consumer.batch-size=0", "shardkeeper.topics.visits.shards=0")
			.run((context) -> {
				FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
				assertThat(analysis.getDescription().lines()).containsExactly("1. 'shardkeeper.consumer.threads' is 0.",
						"2. 'shardkeeper.consumer.max-ahead' is 0.",
						"3. 'shardkeeper.topics.orders.consumer.batch-size' is 0.",
						"4. 'shardkeeper.topics.visits.shards' is 0.");
				assertThat(analysis.getAction().lines()).containsExactly("1. Set it to a number from 1 to 10000.",
						"2. Set it to a number from 1 to 100000.", "3. Set it to a number from 1 to 100000.",
						"4. Set it to a number from 1 to 100000.");
			});
	}

	@Test
	void keysThatWaitNeedABoundAndADelay() {
		this.memory
			.withPropertyValues("shardkeeper.consumer.park-key.max-records=0",
					"shardkeeper.topics.orders.consumer.park-key.max-keys=0",
					"shardkeeper.topics.orders.consumer.on-failure=park-key",
					"shardkeeper.topics.orders.consumer.retry-queue.delays=")
			.run((context) -> {
				FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
				assertThat(analysis.getDescription()).contains("'shardkeeper.consumer.park-key.max-records' is 0.",
						"'shardkeeper.topics.orders.consumer.park-key.max-keys' is 0.",
						"'shardkeeper.topics.orders.consumer.on-failure' is 'park-key', but "
								+ "'shardkeeper.topics.orders.consumer.retry-queue.delays' is empty.");
				assertThat(analysis.getAction()).contains("Set it to a number from 1 to 1000000.",
						"Set it to a number from 1 to 100000.", "Set at least one delay");
			});
	}

	@Test
	void startOnRedisMustBeAnEntryId() {
		this.redis.withPropertyValues("shardkeeper.topics.orders.start=2026-11-21")
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"one looks like 1795234348101-0", "Set it to 'earliest'"));
		this.redis.withPropertyValues("shardkeeper.topics.orders.start=1795234348101")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void startAtAConsumerGroupNeedsASourceThatHasSome() {
		this.memory.withPropertyValues("shardkeeper.topics.orders.start=group:booking")
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.topics.orders.start' is 'group:booking'", "Set it to 'earliest'"));
		this.redis.withPropertyValues("shardkeeper.topics.orders.start=group:booking")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void replicaWaitIsLimitedByTheLease() {
		this.memory.withPropertyValues("shardkeeper.redis.wait-for-replicas=1", "shardkeeper.redis.wait-timeout=1500ms")
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"shardkeeper.redis.wait-timeout", "at most 1s, or the lease to at least 4500ms"));
		this.memory.withPropertyValues("shardkeeper.redis.wait-for-replicas=1", "shardkeeper.redis.wait-timeout=0ms")
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"shardkeeper.redis.wait-timeout", "1ms or more"));
		this.memory.withPropertyValues("shardkeeper.redis.wait-for-replicas=0", "shardkeeper.redis.wait-timeout=1500ms")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "max-in-flight=0, Set it to 1 or more", "max-in-flight-size=600MB, at most 512MB",
			"max-in-flight-size=1KB, at least the size of one record",
			"retries=101, Set it to a number from 0 to 100" })
	void invalidTemplateLimitsFailStartup(String setting, String fix) {
		this.memory.withPropertyValues("shardkeeper.template." + setting)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.template." + setting.substring(0, setting.indexOf('=')) + "'", fix));
	}

	@Test
	void invalidSizeOfRecordsFailsStartup() {
		this.memory.withPropertyValues("shardkeeper.max-record-size=0B")
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.max-record-size'", "at most 512MB"));
		this.memory.withPropertyValues("shardkeeper.max-record-size=32MB")
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.template.max-in-flight-size'", "at least the size of one record"));
	}

	@ParameterizedTest
	@CsvSource({ "retention=100ms, Set it to 1s or more", "retention=2d, Set it to 1d or less",
			"max-count=0, Set it to a number from 1 to 10000000" })
	void invalidMemoryOfRecordIdsFailsStartup(String setting, String fix) {
		this.memory.withPropertyValues("shardkeeper.redis.record-ids." + setting)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.redis.record-ids." + setting.substring(0, setting.indexOf('=')) + "'", fix));
	}

	@ParameterizedTest
	@CsvSource({ "max-length=0, Set it to 1 or more", "max-age=1ms, Set it to 1s or more" })
	void invalidTrimmingFailsStartup(String setting, String fix) {
		this.memory.withPropertyValues("shardkeeper.topics.orders.trim." + setting)
			.run((context) -> StartFailures.assertStartupFailed(context.getStartupFailure(),
					"'shardkeeper.topics.orders.trim.", fix));
	}

}
