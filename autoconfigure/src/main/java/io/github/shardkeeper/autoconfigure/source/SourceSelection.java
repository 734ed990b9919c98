package io.github.shardkeeper.autoconfigure.source;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Topic;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.operations.stored.RoutingShardTopics;
import io.github.shardkeeper.output.OutputTargets;
import io.github.shardkeeper.shard.Names;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.SourceRegistry;
import io.github.shardkeeper.source.fixed.FixedShardSource;
import io.github.shardkeeper.source.fixed.ShardNames;
import io.github.shardkeeper.template.KeyedShardTemplate;
import io.github.shardkeeper.template.SendTopics;
import io.github.shardkeeper.text.NearestName;

/**
 * Selection of a source for each topic, by {@code shardkeeper.topics.<name>.source}: a
 * built-in source, or a {@link ShardSource} bean of the application by its name. Other
 * topics belong to the application's beans or, if there are none, to the source of the
 * store. Immutable.
 */
public final class SourceSelection {

	/** Name of the source of shards without records. */
	public static final String FIXED = "fixed";

	/** Names of built-in sources, with the artifact that an application adds for each. */
	public static final Map<String, String> BUILT_IN = new TreeMap<>(Map.of("redis", "shardkeeper-redis", "memory",
			"shardkeeper-core", "kafka", "shardkeeper-kafka", "sls", "shardkeeper-sls", FIXED, "shardkeeper-core"));

	private final Map<String, Topic> topics;

	private final @Nullable String defaultSource;

	/**
	 * Checks the selection. Creates no bean.
	 * @throws ShardkeeperConfigurationException if a topic has an unknown source
	 */
	public SourceSelection(ShardkeeperSettings settings, Environment environment, ListableBeanFactory beans) {
		this.topics = new TreeMap<>(settings.properties().topics());
		List<String> own = applicationSources(beans);
		this.defaultSource = own.isEmpty() ? store(environment) : null;
		Set<String> existing = Set.of(names(beans));
		this.topics.forEach((name, topic) -> {
			String source = topic.source();
			if (source != null && !existing.contains(source) && !existing.contains(beanName(source))) {
				throw unknown(name, source, own);
			}
			check(name, topic, sourceOf(topic));
		});
		requireSource("kafka", settings.properties().kafka().topics().keySet());
		requireSource("sls", settings.properties().sls().topics().keySet());
	}

	/** A forgotten {@code source} would consume another topic, and perhaps create it. */
	private void requireSource(String source, Set<String> configured) {
		Set<String> selected = topics(source).keySet();
		new TreeSet<>(configured).stream()
			.filter((topic) -> !selected.contains(topic))
			.findFirst()
			.ifPresent((topic) -> {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.%s.topics.%s' is set, but no topic '%2$s' has the source '%1$s'.%3$s"
							.formatted(source, topic, NearestName.question(topic, selected)),
						"Set 'shardkeeper.topics.%s.source: %s', or remove the property.".formatted(topic, source));
			});
	}

	private @Nullable String sourceOf(Topic topic) {
		return (topic.source() != null) ? topic.source() : this.defaultSource;
	}

	private static void check(String name, Topic topic, @Nullable String source) {
		boolean onStore = "redis".equals(source) || "memory".equals(source);
		if (FIXED.equals(source)) {
			checkFixed(name, topic);
			checkTraits(name, topic);
			return;
		}
		if (onStore) {
			checkTraits(name, topic);
		}
		if (topic.names() != null || topic.namesBean() != null) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.topics.%s.%s' is set, but the shards of the topic are those of its source."
						.formatted(name, (topic.names() != null) ? "names" : "names-bean"),
					"Set 'shardkeeper.topics.%s.source' to 'fixed', or remove the property.".formatted(name));
		}
		if (onStore && topic.reset() != null) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.topics.%s.reset' is set, but the source '%s' always resumes at the first record that is available."
						.formatted(name, source),
					"Remove the property.");
		}
		if (!onStore && source != null && BUILT_IN.containsKey(source) && topic.trim().hasLimit()) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.topics.%s.trim' is set, but the source '%s' has a retention of its own."
						.formatted(name, source),
					"Remove the property, and set the retention where the source is configured.");
		}
	}

	/** Other sources have other shards, and more or fewer of them at any time. */
	private static void checkTraits(String name, Topic topic) {
		topic.weights().keySet().forEach((shard) -> requireShard(name, topic, "weights", shard));
		topic.zones().keySet().forEach((shard) -> requireShard(name, topic, "zones", shard));
		topic.pinned().keySet().forEach((shard) -> requireShard(name, topic, "pinned", shard));
	}

	private static void requireShard(String name, Topic topic, String map, String shard) {
		List<String> names = topic.names();
		boolean named = topic.namesBean() != null || names != null;
		if (named ? names != null && !names.contains(shard)
				: !shard.matches("0|[1-9][0-9]{0,8}") || Integer.parseInt(shard) >= topic.shards()) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.topics.%s.%s.%s' is set, but the topic has no shard '%s'.".formatted(name, map, shard,
							shard),
					(names != null)
							? "Its shards are %s: correct the name, or 'shardkeeper.topics.%s.names'."
								.formatted(String.join(", ", names), name)
							: "Its shards are 0 to %d: correct the number, or 'shardkeeper.topics.%s.shards'."
								.formatted(topic.shards() - 1, name));
		}
	}

	private static void checkFixed(String name, Topic topic) {
		Map<String, Boolean> ofRecords = new TreeMap<>();
		ofRecords.put("reset", topic.reset() != null);
		ofRecords.put("trim", topic.trim().hasLimit());
		ofRecords.put("start", StartPosition.parse(topic.start()) != StartPosition.EARLIEST);
		ofRecords.put("selector", topic.selector() != null && !topic.selector().isEmpty());
		ofRecords.forEach((property, set) -> {
			if (set) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.topics.%s.%s' is set, but the source 'fixed' has no records.".formatted(name,
								property),
						"Remove the property.");
			}
		});
		List<String> names = topic.names();
		boolean hasNames = names != null;
		if (hasNames && topic.namesBean() != null || (hasNames || topic.namesBean() != null) && topic.shards() != 1) {
			throw new ShardkeeperConfigurationException(
					"The topic '%s' has more than one of 'shards', 'names' and 'names-bean'.".formatted(name),
					"Keep one of them: the number of shards, the list of their names, or the bean that lists their names.");
		}
		if (names == null) {
			return;
		}
		if (names.isEmpty()) {
			// Not a topic without shards: a variable has no value.
			throw new ShardkeeperConfigurationException("'shardkeeper.topics.%s.names' is empty.".formatted(name),
					"Name at least one shard. If the names come from a variable, check that it is set; names that come and go are listed by a ShardNames bean, with 'names-bean'.");
		}
		Set<String> seen = new TreeSet<>();
		names.forEach((shard) -> {
			Names.requireValid(shard, "'shardkeeper.topics.%s.names'".formatted(name));
			if (!seen.add(shard)) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.topics.%s.names' contains '%s' twice.".formatted(name, shard),
						"Name each shard once.");
			}
		});
	}

	/**
	 * Creates the source of shards without records.
	 * @param beans the application's names of shards by the names of their beans
	 * @throws ShardkeeperConfigurationException if there is no bean of a name
	 */
	public FixedShardSource fixedSource(Map<String, ShardNames> beans) {
		Map<String, TopicShards> fixed = new TreeMap<>();
		Map<String, ShardNames> changing = new TreeMap<>();
		topics(FIXED).forEach((name, topic) -> {
			String bean = topic.namesBean();
			if (bean == null) {
				List<String> listed = topic.names();
				fixed.put(name, (listed != null) ? FixedShardSource.names(name, listed)
						: FixedShardSource.count(topic.shards()));
				return;
			}
			ShardNames names = beans.get(bean);
			if (names == null) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.topics.%s.names-bean' is '%s', but there is no ShardNames bean of that name."
							.formatted(name, bean),
						beans.isEmpty() ? "Define the bean, or set 'names' or 'shards' instead."
								: "Write one of %s.".formatted(String.join(", ", new TreeSet<>(beans.keySet()))));
			}
			changing.put(name, names);
		});
		return new FixedShardSource(fixed, changing);
	}

	private static ShardkeeperConfigurationException unknown(String topic, String source, List<String> own) {
		String property = "'shardkeeper.topics.%s.source'".formatted(topic);
		if (source.equals("redis")) {
			return new ShardkeeperConfigurationException(
					"%s is 'redis', but 'shardkeeper.store' is not.".formatted(property),
					"Set 'shardkeeper.store: redis', or set another source.");
		}
		String artifact = BUILT_IN.get(source);
		if (artifact != null) {
			return new ShardkeeperConfigurationException(
					"%s is '%s', but '%s' is not on the class path.".formatted(property, source, artifact),
					"Add the dependency 'io.github.shardkeeper:%s', or set another source.".formatted(artifact));
		}
		List<String> names = new ArrayList<>(BUILT_IN.keySet());
		names.addAll(own);
		return new ShardkeeperConfigurationException(
				"%s is '%s', which is neither a built-in source nor a ShardSource bean.".formatted(property, source),
				"Set it to one of %s, or define a ShardSource bean of that name.".formatted(String.join(", ", names)));
	}

	/** Returns the name of the store, which is also that of its source. */
	static String store(Environment environment) {
		return environment.getProperty("shardkeeper.store", "redis").strip().toLowerCase(Locale.ROOT);
	}

	/** Returns the name of the bean of a built-in source. */
	public static String beanName(String source) {
		return "shardkeeper" + StringUtils.capitalize(source) + "Source";
	}

	/** Returns the names of the application's own sources, without creating them. */
	static List<String> applicationSources(ListableBeanFactory beans) {
		Set<String> builtIn = Set.copyOf(BUILT_IN.keySet().stream().map(SourceSelection::beanName).toList());
		return Stream.of(names(beans)).filter((name) -> !builtIn.contains(name)).toList();
	}

	private static String[] names(ListableBeanFactory beans) {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, ShardSource.class, true, false);
	}

	/** Returns the topics of a built-in source. */
	Map<String, Topic> topics(String source) {
		Map<String, Topic> selected = new TreeMap<>(this.topics);
		selected.values().removeIf((topic) -> !source.equals(sourceOf(topic)));
		return selected;
	}

	/** Returns the configured numbers of shards of the topics of a built-in source. */
	public Map<String, Integer> shardCounts(String source) {
		Map<String, Integer> counts = new TreeMap<>();
		topics(source).forEach((name, topic) -> counts.put(name, topic.shards()));
		return counts;
	}

	/** Returns all sources, by the names that properties use. */
	public SourceRegistry sources(Map<String, ShardSource> beans) {
		Map<String, ShardSource> sources = new TreeMap<>(beans);
		BUILT_IN.keySet().forEach((source) -> {
			ShardSource bean = sources.remove(beanName(source));
			if (bean != null) {
				sources.put(source, bean);
			}
		});
		Map<String, String> configured = new TreeMap<>();
		this.topics.forEach((name, topic) -> {
			String source = topic.source();
			if (source != null) {
				configured.put(name, source);
			}
		});
		return new SourceRegistry(sources, configured);
	}

	/**
	 * Returns what a topic's source can do besides being read: the source itself if it
	 * has the type, else the application's only bean of the type that is no source.
	 * @throws ShardkeeperConfigurationException if there are several such beans
	 */
	public static <T> @Nullable T capability(SourceRegistry sources, String topic, Class<T> type,
			ObjectProvider<T> beans) {
		ShardSource source = sources.of(topic);
		if (type.isInstance(source)) {
			return type.cast(source);
		}
		List<T> others = beans.stream()
			.filter((bean) -> !(bean instanceof ShardSource) && !(bean instanceof RoutingShardTopics))
			.toList();
		if (others.size() > 1) {
			throw new ShardkeeperConfigurationException(
					"The source '%s' of the topic '%s' is no %s, and there are several beans that are: %s.".formatted(
							sources.name(topic), topic, type.getSimpleName(),
							others.stream().map((bean) -> bean.getClass().getName()).sorted().toList()),
					"Implement %s in the source, or keep one of these beans.".formatted(type.getSimpleName()));
		}
		return others.isEmpty() ? null : others.get(0);
	}

	/** Topics to which a template sends. Thread-safe. */
	public static final class SendableTopics implements SendTopics {

		private final SourceRegistry sources;

		private final ObjectProvider<ShardAppender> beans;

		private final Map<String, ShardAppender> appenders = new ConcurrentHashMap<>();

		public SendableTopics(SourceRegistry sources, ObjectProvider<ShardAppender> beans) {
			this.sources = sources;
			this.beans = beans;
		}

		@Override
		public Set<String> names() {
			return this.sources.names();
		}

		@Override
		public TopicShards shards(String topic) {
			return this.sources.of(topic).topics().getOrDefault(topic, TopicShards.NONE);
		}

		@Override
		public ShardAppender appender(String topic) {
			return this.appenders.computeIfAbsent(topic, this::findAppender);
		}

		private ShardAppender findAppender(String topic) {
			ShardAppender appender = capability(this.sources, topic, ShardAppender.class, this.beans);
			if (appender == null) {
				throw new IllegalArgumentException(
						"The source '%s' of topic '%s' takes no records".formatted(this.sources.name(topic), topic));
			}
			return appender;
		}

	}

	/**
	 * Topics to which handlers send as parts of their calls: those whose sources append a
	 * numbered record once. Records are prepared as those of a template. Thread-safe.
	 */
	public static final class SequencedTopics implements OutputTargets {

		private final SourceRegistry sources;

		private final KeyedShardTemplate template;

		private final Map<String, SequencedAppender> appenders = new ConcurrentHashMap<>();

		public SequencedTopics(SourceRegistry sources, KeyedShardTemplate template) {
			this.sources = sources;
			this.template = template;
		}

		@Override
		public NewRecord prepare(String topic, Outgoing outgoing) {
			appender(topic);
			return this.template.prepare(topic, outgoing);
		}

		@Override
		public SequencedAppender appender(String topic) {
			Objects.requireNonNull(topic, "topic must not be null");
			return this.appenders.computeIfAbsent(topic, this::findAppender);
		}

		private SequencedAppender findAppender(String topic) {
			if (!this.sources.names().contains(topic)) {
				throw ShardkeeperConfigurationException.unknownTopic("A call of ShardOutput", topic,
						new TreeSet<>(this.sources.names()));
			}
			ShardSource source = this.sources.of(topic);
			if (source instanceof SequencedAppender appender) {
				return appender;
			}
			throw new ShardkeeperConfigurationException(
					"A call of ShardOutput sends to the topic '%s', whose source '%s' cannot tell whether it has a record already: a repeated record would be there twice."
						.formatted(topic, this.sources.name(topic)),
					"Send with ShardTemplate, or send to a topic of Redis Streams.");
		}

	}

}
