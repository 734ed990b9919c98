package io.github.shardkeeper.autoconfigure;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Topic;
import io.github.shardkeeper.shard.ShardId;

/**
 * What the settings of topics say of shards; where they say nothing, the application's
 * own catalog. Immutable.
 */
final class SettingsCatalog implements ShardCatalog {

	private final Map<String, Topic> topics;

	private final ShardCatalog otherwise;

	private SettingsCatalog(Map<String, Topic> topics, ShardCatalog otherwise) {
		this.topics = topics;
		this.otherwise = otherwise;
	}

	/**
	 * Puts a catalog together.
	 * @param topics the settings
	 * @param own the application's own catalog, if there is one
	 * @return the catalog, {@link ShardCatalog#PLAIN} when nothing is known
	 */
	static ShardCatalog of(Map<String, Topic> topics, @Nullable ShardCatalog own) {
		Map<String, Topic> telling = new HashMap<>(topics);
		telling.values().removeIf((topic) -> !topic.tellsOfShards());
		ShardCatalog otherwise = (own != null) ? own : ShardCatalog.PLAIN;
		return telling.isEmpty() ? otherwise : new SettingsCatalog(telling, otherwise);
	}

	@Override
	public ShardTraits traits(ShardId shard) {
		ShardTraits traits = this.otherwise.traits(shard);
		Topic topic = this.topics.get(shard.topic());
		if (topic == null) {
			return traits;
		}
		Long weight = topic.weights().get(shard.id());
		return new ShardTraits((weight != null) ? weight.intValue() : traits.weight(),
				topic.zones().getOrDefault(shard.id(), traits.zone()),
				topic.pinned().getOrDefault(shard.id(), traits.pinnedTo()));
	}

}
