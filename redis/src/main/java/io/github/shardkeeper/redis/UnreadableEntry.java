package io.github.shardkeeper.redis;

import java.util.List;
import java.util.regex.Pattern;

import io.lettuce.core.RedisCommandExecutionException;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Names the keys of a script that has met a value which is no number, or is missing in an
 * entry: others have changed it. Redis reports only a line of the script.
 */
final class UnreadableEntry {

	private static final Pattern IN_SCRIPT = Pattern
		.compile("user_script:.*(attempt to (compare|perform arithmetic|concatenate|index)|bad argument #)");

	private UnreadableEntry() {
	}

	static StoreUnavailableException named(StoreUnavailableException failure, LuaScript script, List<String> keys) {
		if (!(failure.getCause() instanceof RedisCommandExecutionException cause)
				|| !IN_SCRIPT.matcher(String.valueOf(cause.getMessage())).find()) {
			return failure;
		}
		RedisCommandExecutionException named = new RedisCommandExecutionException(
				"ERR the script %s cannot read an entry, which others have changed; restore it, or remove its key with DEL: one of %s"
					.formatted(script.name(), String.join(", ", keys)));
		// Not as the cause: RedisFailure would repeat its message.
		named.addSuppressed(cause);
		return RedisLink.unavailable(named);
	}

}
