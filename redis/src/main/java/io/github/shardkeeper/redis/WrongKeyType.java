package io.github.shardkeeper.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Names the key that holds a value of another type than it should. Redis replies
 * {@code WRONGTYPE} without the key.
 */
public final class WrongKeyType {

	private static final String WRONG_TYPE = "WRONGTYPE";

	private static final String REMEDY = "; move it away with RENAME or remove it with DEL";

	private WrongKeyType() {
	}

	/**
	 * {@return whether a failure is about a key with a value of another type}
	 */
	public static boolean isReason(Throwable failure) {
		// A script's error may begin with other words.
		return failure instanceof RedisCommandExecutionException
				&& String.valueOf(failure.getMessage()).contains(WRONG_TYPE);
	}

	/** Describes the problem in the words of {@code data.lua}. */
	public static String sentence(String key, String found, String expected) {
		return "the key %s holds a %s, not the %s that belongs there%s".formatted(key, found, expected, REMEDY);
	}

	/** Names the key of a command that has only one; scripts name theirs themselves. */
	static RedisException named(RedisException failure, @Nullable Object command) {
		if (!isReason(failure) || !(command instanceof RedisCommand<?, ?, ?> sent)
				|| sent.getType() == CommandType.EVALSHA || sent.getType() == CommandType.EVAL) {
			return failure;
		}
		CommandArgs<?, ?> arguments = sent.getArgs();
		ByteBuffer key = (arguments != null) ? arguments.getFirstEncodedKey() : null;
		return (key != null)
				? new RedisCommandExecutionException(
						"the key %s holds something of another type than what belongs there%s. %s"
							.formatted(StandardCharsets.UTF_8.decode(key), REMEDY, failure.getMessage()),
						failure)
				: failure;
	}

	/** Names the keys of a script that was refused for one of them. */
	static StoreUnavailableException named(StoreUnavailableException failure, LuaScript script, List<String> keys) {
		Throwable cause = failure.getCause();
		if (cause == null || !isReason(cause) || keys.isEmpty()) {
			return failure;
		}
		String which = (keys.size() == 1) ? "the key " + keys.get(0) : "one of the keys " + String.join(", ", keys);
		RedisCommandExecutionException named = new RedisCommandExecutionException(
				"%s holds something of another type than what belongs there%s. %s in the script %s".formatted(which,
						REMEDY, WRONG_TYPE, script.name()));
		// Not as the cause: RedisFailure would repeat its message.
		named.addSuppressed(cause);
		return RedisLink.unavailable(named);
	}

}
