package io.github.shardkeeper.redis.checkpoint;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.checkpoint.CheckpointJson;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

import static io.github.shardkeeper.redis.checkpoint.CheckpointFormat.bytes;
import static io.github.shardkeeper.redis.checkpoint.CheckpointFormat.text;

/**
 * Dead letters on Redis, in the streams that {@link ShardKeys} names, on a connection of
 * its own: {@code XRANGE}, {@code XLEN}, {@code ZCARD}, {@code XDEL},
 * {@code list-dead-letters.lua}, {@code expire-dead-letters.lua}, and
 * {@code send-back-dead-letters.lua}. Thread-safe.
 */
public final class RedisDeadLetterStore implements DeadLetterStore {

	/** Maximum size that one script copies, because Redis is busy meanwhile. */
	private static final int BYTES_AT_ONCE = 1_000_000;

	private static final int LETTERS_AT_ONCE = 200;

	/** More than the entries that a node of a stream has by default, 100. */
	private static final int EXPIRED_AT_ONCE = 1_000;

	/** Offset of an entry without one, which others have added. */
	private static final Offset NO_OFFSET = new Offset("?");

	private final RedisLink<byte[]> link;

	private final ShardKeys keys;

	private final LuaScript sendBack;

	private final LuaScript list;

	private final LuaScript expire;

	/** Creates a store; connects when it is first used. */
	public RedisDeadLetterStore(RedisConnector connector, String keyPrefix, String group, Duration timeout) {
		this(connector, keyPrefix, group, timeout, DataScripts.STANDARD);
	}

	RedisDeadLetterStore(RedisConnector connector, String keyPrefix, String group, Duration timeout,
			DataScripts scripts) {
		this.link = new RedisLink<>(connector, RedisCheckpointStore.CODEC, timeout);
		this.keys = new ShardKeys(keyPrefix, group);
		this.sendBack = scripts.sendBackDeadLetters();
		this.list = scripts.listDeadLetters();
		this.expire = scripts.expireDeadLetters();
	}

	@Override
	public List<StoredDeadLetter> list(ShardId shard, @Nullable String after, int limit) {
		List<byte[]> found = this.link.run(this.list, this.keys.all(shard),
				List.of(bytes((after != null) ? after : ""), bytes(limit), bytes(BYTES_AT_ONCE)));
		List<StoredDeadLetter> letters = new ArrayList<>(found.size() / 4);
		for (int i = 0; i < found.size(); i += 4) {
			letters.add(letter(text(found.get(i)), found.get(i + 1), found.get(i + 2), found.get(i + 3)));
		}
		return letters;
	}

	@Override
	public @Nullable StoredDeadLetter find(ShardId shard, String id) {
		List<StreamMessage<String, byte[]>> found = this.link
			.call((commands) -> commands.xrange(this.keys.dead(shard), Range.create(id, id), Limit.from(1)));
		return found.isEmpty() ? null : letter(found.get(0));
	}

	private static StoredDeadLetter letter(StreamMessage<String, byte[]> entry) {
		Map<String, byte[]> fields = (entry.getBody() != null) ? entry.getBody() : Map.of();
		byte[] nothing = {};
		return letter(entry.getId(), fields.getOrDefault("offset", nothing), fields.getOrDefault("about", nothing),
				fields.getOrDefault("payload", nothing));
	}

	private static StoredDeadLetter letter(String id, byte[] offset, byte[] about, byte[] payload) {
		return new StoredDeadLetter(id, CheckpointJson
			.failedRecord((offset.length == 0) ? NO_OFFSET : new Offset(text(offset)), about, payload));
	}

	@Override
	public Map<ShardId, Long> countDeadLetters(Collection<ShardId> shards) {
		return count(shards, (commands, shard) -> commands.xlen(this.keys.dead(shard)));
	}

	@Override
	public Map<ShardId, Long> countRetries(Collection<ShardId> shards) {
		return count(shards, (commands, shard) -> commands.zcard(this.keys.retry(shard)));
	}

	private Map<ShardId, Long> count(Collection<ShardId> shards,
			BiFunction<RedisClusterAsyncCommands<String, byte[]>, ShardId, RedisFuture<Long>> command) {
		List<Function<RedisClusterAsyncCommands<String, byte[]>, RedisFuture<Long>>> reads = new ArrayList<>();
		shards.forEach((shard) -> reads.add((commands) -> command.apply(commands, shard)));
		List<Long> numbers = this.link.callAll(reads);
		Map<ShardId, Long> result = new LinkedHashMap<>();
		int i = 0;
		for (ShardId shard : shards) {
			result.put(shard, numbers.get(i++));
		}
		return result;
	}

	@Override
	public int sendBack(ShardId shard, List<StoredDeadLetter> letters) {
		int moved = 0;
		for (List<StoredDeadLetter> part : parts(letters)) {
			List<byte[]> ids = part.stream().map((letter) -> bytes(letter.id())).toList();
			int reply = this.link.<Long>run(this.sendBack, this.keys.all(shard), ids).intValue();
			if (reply == SHARD_COMPLETED) {
				return (moved > 0) ? moved : SHARD_COMPLETED;
			}
			moved += reply;
		}
		return moved;
	}

	private static List<List<StoredDeadLetter>> parts(List<StoredDeadLetter> letters) {
		List<List<StoredDeadLetter>> parts = new ArrayList<>();
		int from = 0;
		int bytes = 0;
		for (int i = 0; i < letters.size(); i++) {
			int more = letters.get(i).record().payload().length;
			if (i > from && (bytes + more > BYTES_AT_ONCE || i - from == LETTERS_AT_ONCE)) {
				parts.add(letters.subList(from, i));
				from = i;
				bytes = 0;
			}
			bytes += more;
		}
		if (from < letters.size()) {
			parts.add(letters.subList(from, letters.size()));
		}
		return parts;
	}

	@Override
	public int drop(ShardId shard, List<StoredDeadLetter> letters) {
		if (letters.isEmpty()) {
			return 0;
		}
		String[] ids = letters.stream().map(StoredDeadLetter::id).toArray(String[]::new);
		return this.link.call((commands) -> commands.xdel(this.keys.dead(shard), ids)).intValue();
	}

	@Override
	public int expire(ShardId shard, Retention retention) {
		byte[] nothing = {};
		Duration age = retention.maxAge();
		Long count = retention.maxCount();
		return this.link
			.<Long>run(this.expire, this.keys.all(shard), List.of((age != null) ? bytes(age.toMillis()) : nothing,
					(count != null) ? bytes(count) : nothing, bytes(EXPIRED_AT_ONCE)))
			.intValue();
	}

	@Override
	public void close() {
		this.link.close();
	}

}
