package io.github.shardkeeper.source;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.StoreUnavailableException;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.shard.StartPosition;
import io.github.shardkeeper.shard.TopicShards;

/**
 * The sources of an application, each with its own topics. Finds the source of a topic,
 * and replies for all topics together. Does not close the sources. Thread-safe.
 */
@Internal
public final class SourceRegistry {

	/** Sources by name; the names appear in logs and messages. */
	private final Map<String, ShardSource> sources;

	/** Names of sources by topic, where the application has set them. */
	private final Map<String, String> configured;

	/** Names of sources by topic; the topics of a source never change. */
	private volatile @Nullable Map<String, String> names;

	/**
	 * Creates the sources of an application. Does not call them.
	 * @param sources the sources by name
	 * @param configured the names of sources by topic, where the application sets them;
	 * necessary only for topics that several sources have
	 */
	public SourceRegistry(Map<String, ShardSource> sources, Map<String, String> configured) {
		this.sources = new LinkedHashMap<>(Objects.requireNonNull(sources, "sources must not be null"));
		this.configured = Map.copyOf(Objects.requireNonNull(configured, "configured must not be null"));
	}

	/**
	 * {@return the only source of an application}
	 * @param source the source
	 */
	public static SourceRegistry of(ShardSource source) {
		Objects.requireNonNull(source, "source must not be null");
		return new SourceRegistry(Map.of("source", source), Map.of());
	}

	/**
	 * {@return the names of all topics}
	 */
	public Set<String> names() {
		return namesOfSources().keySet();
	}

	private Map<String, String> namesOfSources() {
		Map<String, String> known = this.names;
		if (known == null) {
			known = findNames();
			this.names = known;
		}
		return known;
	}

	private Map<String, String> findNames() {
		Map<String, String> found = new HashMap<>();
		this.sources.forEach((name, source) -> source.topics().keySet().forEach((topic) -> {
			if (!name.equals(this.configured.getOrDefault(topic, name))) {
				return;
			}
			String other = found.putIfAbsent(topic, name);
			if (other != null) {
				throw new ShardkeeperConfigurationException(
						"The sources '%s' and '%s' both have a topic '%s'.".formatted(other, name, topic),
						"Set 'shardkeeper.topics.%s.source' to one of them.".formatted(topic));
			}
		}));
		this.configured.forEach((topic, name) -> {
			if (!found.containsKey(topic)) {
				throw new ShardkeeperConfigurationException(
						"'shardkeeper.topics.%s.source' is '%s', but this source has no topic '%s'.".formatted(topic,
								name, topic),
						"Add the topic to the source, or set another source.");
			}
		});
		return Map.copyOf(found);
	}

	/**
	 * {@return the topics of all sources; see {@link ShardSource#topics()}}
	 * @throws ShardkeeperConfigurationException if it is unclear which source a topic has
	 */
	public Map<String, TopicShards> topics() {
		return joined(ShardSource::topics);
	}

	/**
	 * {@return the problems of all sources; see {@link ShardSource#problems()}}
	 */
	public Map<String, String> problems() {
		return joined(ShardSource::problems);
	}

	/**
	 * {@return the topics of all sources that are slowed down; see
	 * {@link ShardSource#throttled()}}
	 */
	public Map<String, String> throttled() {
		return joined(ShardSource::throttled);
	}

	/**
	 * {@return the open shards of all sources; see {@link ShardSource#openShards()}}
	 */
	public Map<String, ShardSource.OpenShards> openShards() {
		return joined(ShardSource::openShards);
	}

	private <T> Map<String, T> joined(Function<ShardSource, Map<String, T>> part) {
		Map<String, String> by = namesOfSources();
		Map<String, T> joined = new TreeMap<>();
		this.sources.forEach((name, source) -> part.apply(source).forEach((topic, value) -> {
			if (name.equals(by.get(topic))) {
				joined.put(topic, value);
			}
		}));
		return joined;
	}

	/**
	 * Registers a listener for changes of the sources of some topics.
	 * @param topics the topics
	 * @param onChange the listener; see {@link ShardSource#watch}
	 * @return the registration
	 */
	public ShardSource.Watch watch(Collection<String> topics, Runnable onChange) {
		Objects.requireNonNull(topics, "topics must not be null");
		Objects.requireNonNull(onChange, "onChange must not be null");
		List<ShardSource.Watch> watches = new ArrayList<>();
		try {
			having(topics).values().forEach((source) -> watches.add(source.watch(onChange)));
		}
		catch (RuntimeException | Error ex) {
			watches.forEach((watch) -> closeAfter(ex, watch));
			throw ex;
		}
		return () -> watches.forEach(ShardSource.Watch::close);
	}

	private static void closeAfter(Throwable failure, ShardSource.Watch watch) {
		try {
			watch.close();
		}
		catch (RuntimeException | Error ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Resolves a start position; see {@link ShardSource#before}.
	 * @param position the position
	 * @param shards shards of any topics
	 * @return by shard the offset after which to read
	 * @throws StoreUnavailableException also if a consumer group, as the position, must
	 * not be left now; the message says why. A retry makes sense
	 */
	public Map<ShardId, Offset> before(StartPosition position, Collection<ShardId> shards) {
		Map<ShardId, Offset> offsets = new HashMap<>();
		resolve(position, shards).forEach((shard, resolved) -> {
			Offset before = resolved.before();
			if (before == null || resolved.obstacle() != null) {
				throw new StoreUnavailableException(String.valueOf(resolved.obstacle()), null, true);
			}
			offsets.put(shard, before);
		});
		return offsets;
	}

	/**
	 * Resolves a start position, and says what prevents a start there: only that of a
	 * consumer group may have an obstacle.
	 * @param position the position
	 * @param shards shards of any topics
	 * @return the resolved positions
	 * @throws IllegalArgumentException if the position is not valid for a source, or is a
	 * consumer group and the source has none
	 */
	public Map<ShardId, GroupPositions.Position> resolve(StartPosition position, Collection<ShardId> shards) {
		Objects.requireNonNull(position, "position must not be null");
		Objects.requireNonNull(shards, "shards must not be null");
		Map<String, List<ShardId>> byTopic = new LinkedHashMap<>();
		for (ShardId shard : shards) {
			byTopic.computeIfAbsent(shard.topic(), (topic) -> new ArrayList<>()).add(shard);
		}
		Map<ShardId, GroupPositions.Position> resolved = new HashMap<>();
		byTopic.forEach((topic, some) -> {
			if (position instanceof StartPosition.Group group) {
				resolved.putAll(groups(topic).positions(group.name(), some));
			}
			else {
				of(topic).before(position, some)
					.forEach((shard, before) -> resolved.put(shard, GroupPositions.Position.after(before)));
			}
		});
		return resolved;
	}

	/**
	 * {@return the consumer groups of the system behind the source of a topic}
	 * @param topic the name of the topic
	 * @throws IllegalArgumentException if the source has none, or no source has the topic
	 */
	public GroupPositions groups(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		if (of(topic) instanceof GroupPositions groups) {
			return groups;
		}
		throw new IllegalArgumentException(
				"the source '%s' of the topic '%s' has no consumer groups".formatted(name(topic), topic));
	}

	/**
	 * {@return the sources of some topics, by name}
	 * @param topics the topics; unknown ones are ignored
	 */
	public Map<String, ShardSource> having(Collection<String> topics) {
		Objects.requireNonNull(topics, "topics must not be null");
		Map<String, ShardSource> having = new LinkedHashMap<>(this.sources);
		having.keySet().retainAll(topics.stream().map(namesOfSources()::get).filter(Objects::nonNull).toList());
		return having;
	}

	/**
	 * {@return the source of a topic}
	 * @param topic the name of the topic
	 * @throws IllegalArgumentException if no source has the topic
	 */
	public ShardSource of(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return Objects.requireNonNull(this.sources.get(name(topic)));
	}

	/**
	 * {@return whether a topic has records; see {@link ShardSource#hasRecords}}
	 * @param topic the name of the topic
	 * @throws IllegalArgumentException if no source has the topic
	 */
	public boolean hasRecords(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		return of(topic).hasRecords(topic);
	}

	/**
	 * {@return the name of the source of a topic}
	 * @param topic the name of the topic
	 * @throws IllegalArgumentException if no source has the topic
	 */
	public String name(String topic) {
		Objects.requireNonNull(topic, "topic must not be null");
		String name = namesOfSources().get(topic);
		if (name == null) {
			throw new IllegalArgumentException(
					"There is no topic '%s'; the topics are %s".formatted(topic, new TreeSet<>(names())));
		}
		return name;
	}

}
