package io.github.shardkeeper.autoconfigure;

import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

import io.github.shardkeeper.ShardTemplate.Outgoing;
import io.github.shardkeeper.output.OutputTargets;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.SequencedAppender;
import io.github.shardkeeper.source.ShardAppender.NewRecord;
import io.github.shardkeeper.source.ShardSource;
import io.github.shardkeeper.source.TopicSources;
import io.github.shardkeeper.template.KeyedShardTemplate;

/**
 * Topics to which handlers send as parts of their calls: those whose sources append a
 * numbered record once. Records are prepared as those of a template. Thread-safe.
 */
final class SequencedTopics implements OutputTargets {

	private final TopicSources sources;

	private final KeyedShardTemplate template;

	private final Map<String, SequencedAppender> appenders = new ConcurrentHashMap<>();

	SequencedTopics(TopicSources sources, KeyedShardTemplate template) {
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
