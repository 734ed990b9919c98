package io.github.shardkeeper.coordination.redis;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.redis.MisplacedKey;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.ShardId;

/**
 * A group's keys with the types of what they hold, as {@code control.lua} says: looks for
 * one that holds something else after a script was refused for it. The scripts do not
 * look themselves, because each heartbeat would pay for it. Thread-safe.
 */
final class GroupKeys {

	private static final Map<String, String> TYPES = Map.of(":group", "hash", ":members", "hash", ":sessions", "zset",
			":told", "hash", ":loads", "hash", ":reported", "zset", ":shards", "hash", ":changes", "zset");

	private final RedisLink<String> link;

	private final String baseKey;

	GroupKeys(RedisLink<String> link, String baseKey) {
		this.link = link;
		this.baseKey = baseKey;
	}

	/**
	 * Names the key that a failure is about.
	 * @param failure what a script has thrown
	 * @return the failure to throw
	 */
	StoreUnavailableException named(StoreUnavailableException failure) {
		Throwable cause = failure.getCause();
		if (cause == null || !MisplacedKey.isReason(cause)) {
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
		Map<String, String> types = new LinkedHashMap<>();
		TYPES.forEach((end, type) -> types.put(this.baseKey + end, type));
		String sentence = misplaced(types);
		if (sentence != null) {
			return sentence;
		}
		types.clear();
		this.link.call((commands) -> commands.hkeys(this.baseKey + ":members"))
			.forEach((member) -> types.put(this.baseKey + ":concerns:" + member, "zset"));
		return misplaced(types);
	}

	private @Nullable String misplaced(Map<String, String> types) {
		for (Map.Entry<String, String> entry : types.entrySet()) {
			String found = this.link.call((commands) -> commands.type(entry.getKey()));
			if (!found.equals("none") && !found.equals(entry.getValue())) {
				return MisplacedKey.sentence(entry.getKey(), found, entry.getValue())
						+ ". If what belongs there is lost, " + removeAll();
			}
		}
		return null;
	}

	/**
	 * What to say when somebody has removed a shard's record, or all of them.
	 * @param shard the shard
	 * @return the failure to throw
	 */
	StoreUnavailableException withoutRecord(ShardId shard) {
		return new StoreUnavailableException("Redis: the key %s:shards has no record of %s, which %s:changes names. "
			.formatted(this.baseKey, shard, this.baseKey) + "If somebody has removed it, " + removeAll(), null, true);
	}

	/** The keys belong together: a group that has lost one of them is not whole. */
	private String removeAll() {
		return "remove all keys that begin with " + this.baseKey + ": and members join anew with what they hold";
	}

}
