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
 * Redis refuses what its ACL does not let the user do, often without naming it: inside a
 * script Redis 6.2 and 7.0 tell nothing but the line. These are put into words here, with
 * the rule that {@code ACL SETUSER} needs.
 */
final class MissingRight {

	/** As Redis 6.2 and 7.0 say it, and as 7.2, 8 and Valkey do. */
	private static final Pattern IN_SCRIPT = Pattern
		.compile("The user executing the script can't|ACL failure in script");

	private static final Pattern LINE = Pattern.compile("@user_script: ?(\\d+)");

	/** What is said of a command, where it is named at all. */
	private static final Pattern NAMED = Pattern.compile("to run the '([^' ]+)' command");

	private static final Pattern OF_KEYS = Pattern.compile("access (at least )?(one of the|a) keys?");

	private static final Pattern OF_CHANNELS = Pattern
		.compile("publish to the channel|access (one of the|a) channels?");

	/** Those of our commands whose subcommands have rights of their own. */
	private static final Set<String> WITH_SUBCOMMANDS = Set.of("client", "xinfo");

	private MissingRight() {
	}

	/**
	 * Whether that is what a failure is about.
	 * @param failure what a call has thrown
	 * @return whether the user lacks a right
	 */
	static boolean isReason(@Nullable Throwable failure) {
		if (!(failure instanceof RedisCommandExecutionException)) {
			return false;
		}
		String message = String.valueOf(failure.getMessage());
		return message.startsWith("NOPERM") || IN_SCRIPT.matcher(message).find();
	}

	/**
	 * Names the right, where a command is no script.
	 * @param failure what Redis has answered
	 * @param command what it was asked
	 * @return the failure to throw
	 */
	static RedisException named(RedisException failure, @Nullable Object command) {
		if (!isReason(failure) || !(command instanceof RedisCommand<?, ?, ?> sent)
				|| isScript(sent) && isOfScript(failure)) {
			return failure;
		}
		CommandArgs<?, ?> arguments = sent.getArgs();
		ByteBuffer key = (arguments != null) ? arguments.getFirstEncodedKey() : null;
		String rule = rule(failure, () -> ruleFor(name(sent)),
				(key != null) ? StandardCharsets.UTF_8.decode(key).toString() : "");
		return refused("%s; the Redis user lacks the right %s".formatted(failure.getMessage(), rule), failure);
	}

	/**
	 * Names the right, where a command is a script.
	 * @param failure what a call has thrown
	 * @param script what was called
	 * @param keys its keys
	 * @return the failure to throw
	 */
	static StoreUnavailableException named(StoreUnavailableException failure, LuaScript script, List<String> keys) {
		if (!(failure.getCause() instanceof RedisException cause) || !isReason(cause) || !isOfScript(cause)) {
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
		// Not as the cause: it would be said again, at length.
		named.addSuppressed(failure);
		return named;
	}

	/** Not of {@code EVAL} or {@code EVALSHA} itself. */
	private static boolean isOfScript(RedisException failure) {
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

	/** All that we use under the prefix. */
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
		Matcher line = LINE.matcher(message);
		String command = line.find() ? script.commandAt(Integer.parseInt(line.group(1))) : null;
		return (command != null) ? ruleFor(command) : "to one of its commands ("
				+ script.commands().stream().map(MissingRight::ruleFor).collect(Collectors.joining(" ")) + ")";
	}

	private static String ruleFor(String command) {
		return "+" + command;
	}

	private static String name(RedisCommand<?, ?, ?> command) {
		String name = command.getType().toString().toLowerCase(Locale.ROOT);
		CommandArgs<?, ?> arguments = command.getArgs();
		if (arguments == null || !WITH_SUBCOMMANDS.contains(name)) {
			return name;
		}
		String subcommand = arguments.toCommandString().split(" ", 2)[0];
		return name + "|" + subcommand.toLowerCase(Locale.ROOT);
	}

}
