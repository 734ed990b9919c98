package io.github.shardkeeper.redis.cluster;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.cluster.ClusterParameters;
import io.github.shardkeeper.cluster.ClusterParameters.Change;
import io.github.shardkeeper.cluster.parameter.ParameterStore;
import io.github.shardkeeper.redis.LuaScript;

/** Parameters on Redis; {@code parameters.lua} describes the keys. Thread-safe. */
public final class RedisParameterStore implements ParameterStore {

	private static final LuaScript READ = script("read-parameters.lua");

	private static final LuaScript SET = script("set-parameter.lua");

	private static final LuaScript HISTORY = script("read-parameter-history.lua");

	private static final int SHOWN_CHARACTERS = 100;

	private final ClusterLink link;

	private final List<String> keys;

	/** Creates a store. */
	public RedisParameterStore(ClusterLink link) {
		this.link = link;
		this.keys = link.keys("parameters", "parameterHistory", "cluster");
	}

	private static LuaScript script(String file) {
		return ClusterLink.script(ScriptOutputType.MULTI, "parameters.lua", file);
	}

	@Override
	public Contents read(long afterVersion) {
		List<String> reply = this.link.run(READ, this.keys, Long.toString(afterVersion));
		List<Entry> entries = new ArrayList<>();
		for (int i = 3; i < reply.size(); i += 2) {
			String name = reply.get(i);
			String record = reply.get(i + 1);
			Change change = change(record);
			entries.add((change != null) ? Entry.of(name, change) : Entry.unreadable(name,
					"Redis: the entry '%s' of the key %s cannot be read: '%s'. Only somebody else can have written it. Set the parameter, or remove the entry with HDEL"
						.formatted(name, this.keys.get(3),
								record.substring(0, Math.min(record.length(), SHOWN_CHARACTERS)))));
		}
		return new Contents(Long.parseLong(reply.get(0)), reply.get(1).equals("1"), Long.parseLong(reply.get(2)),
				entries);
	}

	@Override
	public Reply set(String name, @Nullable String value, String author, long expectedVersion) {
		String record = (value != null) ? "V|" + author(author) + "|" + value : "D|" + author(author) + "|";
		List<String> reply = this.link.runDurably(SET, this.keys, name, record,
				(expectedVersion != ANY_VERSION) ? Long.toString(expectedVersion) : "",
				Integer.toString(ClusterParameters.HISTORY_LENGTH));
		long version = Long.parseLong(reply.get(1));
		if (reply.get(0).equals("CONFLICT")) {
			return new Reply.Conflict(version);
		}
		return new Reply.Changed(
				new Change(version, Instant.ofEpochMilli(Long.parseLong(reply.get(2))), author, value));
	}

	@Override
	public List<Change> history(String name) {
		List<String> reply = this.link.run(HISTORY, this.keys, name,
				Integer.toString(ClusterParameters.HISTORY_LENGTH));
		List<Change> changes = new ArrayList<>();
		for (String entry : reply) {
			Change change = change(entry.substring(name.length() + 1));
			if (change != null) {
				changes.add(change);
			}
		}
		return changes;
	}

	/** Names of people may contain the separator. */
	private static String author(String author) {
		return author.replace("%", "%25").replace("|", "%7C");
	}

	/** Returns a change; {@code null} if others have written it. */
	private static @Nullable Change change(String record) {
		String[] fields = record.split("\\|", 5);
		if (fields.length < 5 || !fields[0].matches("\\d{1,16}") || !fields[1].matches("\\d{1,15}")
				|| !fields[2].matches("V|D")) {
			return null;
		}
		return new Change(Long.parseLong(fields[0]), Instant.ofEpochMilli(Long.parseLong(fields[1])),
				fields[3].replace("%7C", "|").replace("%25", "%"), fields[2].equals("V") ? fields[4] : null);
	}

}
