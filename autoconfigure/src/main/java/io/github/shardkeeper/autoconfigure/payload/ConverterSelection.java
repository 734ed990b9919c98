package io.github.shardkeeper.autoconfigure.payload;

import java.lang.reflect.Type;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;
import io.github.shardkeeper.source.SourceRecord;

/**
 * The converters of payloads: of a topic the one that it names; of all others the only or
 * primary bean, which is that of JSON if the application has none. Thread-safe.
 */
public final class ConverterSelection {

	/** Name by which a topic chooses JSON, unless a bean has it. */
	private static final String JSON = "json";

	private static final String PROPERTY = "shardkeeper.topics.%s.converter";

	private final Map<String, PayloadConverter> named = new HashMap<>();

	private final PayloadConverter otherwise;

	/**
	 * Selects the converters.
	 * @param topics the topics with records
	 * @param names the names of converters by the topics that name one
	 * @throws ShardkeeperConfigurationException if there is no bean of a name, or several
	 * could be that of a topic: what is stored would be read in another format
	 */
	public ConverterSelection(ConfigurableListableBeanFactory beans, PayloadConverter json, Set<String> topics,
			Map<String, String> names) {
		names.forEach((topic, name) -> this.named.put(topic, named(beans, json, topic, name)));
		Set<String> others = new TreeSet<>(topics);
		others.removeAll(names.keySet());
		PayloadConverter unique = beans.getBeanProvider(PayloadConverter.class).getIfUnique();
		if (!others.isEmpty()) {
			requireClear(beans, names, unique, others);
		}
		this.otherwise = (unique != null) ? unique : json;
	}

	private static PayloadConverter named(ConfigurableListableBeanFactory beans, PayloadConverter json, String topic,
			String name) {
		if (beans.containsBean(name) && beans.getBean(name) instanceof PayloadConverter converter) {
			return converter;
		}
		if (name.equals(JSON)) {
			return json;
		}
		Set<String> known = new TreeSet<>(List.of(names(beans)));
		known.add(JSON);
		throw new ShardkeeperConfigurationException(
				("'" + PROPERTY + "' is '%s', but there is no PayloadConverter bean of that name.").formatted(topic,
						name),
				"Write one of %s, or leave the property out.".formatted(String.join(", ", known)));
	}

	private void requireClear(ConfigurableListableBeanFactory beans, Map<String, String> names,
			@Nullable PayloadConverter unique, Set<String> others) {
		String property = PROPERTY.formatted(others.iterator().next());
		if (unique == null) {
			throw new ShardkeeperConfigurationException(
					"There are several PayloadConverter beans, %s, and no topic setting says which one is that of %s."
						.formatted(String.join(", ", names(beans)), String.join(", ", others)),
					"Mark one of them as @Primary, or set '%s' to the name of one, or to '%s'.".formatted(property,
							JSON));
		}
		names.forEach((topic, name) -> {
			if (this.named.get(topic) == unique && !isPrimary(beans, name)) {
				throw new ShardkeeperConfigurationException(
						"The topic '%s' names the PayloadConverter '%s', and it is the only one: it is not clear whether it is also that of %s."
							.formatted(topic, name, String.join(", ", others)),
						"Set '%s' to '%s' or '%s'. Or declare the bean with '@Bean(defaultCandidate = false)', so that only topics that name it use it, or as @Primary, so that all others do."
							.formatted(property, name, JSON));
			}
		});
	}

	private static String[] names(ConfigurableListableBeanFactory beans) {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, PayloadConverter.class);
	}

	private static boolean isPrimary(ConfigurableListableBeanFactory beans, String name) {
		return beans.containsBeanDefinition(name) && beans.getMergedBeanDefinition(name).isPrimary();
	}

	/** Returns the converter of topics that name none, and of what has no topic. */
	public PayloadConverter otherwise() {
		return this.otherwise;
	}

	/** Returns the format of a topic's payloads. */
	public String format(String topic) {
		return PayloadFormat.of(this.named.getOrDefault(topic, this.otherwise));
	}

	/**
	 * Returns a converter that treats each record as its topic says.
	 * @param clients what clients of sources convert, of topics that name no converter
	 */
	public PayloadConverter ofTopics(Iterable<TopicPayloads> clients) {
		Map<String, PayloadConverter> byTopic = new HashMap<>();
		clients.forEach((some) -> some.topics().forEach((topic) -> byTopic.put(topic, some.converter())));
		byTopic.putAll(this.named);
		return byTopic.isEmpty() ? this.otherwise : new ByTopic(Map.copyOf(byTopic), this.otherwise);
	}

	private record ByTopic(Map<String, PayloadConverter> byTopic,
			PayloadConverter otherwise) implements PayloadConverter {

		@Override
		public byte[] write(Object payload) {
			return this.otherwise.write(payload);
		}

		@Override
		public byte[] write(ShardId shard, Object payload, Map<String, String> headers) {
			PayloadConverter converter = of(shard);
			return notNull(converter.write(shard, payload, headers), converter, "write");
		}

		@Override
		public Object read(byte[] payload, Type type) {
			return this.otherwise.read(payload, type);
		}

		@Override
		public Object read(ShardId shard, SourceRecord source, Type type) {
			PayloadConverter converter = of(shard);
			return notNull(converter.read(shard, source, type), converter, "read");
		}

		/** Checked here, where the converter is known by its name. */
		private static <T> T notNull(@Nullable T converted, PayloadConverter converter, String method) {
			return Objects.requireNonNull(converted,
					() -> "%s.%s has returned null".formatted(converter.getClass().getName(), method));
		}

		private PayloadConverter of(ShardId shard) {
			return this.byTopic.getOrDefault(shard.topic(), this.otherwise);
		}

	}

}
