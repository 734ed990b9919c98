package io.github.shardkeeper.redis.coordination;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.WrongKeyType;

/**
 * Keys of one group, in the order of {@code control.lua}, which describes them. All of
 * them exist as long as the group. Thread-safe.
 */
final class GroupKeys {

	private static final List<Key> KEYS = List.of(new Key("group", "hash"), new Key("members", "hash"),
			new Key("sessions", "zset"), new Key("told", "hash"), new Key("loads", "hash"), new Key("reported", "zset"),
			new Key("shards", "hash"), new Key("changes", "zset"), new Key("concerns", "zset"),
			new Key("concernsAt", "hash"));

	private final RedisLink<String> link;

	private final String base;

	private final List<String> names;

	GroupKeys(RedisLink<String> link, String base) {
		this.link = link;
		this.base = base;
		this.names = names(base);
	}

	static List<String> names(String base) {
		return KEYS.stream().map((key) -> base + ":" + key.name()).toList();
	}

	List<String> names() {
		return this.names;
	}

	String channel(String member) {
		return this.base + ":member:" + member;
	}

	/** Names the key with a value of another type, if that is why a script failed. */
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

	private record Key(String name, String type) {

	}

}
