package io.github.shardkeeper.autoconfigure.source;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;

import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * The selectors of the shards of records that are sent.
 *
 * @param byTopic the selectors that topics name
 * @param otherwise the selector of all other topics, {@code null} for none
 */
public record TopicSelectors(Map<String, ShardSelector> byTopic, @Nullable ShardSelector otherwise) {

	/**
	 * Finds the selectors among the application's beans.
	 * @throws ShardkeeperConfigurationException if none of several is primary, and a
	 * topic that takes records names none: a second bean would change its shards
	 */
	public static TopicSelectors of(ShardkeeperSettings settings, SourceRegistry sources,
			ObjectProvider<ShardAppender> appenders, Map<String, ShardSelector> beans,
			ObjectProvider<ShardSelector> selector) {
		Map<String, ShardSelector> byTopic = settings.selectors(beans);
		ShardSelector otherwise = selector.getIfUnique();
		if (otherwise == null && beans.size() > 1) {
			Predicate<String> named = byTopic::containsKey;
			List<String> ambiguous = sources.names()
				.stream()
				.filter(named.negate())
				.filter((topic) -> SourceSelection.capability(sources, topic, ShardAppender.class, appenders) != null)
				.sorted()
				.toList();
			if (!ambiguous.isEmpty()) {
				throw new ShardkeeperConfigurationException(
						"There are several ShardSelector beans, %s, and no topic setting says which one is that of %s."
							.formatted(String.join(", ", new TreeSet<>(beans.keySet())), String.join(", ", ambiguous)),
						"Mark one of them as @Primary, or set 'shardkeeper.topics.%s.selector'. Where the key decides, name a bean that returns ShardSelector.BY_KEY."
							.formatted(ambiguous.get(0)));
			}
		}
		return new TopicSelectors(byTopic, otherwise);
	}

}
