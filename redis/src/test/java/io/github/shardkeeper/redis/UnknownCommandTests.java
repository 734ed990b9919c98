package io.github.shardkeeper.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.StringCodec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.testsupport.OnEveryRedis;
import io.github.shardkeeper.redis.testsupport.RedisClients;
import io.github.shardkeeper.test.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/** A Redis in which commands are renamed or disabled, as managed ones are. */
@OnEveryRedis
class UnknownCommandTests {

	private final EmbeddedRedis redis = EmbeddedRedis.start("--rename-command", "INFO", "", "--rename-command",
			"CLIENT", "", "--rename-command", "TYPE", "", "--rename-command", "UNLINK", "UNLINK-OF-THE-PROVIDER",
			"--rename-command", "PUBSUB", "");

	private final LettuceConnectionFactory factory = RedisClients.factory(this.redis);

	private final RedisConnector connector = new RedisConnector(this.factory);

	private final RedisLink<String> link = new RedisLink<>(this.connector, StringCodec.UTF8, Duration.ofSeconds(10));

	@AfterEach
	void close() {
		this.connector.destroy();
		this.factory.destroy();
		this.redis.close();
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';', textBlock = """
			TYPE; return redis.call('TYPE', KEYS[1])
			UNLINK; redis.call('UNLINK', KEYS[1])
			PUBSUB NUMSUB; return redis.call('PUBSUB', 'NUMSUB', 'c')
			INFO; return redis.call('INFO', 'server')
			""")
	void commandOfAScriptIsNamedWithItsFile(String command, String call) {
		LuaScript script = new LuaScript("commit.lua", "-- a comment\n" + call + "\n", ScriptOutputType.VALUE);

		for (int attempt = 0; attempt < 2; attempt++) {
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> this.link.run(script, List.of("k"), List.of()))
				.satisfies((failure) -> assertNamed(failure, command))
				.withMessageContaining("the script commit.lua cannot run");
		}
	}

	@Test
	void commandOfAScriptThatNobodyWaitsForIsNamed() {
		LuaScript script = new LuaScript("trim.lua", "redis.call('UNLINK', KEYS[1])", ScriptOutputType.VALUE);
		CompletableFuture<?> reply = this.link.send(script, List.of("k"), List.of());

		assertThat(reply).failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(StoreUnavailableException.class, (failure) -> assertNamed(failure, "UNLINK"))
			.withMessageContaining("trim.lua");
	}

	@Test
	void otherCommandsAreNamed() {
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.link.call((commands) -> commands.clientId()))
			.satisfies((failure) -> assertNamed(failure, "CLIENT ID"));
	}

	/** As a missing right to it. */
	@Test
	void startContinuesWithoutInfo() {
		assertThatNoException().isThrownBy(() -> RedisVerification.verify(this.link));
		this.connector.serverCheck().check();

		assertThat(this.link.refusedOperations().reasons()).hasSize(2)
			.allSatisfy((operation, reason) -> assertThat(reason).contains("does not have the command INFO")
				.doesNotContain("grant", "ACL"));
	}

	private static void assertNamed(StoreUnavailableException failure, String command) {
		assertThat(failure.isRefusal()).isTrue();
		assertThat(failure).hasMessageContaining("this Redis does not have the command " + command + ";")
			.hasMessageContaining("rename-command")
			.hasMessageNotContaining("grant")
			.hasMessageNotContaining("f_");
	}

}
