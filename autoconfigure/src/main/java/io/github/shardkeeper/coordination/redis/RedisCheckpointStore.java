package io.github.shardkeeper.coordination.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.CheckpointStore;
import io.github.shardkeeper.coordination.CommitNumber;
import io.github.shardkeeper.redis.LuaScript;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.redis.ReplicaWait;
import io.github.shardkeeper.redis.ReplicatedLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.Token;

/**
 * The data plane of one group on Redis. Each shard has a slot of its own:
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:checkpoint   hash: fence, commit (number), offset, committed (millis)
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;/&lt;id&gt;}:state        hash: the state's entries, values as JSON
 * &lt;prefix&gt;:{&lt;group&gt;/&lt;topic&gt;}:since            millis of Redis' time: since when the group consumes the topic
 * </pre>
 *
 * {@code acquire.lua} and {@code commit.lua} are one atomic step each. Thread-safe.
 */
public final class RedisCheckpointStore implements CheckpointStore {

	private static final LuaScript ACQUIRE = LuaScript.load(RedisCheckpointStore.class, ScriptOutputType.MULTI,
			"acquire.lua");

	private static final LuaScript COMMIT = LuaScript.load(RedisCheckpointStore.class, ScriptOutputType.VALUE,
			"commit.lua");

	private static final LuaScript SINCE = LuaScript.load(RedisCheckpointStore.class, ScriptOutputType.VALUE,
			"since.lua");

	private final RedisLink<String> link;

	private final ReplicatedLink fences;

	private final String keyStart;

	/**
	 * Creates a store that waits for no replicas; connects when it is first used.
	 * @param connector opens connections
	 * @param keyPrefix what all keys begin with
	 * @param group the group's name
	 * @param timeout the longest wait for an answer
	 */
	public RedisCheckpointStore(RedisConnector connector, String keyPrefix, String group, Duration timeout) {
		this(connector, keyPrefix, group, timeout, ReplicaWait.NONE);
	}

	/**
	 * Creates a store; connects when it is first used.
	 * @param connector opens connections
	 * @param keyPrefix what all keys begin with
	 * @param group the group's name
	 * @param timeout the longest wait for an answer
	 * @param wait what replicas a new owner's fence must have reached before he consumes
	 */
	public RedisCheckpointStore(RedisConnector connector, String keyPrefix, String group, Duration timeout,
			ReplicaWait wait) {
		this.link = new RedisLink<>(connector, StringCodec.UTF8, timeout);
		this.fences = new ReplicatedLink(connector, this.link, timeout, wait);
		this.keyStart = keyPrefix + ":{" + group + "/";
	}

	@Override
	public Acquisition acquire(ShardId shard, Token token) {
		List<Object> reply = this.fences.run(ACQUIRE, keys(shard), List.of(token.toString()));
		if (reply.get(0).equals("REFUSED")) {
			return new Acquisition.Refused(new Token(Long.parseLong((String) reply.get(1))));
		}
		List<?> entries = (List<?>) reply.get(2);
		Map<String, String> state = new HashMap<>();
		for (int i = 0; i < entries.size(); i += 2) {
			state.put((String) entries.get(i), (String) entries.get(i + 1));
		}
		return new Acquisition.Acquired(new Checkpoint(offset((String) reply.get(1)), state));
	}

	@Override
	public CommitReply commit(ShardId shard, Token token, CommitNumber number, @Nullable Offset offset,
			Map<String, @Nullable String> changes) {
		List<String> puts = new ArrayList<>();
		List<String> removes = new ArrayList<>();
		changes.forEach((key, value) -> {
			if (value != null) {
				puts.add(key);
				puts.add(value);
			}
			else {
				removes.add(key);
			}
		});
		List<String> arguments = new ArrayList<>(5 + puts.size() + removes.size());
		arguments.add(token.toString());
		arguments.add(Long.toString(number.attempt()));
		arguments.add(Long.toString(number.acknowledged()));
		arguments.add((offset != null) ? offset.value() : "");
		arguments.add(Integer.toString(puts.size() / 2));
		arguments.addAll(puts);
		arguments.addAll(removes);
		String reply = this.link.run(COMMIT, keys(shard), arguments);
		return CommitReply.valueOf(reply);
	}

	@Override
	public Checkpoint read(ShardId shard) {
		List<String> keys = keys(shard);
		String offset = this.link.call((commands) -> commands.hget(keys.get(0), "offset"));
		Map<String, String> state = this.link.call((commands) -> commands.hgetall(keys.get(1)));
		return new Checkpoint(offset(offset), state);
	}

	@Override
	public Map<ShardId, Offset> offsets(Collection<ShardId> shards) {
		List<Function<RedisClusterAsyncCommands<String, String>, RedisFuture<String>>> reads = new ArrayList<>();
		shards.forEach((shard) -> reads.add((commands) -> commands.hget(keys(shard).get(0), "offset")));
		List<String> offsets = this.link.callAll(reads);
		Map<ShardId, Offset> result = new HashMap<>();
		int i = 0;
		for (ShardId shard : shards) {
			Offset offset = offset(offsets.get(i++));
			if (offset != null) {
				result.put(shard, offset);
			}
		}
		return result;
	}

	@Override
	public Instant consumedSince(String topic) {
		String since = this.fences.run(SINCE, List.of(this.keyStart + topic + "}:since"), List.of());
		return Instant.ofEpochMilli(Long.parseLong(since));
	}

	private static @Nullable Offset offset(@Nullable String text) {
		return (text == null || text.isEmpty()) ? null : new Offset(text);
	}

	private List<String> keys(ShardId shard) {
		String start = this.keyStart + shard + "}:";
		return List.of(start + "checkpoint", start + "state");
	}

	@Override
	public void close() {
		this.fences.close();
		this.link.close();
	}

}
