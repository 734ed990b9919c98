package io.github.shardkeeper.autoconfigure.failure;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

import io.github.shardkeeper.FailureHandler;
import io.github.shardkeeper.autoconfigure.properties.FailureRule;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * The failure handlers of topics: first the rules in properties; then the bean that the
 * topic names, or else all of the application's. Immutable.
 */
public final class TopicFailureHandlers {

	private final ShardkeeperSettings settings;

	private final Map<String, FailureHandler> named = new HashMap<>();

	private final List<FailureHandler> otherwise;

	/**
	 * Finds the handlers that topics name among the beans.
	 * @param otherwise the handlers of all other topics, in order
	 * @throws ShardkeeperConfigurationException if there is no bean of a name
	 */
	public TopicFailureHandlers(ShardkeeperSettings settings, ListableBeanFactory beans,
			List<FailureHandler> otherwise) {
		this.settings = settings;
		settings.failureHandlers().forEach((topic, name) -> this.named.put(topic, named(beans, topic, name)));
		this.otherwise = List.copyOf(otherwise);
	}

	private static FailureHandler named(ListableBeanFactory beans, String topic, String name) {
		if (beans.containsBean(name) && beans.getBean(name) instanceof FailureHandler handler) {
			return handler;
		}
		String[] known = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, FailureHandler.class);
		throw new ShardkeeperConfigurationException(
				"'shardkeeper.topics.%s.failure-handler' is '%s', but there is no FailureHandler bean of that name."
					.formatted(topic, name),
				(known.length == 0) ? "Define the bean, or leave the property out."
						: "Write one of %s, or leave the property out."
							.formatted(String.join(", ", new TreeSet<>(List.of(known)))));
	}

	/** Returns those of a topic, in order; none if its failures are as configured. */
	public List<FailureHandler> of(String topic) {
		List<FailureHandler> handlers = new ArrayList<>();
		List<FailureRule> rules = this.settings.consumer(topic).failures();
		if (!rules.isEmpty()) {
			handlers.add(new FailureTable(rules));
		}
		FailureHandler own = this.named.get(topic);
		handlers.addAll((own != null) ? List.of(own) : this.otherwise);
		return handlers;
	}

}
