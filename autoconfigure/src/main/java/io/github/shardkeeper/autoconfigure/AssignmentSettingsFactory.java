package io.github.shardkeeper.autoconfigure;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.assignment.ShardTraits;
import io.github.shardkeeper.assignment.load.LoadAwareAssignment;
import io.github.shardkeeper.assignment.load.LoadAwareSettings;
import io.github.shardkeeper.assignment.selection.BuiltInStrategy;
import io.github.shardkeeper.assignment.selection.PerTopicAssignment;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Load;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Topic;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.coordination.member.AssignmentSettings;
import io.github.shardkeeper.protocol.MeasuredLoads.LoadReporting;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Makes the settings of the assignment: finds strategies by name, built-in ones or beans,
 * and combines the configured traits of shards with the application's catalog. Confined
 * to one thread.
 */
final class AssignmentSettingsFactory {

	private final ShardkeeperProperties properties;

	private final Map<String, AssignmentStrategy> beans;

	private final LoadAwareSettings loadSettings;

	/** One instance for all topics that name it, so that they are balanced together. */
	private final AssignmentStrategy loadAware;

	private boolean usesBean;

	/** Creates the factory; rejects beans with the name of a built-in strategy. */
	AssignmentSettingsFactory(ShardkeeperSettings settings, Map<String, AssignmentStrategy> beans) {
		this.properties = settings.properties();
		this.beans = new TreeMap<>(beans);
		Load load = this.properties.assignment().load();
		this.loadSettings = new LoadAwareSettings(load.measure(), load.effectiveDifference(), load.differenceShare(),
				load.effectiveGain(), load.coolDown(), load.movesPerPlan());
		this.loadAware = new LoadAwareAssignment(this.loadSettings);
		beans.keySet().stream().filter(BuiltInStrategy.names()::contains).findFirst().ifPresent((name) -> {
			throw new ShardkeeperConfigurationException(
					"The AssignmentStrategy bean '%s' has the name of a built-in strategy.".formatted(name),
					"Give the bean another name, so that it is clear which one a property means.");
		});
	}

	/**
	 * Creates the settings.
	 * @param uniqueBean the only or primary bean, used where no property names a strategy
	 * @throws ShardkeeperConfigurationException if a strategy is unknown or ambiguous
	 */
	AssignmentSettings create(@Nullable AssignmentStrategy uniqueBean, @Nullable ShardCatalog catalogBean) {
		String name = defaultName(uniqueBean);
		AssignmentStrategy strategy = strategy(name, BuiltInStrategy.PROPERTY);
		Map<String, AssignmentStrategy> byTopic = new TreeMap<>();
		StringBuilder names = new StringBuilder(name);
		new TreeMap<>(this.properties.topics()).forEach((topic, settings) -> {
			String ofTopic = settings.strategy();
			if (ofTopic != null && !ofTopic.isEmpty() && !ofTopic.equals(name)) {
				byTopic.put(topic, strategy(ofTopic, "shardkeeper.topics.%s.strategy".formatted(topic)));
				names.append(", ").append(topic).append(": ").append(ofTopic);
			}
		});
		return new AssignmentSettings(names.toString(),
				byTopic.isEmpty() ? strategy : new PerTopicAssignment(byTopic, strategy), catalog(catalogBean),
				this.usesBean || catalogBean != null, this.properties.assignment().timeout(),
				LoadReporting.of(this.loadSettings, this.properties.assignment().load().reportInterval()));
	}

	private String defaultName(@Nullable AssignmentStrategy uniqueBean) {
		String name = this.properties.assignment().strategy();
		if (name != null && !name.isEmpty()) {
			return name;
		}
		if (this.beans.isEmpty()) {
			return BuiltInStrategy.STICKY.settingName();
		}
		return this.beans.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() == uniqueBean)
			.map(Map.Entry::getKey)
			.findFirst()
			.orElseThrow(() -> new ShardkeeperConfigurationException(
					"There are several AssignmentStrategy beans: %s.".formatted(String.join(", ", this.beans.keySet())),
					"Name one of them with '%s', or make it @Primary.".formatted(BuiltInStrategy.PROPERTY)));
	}

	private AssignmentStrategy strategy(String name, String property) {
		AssignmentStrategy bean = this.beans.get(name);
		if (bean != null) {
			this.usesBean = true;
			return bean;
		}
		if (name.equals(BuiltInStrategy.LOAD_AWARE.settingName())) {
			return this.loadAware;
		}
		if (BuiltInStrategy.names().contains(name)) {
			return BuiltInStrategy.named(name, property).strategy();
		}
		List<String> names = new ArrayList<>(BuiltInStrategy.names());
		names.addAll(this.beans.keySet());
		throw new ShardkeeperConfigurationException(
				"'%s' is '%s', which is not an assignment strategy.".formatted(property, name),
				"Write one of %s, or the name of an AssignmentStrategy bean of the application."
					.formatted(String.join(", ", names)));
	}

	private ShardCatalog catalog(@Nullable ShardCatalog bean) {
		Map<String, Topic> topics = new HashMap<>(this.properties.topics());
		topics.values().removeIf((topic) -> !topic.hasTraits());
		ShardCatalog fallback = (bean != null) ? bean : ShardCatalog.PLAIN;
		return topics.isEmpty() ? fallback : new ConfiguredCatalog(topics, fallback);
	}

	/** Catalog of configured traits, with a fallback for each. Immutable. */
	private record ConfiguredCatalog(Map<String, Topic> topics, ShardCatalog fallback) implements ShardCatalog {

		@Override
		public ShardTraits traits(ShardId shard) {
			ShardTraits traits = this.fallback.traits(shard);
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

}
