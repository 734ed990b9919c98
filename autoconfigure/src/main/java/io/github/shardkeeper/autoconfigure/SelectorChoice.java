package io.github.shardkeeper.autoconfigure;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Topic;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Finds the selectors that topics name among the application's beans. Has no state.
 */
final class SelectorChoice {

	private SelectorChoice() {
	}

	static Map<String, ShardSelector> byTopic(Map<String, Topic> topics, Map<String, ShardSelector> beans) {
		Map<String, ShardSelector> byTopic = new HashMap<>();
		topics.forEach((name, topic) -> {
			String bean = topic.selector();
			if (bean != null && !bean.isEmpty()) {
				ShardSelector selector = beans.get(bean);
				if (selector == null) {
					throw new ShardkeeperConfigurationException(
							"'shardkeeper.topics.%s.selector' is '%s', but there is no ShardSelector bean of that name."
								.formatted(name, bean),
							beans.isEmpty() ? "Define the bean, or leave the setting out: then the key decides."
									: "Write one of %s, or leave the setting out."
										.formatted(String.join(", ", new TreeSet<>(beans.keySet()))));
				}
				byTopic.put(name, selector);
			}
		});
		return byTopic;
	}

}
