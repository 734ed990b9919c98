package io.github.shardkeeper.redis.checkpoint;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.checkpoint.CheckpointStore.CommitBasis;
import io.github.shardkeeper.checkpoint.CheckpointStore.ExpiredKeys;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.ShardId;

import static io.github.shardkeeper.redis.checkpoint.CheckpointFormat.bytes;
import static io.github.shardkeeper.redis.checkpoint.CheckpointFormat.text;

/**
 * Reads parts of states for the owners of their shards. Thread-safe.
 */
final class OwnedState {

	/** As many as one command reads without keeping others waiting. */
	private static final int KEYS_AT_ONCE = 1_000;

	private static final int ATTEMPTS = 3;

	/** Cursor of the first page, and the one after the last page. */
	private static final byte[] BEGIN = bytes("0");

	private final RedisLink<byte[]> link;

	private final DataScripts scripts;

	private final ShardKeys keys;

	OwnedState(RedisLink<byte[]> link, DataScripts scripts, ShardKeys keys) {
		this.link = link;
		this.scripts = scripts;
		this.keys = keys;
	}

	/** Reads entries; {@code null} if an owner's commits have not made the state. */
	@Nullable Map<String, String> entries(ShardId shard, CommitBasis basis, List<String> wanted) {
		Map<String, String> entries = new HashMap<>();
		int from = 0;
		do {
			List<String> some = wanted.subList(from, Math.min(from + KEYS_AT_ONCE, wanted.size()));
			List<byte[]> arguments = arguments(basis);
			some.forEach((key) -> arguments.add(bytes(key)));
			List<Object> reply = this.link.run(this.scripts.readEntries(), this.keys.all(shard), arguments);
			if ((Long) reply.get(0) == 0) {
				return null;
			}
			for (int i = 0; i < some.size(); i++) {
				Object value = reply.get(i + 1);
				if (value != null) {
					entries.put(some.get(i), text(value));
				}
			}
			from += some.size();
		}
		while (from < wanted.size());
		return entries;
	}

	private static List<byte[]> arguments(CommitBasis basis) {
		return new ArrayList<>(
				List.of(bytes(basis.token().toString()), bytes(basis.acknowledged()), bytes(basis.acquisition())));
	}

	/**
	 * Reads all keys with a prefix whose values have not expired; {@code null} like the
	 * entries.
	 */
	@Nullable Set<String> keys(ShardId shard, CommitBasis basis, String prefix, long nowMillis) {
		Set<String> found = new HashSet<>();
		Object process = null;
		byte[] cursor = BEGIN;
		int attempt = 1;
		while (attempt <= ATTEMPTS) {
			List<Object> page = page(shard, basis, cursor, prefix, nowMillis);
			if (page.isEmpty()) {
				return null;
			}
			String answering = text(page.get(0));
			if (process != null && !process.equals(answering)) {
				// The cursor was of the other process.
				attempt++;
				found.clear();
				process = null;
				cursor = BEGIN;
				continue;
			}
			process = answering;
			((List<?>) page.get(2)).forEach((key) -> found.add(text(key)));
			cursor = (byte[]) page.get(1);
			if (Arrays.equals(cursor, BEGIN)) {
				return found;
			}
		}
		String problem = "the keys of the state of " + shard + " moved from one Redis to another while they were read";
		throw new StoreUnavailableException("Redis: " + problem, new RedisException(problem));
	}

	/** Reads the keys of expired values on the page at a cursor. */
	@Nullable ExpiredKeys expired(ShardId shard, CommitBasis basis, @Nullable String cursor, long nowMillis) {
		List<Object> page = page(shard, basis, (cursor != null) ? bytes(cursor) : BEGIN, "", nowMillis);
		if (page.isEmpty()) {
			return null;
		}
		byte[] next = (byte[]) page.get(1);
		return new ExpiredKeys(((List<?>) page.get(3)).stream().map(CheckpointFormat::text).toList(),
				Arrays.equals(next, BEGIN) ? null : text(next));
	}

	private List<Object> page(ShardId shard, CommitBasis basis, byte[] cursor, String prefix, long nowMillis) {
		List<byte[]> arguments = arguments(basis);
		arguments.add(cursor);
		arguments.add(bytes(prefix));
		arguments.add(bytes(nowMillis));
		return this.link.run(this.scripts.readKeys(), this.keys.all(shard), arguments);
	}

}
