package io.github.shardkeeper.redis.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;

import io.github.shardkeeper.test.EmbeddedRedis;

/**
 * Rights of the Redis user as the reference shows them, so that tests and reference
 * cannot differ. Immutable.
 */
public enum DocumentedRights {

	/** What every Redis with keys of Shardkeeper needs. */
	NODES("a single Redis"),

	CLUSTER("only on a Redis Cluster"),

	SENTINELS("the user of the Sentinels themselves"),

	DATABASE("only with a 'spring.data.redis.database'"),

	FORGET_WITH_DATA("optional: RetiredTopics.forgetWithData"),

	REPLICA_CHECK("optional: whether the master asks for replicas"),

	/** Patterns that take the place of those in {@link #NODES}. */
	ONE_GROUP("keys and channels of one group");

	private final List<String> rules;

	DocumentedRights(String comment) {
		Matcher line = Pattern
			.compile("(?m)^# " + Pattern.quote(comment) + ".*\\nACL SETUSER visits (?:on '>secret' )?(.*)$")
			.matcher(reference());
		if (!line.find()) {
			throw new IllegalStateException("The reference has no rights for: " + comment);
		}
		this.rules = List.of(line.group(1).trim().replace("'", "").split("\\s+"));
	}

	private static String reference() {
		try {
			return Files.readString(Path.of("..", "docs", "reference", "redis-keys.md")).replace("\\\n", " ");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the rules of {@code ACL SETUSER}, without name and password. */
	public List<String> rules() {
		return this.rules;
	}

	/** Returns the rules for another group and topic, under another prefix. */
	public List<String> rules(String prefix, String group, String topic) {
		return this.rules.stream()
			.map((rule) -> rule.replace("shardkeeper:", prefix + ":")
				.replace("{visits-app", "{" + group)
				.replace("{visits}", "{" + topic + "}")
				.replace("{visits#", "{" + topic + "#"))
			.toList();
	}

	/** Returns the commands, without those that every client needs to get in. */
	public List<String> commands() {
		return this.rules.stream().filter((rule) -> rule.startsWith("+")).map((rule) -> rule.substring(1)).toList();
	}

	/** Changes the rules of a user, and creates it first if necessary. */
	public static void set(EmbeddedRedis redis, String user, List<String> rules) {
		redis.call((commands) -> {
			CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add(user);
			rules.forEach(args::add);
			return commands.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), args);
		});
	}

	/** Returns what a Redis has refused: commands, keys and channels. */
	public static List<String> refused(EmbeddedRedis redis) {
		return redis.call(DocumentedRights::log);
	}

	private static List<String> log(RedisCommands<String, String> commands) {
		List<Object> entries = commands.dispatch(CommandType.ACL, new ArrayOutput<>(StringCodec.UTF8),
				new CommandArgs<>(StringCodec.UTF8).add("LOG"));
		List<String> refused = new ArrayList<>();
		for (Object entry : entries) {
			List<?> fields = (List<?>) entry;
			refused.add((String) fields.get(fields.indexOf("object") + 1));
		}
		return refused;
	}

}
