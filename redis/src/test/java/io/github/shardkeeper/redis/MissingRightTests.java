package io.github.shardkeeper.redis;

import java.util.List;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScriptOutputType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Error messages of different versions, of which {@code MissingRightsTests} tries two.
 */
@Promise("Clear errors")
class MissingRightTests {

	private static final LuaScript SCRIPT = new LuaScript("commit.lua",
			"-- a comment\nredis.call('HSET', KEYS[1], 'a', 1)\nlocal n = redis.call('PUBSUB', 'NUMSUB', 'c')\n",
			ScriptOutputType.VALUE);

	private static final List<String> KEYS = List.of("apps:{visits}:group");

	@ParameterizedTest
	@CsvSource(delimiter = ';',
			textBlock = """
					+hset; ERR Error running script (call to f_0d): @user_script:2: @user_script: 2: The user executing the script can't run this command or subcommand
					+pubsub|numsub; ERR Error running script (call to f_0d): @user_script:3: @user_script: 3: The user executing the script can't run this command or subcommand
					+hset; ERR The user executing the script can't run this command or subcommand script: 0d, on @user_script:2.
					+pubsub|numsub; ERR ACL failure in script: User app has no permissions to run the 'pubsub|numsub' command script: 0d, on @user_script:9.
					to one of its commands (+hset +pubsub|numsub); ERR The user executing the script can't run this command or subcommand script: 0d, on @user_script:1.
					~apps:*; ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: 0d, on @user_script:2.
					~apps:*; ERR ACL failure in script: No permissions to access a key script: 0d, on @user_script:2.
					&apps:*; ERR The user executing the script can't publish to the channel mentioned in the command script: 0d, on @user_script:2.
					&apps:*; ERR ACL failure in script: No permissions to access a channel script: 0d, on @user_script:2.
					""")
	void missingRightOfAScriptIsNamed(String right, String reply) {
		StoreUnavailableException named = MissingRight.named(refusal(reply), SCRIPT, KEYS);

		assertThat(named.isRefusal()).isTrue();
		assertThat(named).hasMessageContaining("NOPERM")
			.hasMessageContaining("lacks the right " + right + ", which the script commit.lua needs")
			.hasMessageContaining("'spring.data.redis.username'");
	}

	@Test
	void otherErrorsAreUnchanged() {
		StoreUnavailableException other = refusal("OOM command not allowed when used memory > 'maxmemory'.");

		assertThat(MissingRight.named(other, SCRIPT, KEYS)).isSameAs(other);
	}

	private static StoreUnavailableException refusal(String reply) {
		return RedisLink.unavailable(new RedisCommandExecutionException(reply));
	}

}
