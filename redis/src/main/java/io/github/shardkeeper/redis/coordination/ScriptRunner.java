package io.github.shardkeeper.redis.coordination;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.ReplicatedLink;

/**
 * Runs scripts of the control plane on the keys of one group. A failure names the key if
 * one has a value of another type. Thread-safe.
 */
final class ScriptRunner {

	private final RedisLink<String> link;

	private final ReplicatedLink<String> ownership;

	private final GroupKeys keys;

	/**
	 * Creates it.
	 * @param ownership the link for changes that a failover must not undo
	 */
	ScriptRunner(RedisLink<String> link, ReplicatedLink<String> ownership, GroupKeys keys) {
		this.link = link;
		this.ownership = ownership;
		this.keys = keys;
	}

	List<Object> run(LuaScript script, String... arguments) {
		return run(script, Arrays.asList(arguments));
	}

	<T> T run(LuaScript script, List<String> arguments) {
		try {
			return this.link.run(script, this.keys.names(), arguments);
		}
		catch (StoreUnavailableException ex) {
			throw this.keys.named(ex);
		}
	}

	/** Runs a script whose changes a failover must not undo. */
	<T> T runDurably(LuaScript script, List<String> arguments) {
		try {
			return this.ownership.run(script, this.keys.names(), arguments);
		}
		catch (StoreUnavailableException ex) {
			throw this.keys.named(ex);
		}
	}

	/** Returns a duration as an argument, in milliseconds. */
	static String millis(Duration duration) {
		return number(duration.toMillis());
	}

	static String flag(boolean flag) {
		return flag ? "1" : "0";
	}

	static String number(long number) {
		return Long.toString(number);
	}

}
