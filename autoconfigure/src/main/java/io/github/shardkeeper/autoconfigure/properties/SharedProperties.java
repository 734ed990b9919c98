package io.github.shardkeeper.autoconfigure.properties;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.autoconfigure.payload.PayloadFormat;
import io.github.shardkeeper.autoconfigure.properties.KafkaSourceProperties.KafkaTopicProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.CallTransaction;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Consumer;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Topic;
import io.github.shardkeeper.autoconfigure.properties.SlsSourceProperties.SlsTopicProperties;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.coordination.store.SharedSettings;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRegistry;

/**
 * The properties in which the instances of a group are compared. The reference lists
 * these and, with the reasons, all others. Immutable.
 */
public final class SharedProperties {

	private static final String TOPIC = "shardkeeper.topics.<name>.";

	private static final List<Shared<ShardkeeperProperties>> OF_INSTANCE = List.of(
			harmless("shardkeeper.json-mapper", ShardkeeperProperties::jsonMapper),
			harmless("shardkeeper.max-record-size", ShardkeeperProperties::maxRecordSize),
			harmless("shardkeeper.redis.record-ids.retention", (all) -> all.redis().recordIds().retention()),
			harmless("shardkeeper.redis.record-ids.max-count", (all) -> all.redis().recordIds().maxCount()),
			harmless("shardkeeper.kafka.deserializers", (all) -> all.kafka().deserializers()),
			harmless("shardkeeper.kafka.serializers", (all) -> all.kafka().serializers()),
			harmless("shardkeeper.kafka.mirror-group", (all) -> all.kafka().mirrorGroup()),
			harmless("shardkeeper.sls.consumer-group", (all) -> all.sls().consumerGroup()),
			harmless("shardkeeper.jdbc.transaction-manager", (all) -> all.jdbc().transactionManager()));

	/** Of topics that the instance consumes, or only sends to. */
	private static final List<Shared<Used>> OF_USED_TOPIC = List.of(divides(TOPIC + "source", Used::source),
			divides(TOPIC + "selector", Used::selector),
			harmless(TOPIC + "converter", (used) -> used.topic().converter()),
			divides("shardkeeper.kafka.topics.<name>.name", (used) -> used.of("kafka", used.kafkaName())),
			divides("shardkeeper.kafka.topics.<name>.pattern", (used) -> used.of("kafka", used.kafkaPattern())),
			divides("shardkeeper.sls.project", (used) -> used.of("sls", used.all().sls().project())),
			divides("shardkeeper.sls.topics.<name>.logstore", (used) -> used.of("sls", used.logstore())),
			harmless("shardkeeper.sls.topics.<name>.key-field", (used) -> used.of("sls", used.keyField())),
			harmless(TOPIC + "trim.max-length", (used) -> used.topic().trim().maxLength()),
			harmless(TOPIC + "trim.max-age", (used) -> used.topic().trim().maxAge()),
			harmless(TOPIC + "trim.beyond-checkpoints", (used) -> used.topic().trim().beyondCheckpoints()));

	private static final List<Shared<Used>> OF_CONSUMED_TOPIC = List.of(
			divides(TOPIC + "mode", (used) -> used.topic().mode()),
			divides(TOPIC + "consumer.transaction", (used) -> used.consumer().transaction()),
			divides("shardkeeper.jdbc.table-prefix",
					(used) -> (used.consumer().transaction() == CallTransaction.JDBC) ? used.all().jdbc().tablePrefix()
							: Shared.NOT_COMPARED),
			harmless(TOPIC + "start", (used) -> used.topic().start()),
			harmless(TOPIC + "reset", (used) -> used.topic().reset()),
			harmless(TOPIC + "consumer.ordering", (used) -> used.consumer().ordering()),
			harmless(TOPIC + "consumer.on-failure", (used) -> used.consumer().onFailure()),
			harmless(TOPIC + "consumer.dead-letters.max-age", (used) -> used.consumer().deadLetters().maxAge()),
			harmless(TOPIC + "consumer.dead-letters.max-count", (used) -> used.consumer().deadLetters().maxCount()),
			harmless(TOPIC + "consumer.state.ttl", (used) -> used.consumer().state().ttl()),
			harmless(TOPIC + "schedule.cron", (used) -> used.topic().schedule().cron()),
			harmless(TOPIC + "schedule.interval", (used) -> used.topic().schedule().interval()),
			harmless(TOPIC + "schedule.zone", (used) -> used.topic().schedule().zone()),
			harmless(TOPIC + "schedule.missed-after", (used) -> used.topic().schedule().missedAfter()),
			harmless(TOPIC + "schedule.missed-runs", (used) -> used.topic().schedule().missedRuns()),
			harmless(TOPIC + "schedule.on-interruption", (used) -> used.topic().schedule().onInterruption()));

	private final ShardkeeperProperties properties;

	private final SourceRegistry sources;

	private final PayloadConverter converter;

	private final boolean ownSelector;

	private final boolean ownCheckpoints;

	public SharedProperties(ShardkeeperProperties properties, SourceRegistry sources, PayloadConverter converter,
			ObjectProvider<ShardSelector> selector, ListableBeanFactory beans) {
		this.properties = properties;
		this.sources = sources;
		this.converter = converter;
		this.ownSelector = selector.getIfUnique() != null;
		this.ownCheckpoints = Stream.of(beans.getBeanNamesForType(CheckpointStore.class, true, false))
			.anyMatch((name) -> !name.startsWith("shardkeeper"));
	}

	/**
	 * Returns by property, with {@code <name>} for the name of a topic, whether a
	 * difference divides the data.
	 */
	static Map<String, Boolean> compared() {
		return Stream.of(OF_INSTANCE, OF_USED_TOPIC, OF_CONSUMED_TOPIC)
			.flatMap(List::stream)
			.collect(Collectors.toMap(Shared::property, Shared::divides, (one, other) -> one, TreeMap::new));
	}

	/**
	 * Returns the settings of this instance, which consumes some topics.
	 * @throws ShardkeeperConfigurationException if no source has a topic
	 */
	public SharedSettings of(Set<String> consumed) {
		SortedMap<String, String> dividing = new TreeMap<>();
		SortedMap<String, String> harmless = new TreeMap<>();
		dividing.put("CheckpointStore", this.ownCheckpoints ? "the application's" : "Shardkeeper's");
		harmless.put("PayloadConverter", PayloadFormat.of(this.converter));
		OF_INSTANCE.forEach((shared) -> shared.add(this.properties, "", shared.divides() ? dividing : harmless));
		this.properties.topics().forEach((name, topic) -> {
			Used used = new Used(name, topic, this.properties, source(name), this.ownSelector);
			Stream.concat(OF_USED_TOPIC.stream(), consumed.contains(name) ? OF_CONSUMED_TOPIC.stream() : Stream.of())
				.forEach((shared) -> shared.add(used, name, shared.divides() ? dividing : harmless));
		});
		return new SharedSettings(dividing, harmless);
	}

	/** Topics without a source belong to those of the application, if it has any. */
	private String source(String topic) {
		if (!this.sources.names().contains(topic)) {
			throw new ShardkeeperConfigurationException(
					"'shardkeeper.topics.%s' is set, but no ShardSource bean has the topic.".formatted(topic),
					"Set 'shardkeeper.topics.%s.source' to one that is built in, for example 'redis', have a ShardSource bean return the topic, or remove the properties."
						.formatted(topic));
		}
		return this.sources.name(topic);
	}

	private static <T> Shared<T> divides(String property, Function<T, @Nullable Object> value) {
		return new Shared<>(property, true, value);
	}

	private static <T> Shared<T> harmless(String property, Function<T, @Nullable Object> value) {
		return new Shared<>(property, false, value);
	}

	/**
	 * A property that is compared.
	 *
	 * @param divides whether a difference divides the data
	 * @param value returns the value in effect
	 */
	private record Shared<T>(String property, boolean divides, Function<T, @Nullable Object> value) {

		private static final Object NOT_COMPARED = new Object();

		void add(T from, String topic, Map<String, String> values) {
			Object found = this.value.apply(from);
			if (found != NOT_COMPARED) {
				values.put(this.property.replace("<name>", topic), text(found));
			}
		}

		private static String text(@Nullable Object value) {
			if (value instanceof Enum<?> constant) {
				return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
			}
			String text = Objects.toString(value, "");
			return text.isEmpty() ? "not set" : text;
		}

	}

	/** A topic that the instance uses. */
	private record Used(String name, Topic topic, ShardkeeperProperties all, String source, boolean ownSelector) {

		Consumer consumer() {
			return this.all.consumer().overriddenBy(this.topic.consumer());
		}

		@Nullable String kafkaName() {
			KafkaTopicProperties kafka = this.all.kafka().topics().get(this.name);
			return (kafka == null || kafka.name() == null && kafka.pattern() == null) ? this.name : kafka.name();
		}

		@Nullable String kafkaPattern() {
			KafkaTopicProperties kafka = this.all.kafka().topics().get(this.name);
			return (kafka != null) ? kafka.pattern() : null;
		}

		String logstore() {
			SlsTopicProperties sls = this.all.sls().topics().get(this.name);
			String logstore = (sls != null) ? sls.logstore() : null;
			return (logstore != null) ? logstore : this.name;
		}

		@Nullable String keyField() {
			SlsTopicProperties sls = this.all.sls().topics().get(this.name);
			return (sls != null) ? sls.keyField() : null;
		}

		String selector() {
			String bean = this.topic.selector();
			return (bean != null && !bean.isEmpty()) ? bean
					: this.ownSelector ? "the ShardSelector bean" : "the hash of the key";
		}

		/** Returns a value that only topics of a source have. */
		@Nullable Object of(String sourceOfValue, @Nullable Object value) {
			return this.source.equals(sourceOfValue) ? value : Shared.NOT_COMPARED;
		}

	}

}
