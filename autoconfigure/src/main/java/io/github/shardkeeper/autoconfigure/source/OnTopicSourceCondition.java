package io.github.shardkeeper.autoconfigure.source;

import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** See {@link ConditionalOnTopicSource}. */
public final class OnTopicSourceCondition extends SpringBootCondition implements ConfigurationCondition {

	/** The application's own beans must be known. */
	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		Map<String, @Nullable Object> attributes = Objects
			.requireNonNull(metadata.getAnnotationAttributes(ConditionalOnTopicSource.class.getName()));
		String source = (String) Objects.requireNonNull(attributes.get("value"));
		ConditionMessage.Builder message = ConditionMessage.forCondition(ConditionalOnTopicSource.class);
		if (sources(context.getEnvironment()).containsValue(source)) {
			return ConditionOutcome.match(message.because("a topic has the source '%s'".formatted(source)));
		}
		ConfigurableListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
		if (source.equals(SourceSelection.store(context.getEnvironment()))
				&& SourceSelection.applicationSources(beans).isEmpty()) {
			return ConditionOutcome.match(message.because("it is the default"));
		}
		return ConditionOutcome.noMatch(message.because("no topic has the source '%s'".formatted(source)));
	}

	/** Returns the configured sources by topic. */
	public static Map<String, String> sources(Environment environment) {
		Map<String, String> sources = new TreeMap<>();
		Binder.get(environment)
			.bind("shardkeeper.topics", Bindable.mapOf(String.class, TopicSource.class))
			.orElseGet(Map::of)
			.forEach((topic, properties) -> {
				String source = properties.source();
				if (source != null && !source.isBlank()) {
					sources.put(topic, source.strip());
				}
			});
		return sources;
	}

	/**
	 * The only property of a topic that decides which beans exist.
	 *
	 * @param source the name of a source
	 */
	record TopicSource(@Nullable String source) {

	}

}
