package io.github.shardkeeper.redis.checkpoint;

import java.nio.ByteBuffer;
import java.util.ArrayList;
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

	private static final String END = "0";

	private static final byte[] WHOLE = bytes("whole");

	private static final byte[] NO_COMMIT = {};

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

	/** Reads all keys whose values have not expired; {@code null} like the entries. */
	@Nullable Set<String> keys(ShardId shard, CommitBasis basis, long nowMillis) {
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			// By page fails while the owner commits faster than pages are read.
			Pages read = new Pages(shard, basis, nowMillis, (attempt < ATTEMPTS) ? bytes(END) : WHOLE);
			if (read.isWhole()) {
				return read.found;
			}
			if (read.lost) {
				return null;
			}
		}
		String problem = "the keys of the state of " + shard + " did not stay the same while they were read";
		throw new StoreUnavailableException("Redis: " + problem, new RedisException(problem));
	}

	/** Reads the keys of expired values on the page at a cursor. */
	@Nullable ExpiredKeys expired(ShardId shard, CommitBasis basis, @Nullable String cursor, long nowMillis) {
		List<Object> page = page(shard, basis, NO_COMMIT, bytes((cursor != null) ? cursor : END), nowMillis);
		if (page.isEmpty()) {
			return null;
		}
		String next = text(page.get(2));
		return new ExpiredKeys(((List<?>) page.get(4)).stream().map(CheckpointFormat::text).toList(),
				next.equals(END) ? null : next);
	}

	private List<Object> page(ShardId shard, CommitBasis basis, byte[] commit, byte[] cursor, long nowMillis) {
		List<byte[]> arguments = arguments(basis);
		arguments.add(commit);
		arguments.add(cursor);
		arguments.add(bytes(nowMillis));
		return this.link.run(this.scripts.readKeys(), this.keys.all(shard), arguments);
	}

	/** One attempt to read all keys. */
	private final class Pages {

		private final Set<String> found = new HashSet<>();

		/** As bytes: different keys that are not UTF-8 may decode to the same text. */
		private final Set<ByteBuffer> different = new HashSet<>();

		private int entries = -1;

		private boolean lost;

		Pages(ShardId shard, CommitBasis basis, long nowMillis, byte[] begin) {
			byte[] commit = NO_COMMIT;
			byte[] cursor = begin;
			do {
				List<Object> page = page(shard, basis, commit, cursor, nowMillis);
				if (page.size() < 5) {
					this.lost = page.isEmpty();
					this.entries = -1;
					return;
				}
				commit = (byte[]) page.get(0);
				this.entries = Integer.parseInt(text(page.get(1)));
				cursor = (byte[]) page.get(2);
				((List<?>) page.get(3)).forEach((key) -> this.found.add(text(different(key))));
				((List<?>) page.get(4)).forEach(this::different);
			}
			while (!text(cursor).equals(END));
		}

		private Object different(Object key) {
			this.different.add(ByteBuffer.wrap((byte[]) key));
			return key;
		}

		/** Returns whether no key is missing, as if a cursor was invalid. */
		boolean isWhole() {
			return this.different.size() == this.entries;
		}

	}

}
