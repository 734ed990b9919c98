package io.github.shardkeeper.redis.coordination;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.WrongKeyType;

/**
 * The keys of one group, in the order of {@code control.lua}, which describes them. All
 * of them exist as long as the group. Finds the key with a value of another type when a
 * script was refused for it. Thread-safe.
 */
final class GroupKeys {

	private static final List<Key> KEYS = List.of(new Key("group", "hash"), new Key("members", "hash"),
			new Key("sessions", "zset"), new Key("told", "hash"), new Key("loads", "hash"), new Key("reported", "zset"),
			new Key("shards", "hash"), new Key("changes", "zset"), new Key("concerns", "zset"),
			new Key("concernsAt", "hash"));

	private final RedisLink<String> link;

	private final String base;

	private final List<String> names;

	/**
	 * Names the keys of a group.
	 * @param link the connection
	 * @param base prefix of the keys
	 */
	GroupKeys(RedisLink<String> link, String base) {
		this.link = link;
		this.base = base;
		this.names = names(base);
	}

	/**
	 * Names the keys of a group.
	 * @param base prefix of the keys
	 * @return the keys, as scripts declare them
	 */
	static List<String> names(String base) {
		return KEYS.stream().map((key) -> base + ":" + key.name()).toList();
	}

	List<String> names() {
		return this.names;
	}

	/** Returns the channel of a member. */
	String channel(String member) {
		return this.base + ":member:" + member;
	}

	/**
	 * Names the key that a failure is about.
	 * @param failure the failure of a script
	 * @return the failure to throw
	 */
	StoreUnavailableException named(StoreUnavailableException failure) {
		Throwable cause = failure.getCause();
		if (cause == null || !WrongKeyType.isReason(cause)) {
			return failure;
		}
		try {
			String sentence = misplaced();
			return (sentence != null) ? new StoreUnavailableException("Redis: " + sentence, cause, true) : failure;
		}
		catch (StoreUnavailableException ex) {
			failure.addSuppressed(ex);
			return failure;
		}
	}

	private @Nullable String misplaced() {
		List<String> types = new ArrayList<>();
		for (String name : this.names) {
			types.add(this.link.call((commands) -> commands.type(name)));
		}
		for (int i = 0; i < types.size(); i++) {
			String found = types.get(i);
			String expected = KEYS.get(i).type();
			if (!found.equals("none") && !found.equals(expected)) {
				return WrongKeyType.sentence(this.names.get(i), found, expected)
						+ ". If the original key is lost, the group is rebuilt once this key is removed, "
						+ "and its members keep their shards";
			}
		}
		return null;
	}

	/** The last part of a key, and the type of its value. */
	private record Key(String name, String type) {

	}

}
