package io.github.shardkeeper.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What lets no command fail is found nevertheless: a Redis that evicts, and a clock that
 * differs.
 */
@OnEveryRedis
@ExtendWith(OutputCaptureExtension.class)
class ServerCheckTests {

	private static final String WARNING = "Its 'maxmemory-policy' is allkeys-lru";

	private final EmbeddedRedis redis = EmbeddedRedis.start("--maxmemory", "100mb", "--maxmemory-policy",
			"allkeys-lru");

	private final LettuceConnectionFactory factory = RedisClients.factory(this.redis);

	private final RedisConnector connector = new RedisConnector(this.factory);

	@AfterEach
	void close() {
		this.connector.destroy();
		this.factory.destroy();
		this.redis.close();
	}

	@Test
	void evictingPolicyIsAProblemUntilItIsChanged(CapturedOutput output) {
		ServerCheck check = check(InstantSource.system());

		check.check();
		check.check();

		assertThat(check.eviction()).isNotNull().satisfies((eviction) -> {
			assertThat(eviction.data()).isTrue();
			assertThat(eviction.problem()).contains("At 'maxmemory' Redis evicts any key of Shardkeeper", WARNING,
					"noeviction");
		});
		assertThat(output.getOut().lines().filter((line) -> line.contains(WARNING))).hasSize(1);

		set("maxmemory-policy", "noeviction");
		check.check();

		assertThat(check.eviction()).isNull();
	}

	@Test
	void policyThatEvictsOnlyWhatExpiresEndangersOnlyRepeatedSends() {
		ServerCheck check = check(InstantSource.system());
		set("maxmemory-policy", "volatile-lru");

		check.check();

		assertThat(check.eviction()).isNotNull().satisfies((eviction) -> {
			assertThat(eviction.data()).isFalse();
			assertThat(eviction.problem()).contains("appended twice", "volatile-lru", "noeviction");
		});
	}

	@Test
	void withoutLimitNothingIsEvicted() {
		ServerCheck check = check(InstantSource.system());
		set("maxmemory", "0");

		check.check();

		assertThat(check.eviction()).isNull();
	}

	/** An operator changes the policy of a Redis that is in use. */
	@Test
	void changeIsFoundWhileRunning() {
		set("maxmemory-policy", "noeviction");
		ServerCheck check = new ServerCheck(this.connector, InstantSource.system(), Duration.ofMillis(50));
		check.start();
		try {
			set("maxmemory-policy", "allkeys-random");

			Awaitility.await().until(() -> check.eviction() != null);

			set("maxmemory-policy", "noeviction");

			Awaitility.await().until(() -> check.eviction() == null);
		}
		finally {
			check.stop();
		}
	}

	@Test
	void missingRightIsReportedAndOver() {
		ServerCheck check = check(InstantSource.system());
		permit("-info");

		check.check();

		assertThat(check.eviction()).isNull();
		assertThat(this.connector.refusedOperations().reasons())
			.hasEntrySatisfying("check whether Redis may evict keys", (reason) -> assertThat(reason).contains("+info"));

		permit("+info");
		check.check();

		assertThat(check.eviction()).isNotNull();
		assertThat(this.connector.refusedOperations().reasons()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(longs = { 60, -60 })
	void clockThatIsAnHourOffIsAProblem(long minutes, CapturedOutput output) {
		Instant[] shifted = { Instant.now().plus(Duration.ofMinutes(minutes)) };
		ServerCheck check = check(() -> shifted[0]);

		check.check();
		check.check();

		String which = (minutes > 0) ? "ahead of" : "behind";
		assertThat(check.clockProblem()).containsPattern("(59|60) minutes " + which + " that of Redis").contains("NTP");
		assertThat(output.getOut().lines().filter((line) -> line.contains(which + " that of Redis"))).hasSize(1);

		shifted[0] = Instant.now();
		check.check();

		assertThat(check.clockProblem()).isNull();
	}

	private ServerCheck check(InstantSource clock) {
		return new ServerCheck(this.connector, clock, Duration.ofHours(1));
	}

	private void set(String parameter, String value) {
		this.redis.call((commands) -> commands.configSet(parameter, value));
	}

	private void permit(String rule) {
		this.redis.call((commands) -> commands.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8),
				new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("default").add(rule)));
	}

}
