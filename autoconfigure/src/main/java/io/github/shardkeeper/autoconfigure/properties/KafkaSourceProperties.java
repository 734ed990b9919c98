package io.github.shardkeeper.autoconfigure.properties;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesSource;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.shardkeeper.Internal;

/**
 * Properties of the source {@code kafka}. Immutable.
 *
 * @param topics Topics of Kafka, by the name of the topic. Without an entry, a topic
 * reads the Kafka topic of the same name.
 * @param refreshInterval Interval at which an instance that consumes reads topics and
 * partitions from Kafka. More than 0.
 * @param mirrorGroup Name of a Kafka group whose offsets are set to those of the
 * checkpoints, for tools that show lags.
 * @param longTransaction Time for which an open transaction may hold up a partition, with
 * spring.kafka.consumer.isolation-level=read_committed. After that its shard has a
 * problem. More than 0.
 * @param deserializers Whether to convert payloads with
 * spring.kafka.consumer.value-deserializer instead of the PayloadConverter.
 * @param serializers Whether a ShardTemplate converts payloads with
 * spring.kafka.producer.value-serializer instead of the PayloadConverter.
 */
@Internal
public record KafkaSourceProperties(@DefaultValue Map<String, KafkaTopicProperties> topics,
		@DefaultValue("5s") Duration refreshInterval, @Nullable String mirrorGroup,
		@DefaultValue("2m") Duration longTransaction, @DefaultValue("false") boolean deserializers,
		@DefaultValue("false") boolean serializers) {

	/**
	 * Kafka topics that a topic reads.
	 *
	 * @param name Name of the Kafka topic that the topic reads. Defaults to the name of
	 * the topic.
	 * @param pattern Regular expression. The topic reads all Kafka topics whose whole
	 * names match it.
	 */
	@ConfigurationPropertiesSource
	public record KafkaTopicProperties(@Nullable String name, @Nullable String pattern) {

		public KafkaTopicProperties {
			name = ShardkeeperSettings.textOrNull(name);
			pattern = ShardkeeperSettings.textOrNull(pattern);
		}

	}

}
