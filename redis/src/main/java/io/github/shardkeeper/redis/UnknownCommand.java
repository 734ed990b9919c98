package io.github.shardkeeper.redis;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.RedisCommand;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Names the command that a Redis does not have, because it was renamed or disabled. Redis
 * does not name it for a command inside a script, only its line.
 */
public final class UnknownCommand {

	/** Of Redis 6.2, and of 7.0 and newer ones and Valkey. */
	private static final Pattern IN_SCRIPT = Pattern.compile("Unknown (Redis |Valkey )?command called from ");

	private static final Pattern OUTSIDE = Pattern.compile("^ERR unknown (sub)?command", Pattern.CASE_INSENSITIVE);

	private UnknownCommand() {
	}

	/** Returns whether an error of Redis, inside a script or not, is about it. */
	public static boolean isReason(String error) {
		return OUTSIDE.matcher(error).find() || IN_SCRIPT.matcher(error).find();
	}

	static boolean isReason(@Nullable Throwable failure) {
		return failure instanceof RedisCommandExecutionException && isReason(String.valueOf(failure.getMessage()));
	}

	/**
	 * Returns what is wrong and how to fix it.
	 * @param command the command in lower case, {@code pubsub} or {@code pubsub|numsub}
	 */
	public static String sentence(String command) {
		return "this Redis does not have the command %s; enable it under this name: remove it from 'rename-command' in redis.conf, or ask the provider of this Redis"
			.formatted(command.replace('|', ' ').toUpperCase(Locale.ROOT));
	}

	/** Names the command, unless it is one inside a script. */
	static RedisException named(RedisException failure, @Nullable Object command) {
		if (!isReason(failure) || isInsideScript(failure) || !(command instanceof RedisCommand<?, ?, ?> sent)) {
			return failure;
		}
		return unknown(sentence(MissingRight.name(sent)), failure);
	}

	/** Names the command inside a script. */
	static StoreUnavailableException named(StoreUnavailableException failure, LuaScript script) {
		if (!(failure.getCause() instanceof RedisException cause) || !isReason(cause) || !isInsideScript(cause)) {
			return failure;
		}
		String command = script.commandOf(String.valueOf(cause.getMessage()));
		List<String> commands = (command != null) ? List.of(command) : List.copyOf(script.commands());
		return RedisLink.unavailable(unknown("the script %s cannot run: %s".formatted(script.name(),
				(commands.size() == 1) ? sentence(commands.get(0))
						: "this Redis does not have one of the commands " + commands.stream()
							.map((each) -> each.toUpperCase(Locale.ROOT))
							.collect(Collectors.joining(" "))),
				cause));
	}

	private static boolean isInsideScript(RedisException failure) {
		return IN_SCRIPT.matcher(String.valueOf(failure.getMessage())).find();
	}

	private static RedisException unknown(String text, RedisException failure) {
		RedisException named = new RedisCommandExecutionException("ERR unknown command: " + text);
		// Not as the cause: RedisFailure would repeat its message.
		named.addSuppressed(failure);
		return named;
	}

}
