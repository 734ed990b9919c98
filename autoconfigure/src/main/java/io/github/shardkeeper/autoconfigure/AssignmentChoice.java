package io.github.shardkeeper.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.assignment.AssignmentStrategy;
import io.github.shardkeeper.assignment.BuiltInStrategy;
import io.github.shardkeeper.assignment.LoadAwareAssignment;
import io.github.shardkeeper.assignment.PerTopicAssignment;
import io.github.shardkeeper.assignment.ShardCatalog;
import io.github.shardkeeper.coordination.AssignmentSettings;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Finds the strategies that the settings name, among the built-in ones and the
 * application's beans. Confined to its thread.
 */
final class AssignmentChoice {

	private final ShardkeeperProperties properties;

	private final Map<String, AssignmentStrategy> own;

	/** One for all topics that name it, so that they are shared out together. */
	private final AssignmentStrategy loadAware;

	private boolean foreign;

	/**
	 * Creates the choice.
	 * @param own the application's own strategies by the names of their beans
	 */
	AssignmentChoice(ShardkeeperProperties properties, Map<String, AssignmentStrategy> own) {
		this.properties = properties;
		this.loadAware = new LoadAwareAssignment(LoadSettings.settings(properties.assignment().load()));
		this.own = new TreeMap<>(own);
		own.keySet().stream().filter(BuiltInStrategy.names()::contains).findFirst().ifPresent((name) -> {
			throw new ShardkeeperConfigurationException(
					"The AssignmentStrategy bean '%s' has the name of a built-in strategy.".formatted(name),
					"Give the bean another name, so that it is clear which one a setting means.");
		});
	}

	/**
	 * Makes the choice.
	 * @param preferred the application's own strategy that is to be taken if no setting
	 * names one: its only one, or its primary one
	 * @param ownCatalog the application's own catalog of shards
	 * @return how a leader has shards assigned
	 */
	AssignmentSettings choose(@Nullable AssignmentStrategy preferred, @Nullable ShardCatalog ownCatalog) {
		String name = defaultName(preferred);
		AssignmentStrategy otherwise = named(name, BuiltInStrategy.PROPERTY);
		Map<String, AssignmentStrategy> byTopic = new TreeMap<>();
		StringBuilder names = new StringBuilder(name);
		new TreeMap<>(this.properties.topics()).forEach((topic, settings) -> {
			String ofTopic = settings.strategy();
			if (ofTopic != null && !ofTopic.isEmpty() && !ofTopic.equals(name)) {
				byTopic.put(topic, named(ofTopic, "shardkeeper.topics.%s.strategy".formatted(topic)));
				names.append(", ").append(topic).append(": ").append(ofTopic);
			}
		});
		return new AssignmentSettings(names.toString(),
				byTopic.isEmpty() ? otherwise : new PerTopicAssignment(byTopic, otherwise),
				SettingsCatalog.of(this.properties.topics(), ownCatalog), this.foreign || ownCatalog != null,
				this.properties.assignment().timeout(), LoadSettings.reporting(this.properties.assignment().load()));
	}

	private String defaultName(@Nullable AssignmentStrategy preferred) {
		String name = this.properties.assignment().strategy();
		if (name != null && !name.isEmpty()) {
			return name;
		}
		if (this.own.isEmpty()) {
			return BuiltInStrategy.STICKY.settingName();
		}
		return this.own.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() == preferred)
			.map(Map.Entry::getKey)
			.findFirst()
			.orElseThrow(() -> new ShardkeeperConfigurationException(
					"There are several AssignmentStrategy beans: %s.".formatted(String.join(", ", this.own.keySet())),
					"Name one of them with '%s', or make it @Primary.".formatted(BuiltInStrategy.PROPERTY)));
	}

	private AssignmentStrategy named(String name, String property) {
		AssignmentStrategy bean = this.own.get(name);
		if (bean != null) {
			this.foreign = true;
			return bean;
		}
		if (name.equals(BuiltInStrategy.LOAD_AWARE.settingName())) {
			return this.loadAware;
		}
		if (BuiltInStrategy.names().contains(name)) {
			return BuiltInStrategy.named(name, property).strategy();
		}
		List<String> names = new ArrayList<>(BuiltInStrategy.names());
		names.addAll(this.own.keySet());
		throw new ShardkeeperConfigurationException(
				"'%s' is '%s', which is no assignment strategy.".formatted(property, name),
				"Write one of %s, or the name of an AssignmentStrategy bean of the application."
					.formatted(String.join(", ", names)));
	}

}
