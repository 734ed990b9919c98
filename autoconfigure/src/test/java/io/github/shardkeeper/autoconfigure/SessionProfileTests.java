package io.github.shardkeeper.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.SessionProfile;
import io.github.shardkeeper.coordination.member.CoordinationSettings;

import static org.assertj.core.api.Assertions.assertThat;

/** Times of sessions from profiles and from single properties. */
class SessionProfileTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=orders");

	private final ApplicationContextRunner fast = this.runner
		.withPropertyValues("shardkeeper.session.profile=fast-failover");

	@Test
	void standardIsTheDefault() {
		this.runner.run((context) -> assertTimes(context, 500, 3000, 15_000));
		this.runner.withPropertyValues("shardkeeper.session.profile=standard")
			.run((context) -> assertTimes(context, 500, 3000, 15_000));
	}

	@Test
	void fastFailoverShortensAllTimesOfASession() {
		this.fast.run((context) -> assertTimes(context, 300, 1500, 7500));
	}

	@Test
	void singlePropertiesOverrideTheProfile() {
		this.fast.withPropertyValues("shardkeeper.session.heartbeat-interval=200ms")
			.run((context) -> assertTimes(context, 200, 1500, 7500));
		this.fast.withPropertyValues("shardkeeper.session.lease=2s")
			.run((context) -> assertTimes(context, 300, 2000, 7500));
		this.fast.withPropertyValues("shardkeeper.session.timeout=20s")
			.run((context) -> assertTimes(context, 300, 1500, 20_000));
	}

	private static void assertTimes(AssertableApplicationContext context, long heartbeatMillis, long leaseMillis,
			long timeoutMillis) {
		CoordinationSettings settings = context.getBean(CoordinationSettings.class);
		assertThat(settings.heartbeatInterval()).isEqualTo(Duration.ofMillis(heartbeatMillis));
		assertThat(settings.lease()).isEqualTo(Duration.ofMillis(leaseMillis));
		assertThat(settings.timeout()).isEqualTo(Duration.ofMillis(timeoutMillis));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"',
			textBlock = """
					shardkeeper.session.heartbeat-interval=600ms | 'shardkeeper.session.lease' is 1500ms (default of 'shardkeeper.session.profile: fast-failover') | Set the lease to at least 1800ms, or the heartbeat interval to at most 500ms.
					shardkeeper.session.lease=800ms              | which is 300ms (default of 'shardkeeper.session.profile: fast-failover')                      | Set the lease to at least 900ms
					shardkeeper.session.lease=8s                 | 'shardkeeper.session.timeout' is 7500ms (default of 'shardkeeper.session.profile: fast-failover') | Set the timeout to at least 8s; five times the lease, 40s
					shardkeeper.session.timeout=1s               | 'shardkeeper.session.lease', which is 1500ms (default of 'shardkeeper.session.profile: fast-failover') | Set the timeout to at least 1500ms
					shardkeeper.redis.wait-timeout=600ms         | a third of 'shardkeeper.session.lease', which is 1500ms (default of 'shardkeeper.session.profile: fast-failover') | Set the timeout to at most 500ms
					""")
	void overrideThatContradictsTheProfileFailsStartup(String property, String names, String fix) {
		this.fast.withPropertyValues("shardkeeper.redis.wait-for-replicas=1", property).run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains(names);
			assertThat(analysis.getAction()).contains(fix);
		});
	}

	@Test
	void waitForReplicasFollowsTheLease() {
		ApplicationContextRunner waiting = this.fast.withPropertyValues("shardkeeper.redis.wait-for-replicas=1");
		waiting.run((context) -> assertWait(context, 500));
		waiting.withPropertyValues("shardkeeper.session.lease=1200ms").run((context) -> assertWait(context, 400));
		waiting.withPropertyValues("shardkeeper.redis.wait-timeout=100ms").run((context) -> assertWait(context, 100));
		this.runner.run((context) -> assertWait(context, 1000));
	}

	private static void assertWait(AssertableApplicationContext context, long millis) {
		assertThat(context).hasNotFailed();
		ShardkeeperProperties properties = context.getBean(ShardkeeperProperties.class);
		assertThat(properties.redis().waitTimeoutUnder(properties.session().times().lease()))
			.isEqualTo(Duration.ofMillis(millis));
	}

	@ParameterizedTest
	@EnumSource(SessionProfile.class)
	void profileIsConsistentWithEveryRule(SessionProfile profile) {
		this.runner
			.withPropertyValues("shardkeeper.session.profile=" + profile, "shardkeeper.redis.wait-for-replicas=1")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void unknownProfileFailsStartup() {
		this.runner.withPropertyValues("shardkeeper.session.profile=fastest")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("SessionProfile.fastest"));
	}

}
