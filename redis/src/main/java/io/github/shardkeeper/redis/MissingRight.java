package io.github.shardkeeper.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;

/**
 * Names the ACL rule that a refused command needs. Redis often does not: for a command
 * inside a script, Redis 6.2 and 7.0 report only the line.
 */
final class MissingRight {

	/**
	 * What to do if a Sentinel refuses to tell the master. Redis 6.2 does not name it.
	 */
	static final String OF_SENTINELS = "; grant +sentinel|get-master-addr-by-name to the user of 'spring.data.redis.sentinel.username', or else to "
			+ "'default', with ACL SETUSER on each Sentinel";

	/** Messages of Redis 6.2 and 7.0, and of 7.2, 8 and Valkey. */
	private static final Pattern IN_SCRIPT = Pattern
		.compile("The user executing the script can't|ACL failure in script");

	private static final Pattern NAMED = Pattern.compile("to run the '([^' ]+)' command");

	private static final Pattern OF_KEYS = Pattern.compile("access (at least )?(one of the|a) keys?");

	private static final Pattern OF_CHANNELS = Pattern
		.compile("publish to the channel|access (one of the|a) channels?");

	private static final Pattern CHANNEL = Pattern.compile("^key<([^>]*)>");

	/** Commands used here whose subcommands have rights of their own. */
	private static final Set<String> WITH_SUBCOMMANDS = Set.of("client", "xinfo");

	private MissingRight() {
	}

	static boolean isReason(@Nullable Throwable failure) {
		if (!(failure instanceof RedisCommandExecutionException)) {
			return false;
		}
		String message = String.valueOf(failure.getMessage());
		return message.startsWith("NOPERM") || IN_SCRIPT.matcher(message).find();
	}

	/** Names the right that a command lacks, unless it was refused inside a script. */
	static RedisException named(RedisException failure, @Nullable Object command) {
		if (!isReason(failure) || !(command instanceof RedisCommand<?, ?, ?> sent)
				|| isScript(sent) && isInsideScript(failure)) {
			return failure;
		}
		String rule = rule(failure, () -> ruleFor(name(sent)), key(sent));
		return refused("%s; the Redis user lacks the right %s".formatted(failure.getMessage(), rule), failure);
	}

	/** Returns the first key, or the first channel, that a command names. */
	private static String key(RedisCommand<?, ?, ?> command) {
		CommandArgs<?, ?> arguments = command.getArgs();
		if (arguments == null) {
			return "";
		}
		ByteBuffer key = arguments.getFirstEncodedKey();
		if (key != null) {
			return StandardCharsets.UTF_8.decode(key).toString();
		}
		// The client keeps it from routing by channels, and shows them as key<name>.
		Matcher channel = CHANNEL.matcher(arguments.toCommandString());
		return channel.find() ? channel.group(1) : "";
	}

	/** Names the right that a command inside a script lacks. */
	static StoreUnavailableException named(StoreUnavailableException failure, LuaScript script, List<String> keys) {
		if (!(failure.getCause() instanceof RedisException cause) || !isReason(cause) || !isInsideScript(cause)) {
			return failure;
		}
		String rule = rule(cause, () -> rule(cause, script), keys.get(0));
		return RedisLink.unavailable(refused(
				"NOPERM the Redis user lacks the right %s, which the script %s needs".formatted(rule, script.name()),
				cause));
	}

	private static RedisException refused(String text, RedisException failure) {
		RedisException named = new RedisCommandExecutionException(text
				+ "; grant it to the user of 'spring.data.redis.username', or else to 'default', with ACL SETUSER");
		// Not as the cause: RedisFailure would repeat its message.
		named.addSuppressed(failure);
		return named;
	}

	/** Returns whether it is about a command inside a script, not about {@code EVAL}. */
	private static boolean isInsideScript(RedisException failure) {
		return IN_SCRIPT.matcher(String.valueOf(failure.getMessage())).find();
	}

	private static boolean isScript(RedisCommand<?, ?, ?> command) {
		return command.getType() == CommandType.EVALSHA || command.getType() == CommandType.EVAL;
	}

	private static String rule(RedisException failure, Supplier<String> ofCommand, String key) {
		String message = String.valueOf(failure.getMessage());
		if (OF_KEYS.matcher(message).find()) {
			return "~" + pattern(key);
		}
		return OF_CHANNELS.matcher(message).find() ? "&" + pattern(key) : ofCommand.get();
	}

	/** Returns the pattern of all keys or channels with the same prefix. */
	private static String pattern(String key) {
		int braces = key.indexOf(":{");
		return ((braces >= 0) ? key.substring(0, braces + 1) : key) + "*";
	}

	private static String rule(RedisException failure, LuaScript script) {
		String message = String.valueOf(failure.getMessage());
		Matcher named = NAMED.matcher(message);
		if (named.find()) {
			return ruleFor(named.group(1));
		}
		String command = script.commandOf(message);
		return (command != null) ? ruleFor(command) : "to one of its commands ("
				+ script.commands().stream().map(MissingRight::ruleFor).collect(Collectors.joining(" ")) + ")";
	}

	private static String ruleFor(String command) {
		return "+" + command;
	}

	/** Returns the name of a command in an ACL: {@code client|id}. */
	static String name(RedisCommand<?, ?, ?> command) {
		String name = command.getType().toString().toLowerCase(Locale.ROOT);
		CommandArgs<?, ?> arguments = command.getArgs();
		if (arguments == null || !WITH_SUBCOMMANDS.contains(name)) {
			return name;
		}
		String subcommand = arguments.toCommandString().split(" ", 2)[0];
		return name + "|" + subcommand.toLowerCase(Locale.ROOT);
	}

}
