package io.github.shardkeeper.template;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.ShardTemplate.Outgoing;

/**
 * Which shard a record goes to: the one that it names, its selector's, its key's, or the
 * next one. Thread-safe.
 */
final class ShardChoice {

	private final Map<String, ShardSelector> byTopic;

	private final @Nullable ShardSelector otherwise;

	/**
	 * The turns of records without a key. One by one, not some in a row as Kafka does: a
	 * record is a command of its own whatever shard it goes to, so staying with one
	 * brings nothing, and would make its handler late.
	 */
	private final Map<String, AtomicInteger> turns = new ConcurrentHashMap<>();

	ShardChoice(Map<String, ShardSelector> byTopic, @Nullable ShardSelector otherwise) {
		this.byTopic = byTopic;
		this.otherwise = otherwise;
	}

	int choose(String topic, Outgoing outgoing, int shards, @Nullable ShardSelector ofCall) {
		Integer said = outgoing.shard();
		if (said != null) {
			return require(said, topic, shards, "A record names");
		}
		ShardSelector selector = (ofCall != null) ? ofCall : this.byTopic.getOrDefault(topic, this.otherwise);
		if (selector != null) {
			int selected = selector.select(topic, outgoing, shards);
			if (selected != ShardSelector.BY_KEY) {
				return require(selected, topic, shards, selector.getClass().getName() + " has selected");
			}
		}
		String key = outgoing.key();
		return (key != null) ? byKey(key, shards) : next(topic, shards);
	}

	static int byKey(String key, int shards) {
		return (Murmur2.hash(key.getBytes(StandardCharsets.UTF_8)) & 0x7fffffff) % shards;
	}

	private int next(String topic, int shards) {
		// Producers that send one record each must not all begin with the same shard.
		AtomicInteger turn = this.turns.computeIfAbsent(topic,
				(t) -> new AtomicInteger(ThreadLocalRandom.current().nextInt()));
		return Math.floorMod(turn.getAndIncrement(), shards);
	}

	private static int require(int shard, String topic, int shards, String who) {
		if (shard < 0 || shard >= shards) {
			throw new IllegalArgumentException("%s shard %d, but the shards of the topic '%s' are 0 to %d"
				.formatted(who, shard, topic, shards - 1));
		}
		return shard;
	}

}
