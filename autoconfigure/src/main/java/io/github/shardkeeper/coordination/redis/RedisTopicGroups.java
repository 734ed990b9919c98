package io.github.shardkeeper.coordination.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.coordination.TopicGroups;
import io.github.shardkeeper.redis.RedisConnector;
import io.github.shardkeeper.redis.RedisLink;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;

/**
 * The groups of topics on Redis:
 *
 * <pre>
 * &lt;prefix&gt;:{&lt;topic&gt;}:groups     set: names of the groups that consume it
 * &lt;prefix&gt;:{&lt;topic&gt;}:trimming   string: the group that trims; expires
 * </pre>
 *
 * Offsets are read from the checkpoints of all groups, see {@link ShardKeys}.
 * Thread-safe.
 */
public final class RedisTopicGroups implements TopicGroups {

	private final RedisConnector connector;

	private final Duration timeout;

	/** Only connected where topics are trimmed. */
	private final RedisLink<String> link;

	private final String keyPrefix;

	private final String group;

	/**
	 * Creates it; connects when it is first used.
	 * @param connector opens connections
	 * @param keyPrefix what all keys begin with
	 * @param group the group of this instance
	 * @param timeout the longest wait for an answer
	 */
	public RedisTopicGroups(RedisConnector connector, String keyPrefix, String group, Duration timeout) {
		this.connector = connector;
		this.timeout = timeout;
		this.link = new RedisLink<>(connector, StringCodec.UTF8, timeout);
		this.keyPrefix = keyPrefix;
		this.group = group;
	}

	/** On a connection of its own, which is closed afterwards: it is once per start. */
	@Override
	public void register(Collection<String> topics) {
		List<Function<RedisClusterAsyncCommands<String, String>, RedisFuture<Long>>> writes = new ArrayList<>();
		topics.forEach((topic) -> writes.add((commands) -> commands.sadd(key(topic, "groups"), this.group)));
		try (RedisLink<String> once = new RedisLink<>(this.connector, StringCodec.UTF8, this.timeout)) {
			once.callAll(writes);
		}
	}

	@Override
	public boolean claimTrimming(String topic, Duration interval) {
		String claimed = this.link.<@Nullable String>call((commands) -> commands.set(key(topic, "trimming"), this.group,
				SetArgs.Builder.nx().px(interval.toMillis())));
		return claimed != null;
	}

	@Override
	public Map<ShardId, List<Offset>> offsets(String topic, Collection<ShardId> shards) {
		Set<String> groups = this.link.call((commands) -> commands.smembers(key(topic, "groups")));
		List<Function<RedisClusterAsyncCommands<String, String>, RedisFuture<@Nullable String>>> reads = new ArrayList<>();
		for (String consuming : groups) {
			ShardKeys keys = new ShardKeys(this.keyPrefix, consuming);
			shards.forEach((shard) -> reads.add((commands) -> commands.hget(keys.checkpoint(shard), "offset")));
		}
		List<@Nullable String> found = this.link.callAll(reads);
		Map<ShardId, List<Offset>> offsets = new HashMap<>();
		int i = 0;
		for (int number = 0; number < groups.size(); number++) {
			for (ShardId shard : shards) {
				String offset = found.get(i++);
				if (offset != null && !offset.isEmpty()) {
					offsets.computeIfAbsent(shard, (s) -> new ArrayList<>()).add(new Offset(offset));
				}
			}
		}
		offsets.values().removeIf((ofGroups) -> ofGroups.size() < groups.size());
		return offsets;
	}

	private String key(String topic, String kind) {
		return this.keyPrefix + ":{" + topic + "}:" + kind;
	}

	@Override
	public void close() {
		this.link.close();
	}

}
