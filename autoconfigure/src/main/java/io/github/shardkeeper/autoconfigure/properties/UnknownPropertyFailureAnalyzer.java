package io.github.shardkeeper.autoconfigure.properties;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Topic;
import io.github.shardkeeper.text.NearestName;

/**
 * Reports unknown properties below {@code shardkeeper}, each with the most similar known
 * one. For Spring Boot, those without a value are unknown, too. Ordered before its own
 * analyzer, which suggests nothing.
 */
@Order(0)
public class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("shardkeeper");

	private static final String NO_VALUE = "Give it a value, or remove it. If the value comes from a variable, check that "
			+ "the variable is set.";

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, UnboundConfigurationPropertiesException cause) {
		List<ConfigurationProperty> unknown = cause.getUnboundProperties()
			.stream()
			.filter((property) -> PREFIX.isAncestorOf(property.getName()))
			.toList();
		if (unknown.isEmpty()) {
			return null;
		}
		String description = unknown.stream().map((property) -> {
			String origin = (property.getOrigin() != null) ? ", from " + property.getOrigin() + "," : "";
			return "'%s'%s %s.".formatted(property.getName(), origin,
					suggestion(property.getName()).equals(NO_VALUE) ? "is empty" : "is not a property of Shardkeeper");
		}).collect(Collectors.joining("\n"));
		String action = unknown.stream()
			.map((property) -> suggestion(property.getName()))
			.distinct()
			.collect(Collectors.joining("\n"));
		return new FailureAnalysis(description, action, cause);
	}

	/** Follows the name through the records, to its first element that is unknown. */
	private static String suggestion(ConfigurationPropertyName unknown) {
		Type type = ShardkeeperProperties.class;
		for (int i = 1; i < unknown.getNumberOfElements(); i++) {
			if (type instanceof ParameterizedType map && map.getRawType() == Map.class) {
				type = map.getActualTypeArguments()[1];
				continue;
			}
			RecordComponent[] components = (type instanceof Class<?> owner && owner.isRecord())
					? owner.getRecordComponents() : new RecordComponent[0];
			String element = unknown.getElement(i, Form.UNIFORM);
			RecordComponent found = Arrays.stream(components)
				.filter((component) -> component.getName().equalsIgnoreCase(element))
				.findFirst()
				.orElse(null);
			if (found == null) {
				return suggestion(unknown, i, type,
						Arrays.stream(components)
							.map((component) -> DataObjectPropertyName.toDashedForm(component.getName()))
							.toList());
			}
			type = found.getGenericType();
		}
		return (type instanceof Class<?> owner && owner.isRecord())
				? "Remove '" + unknown + "', or set one of the properties below it." : NO_VALUE;
	}

	private static String suggestion(ConfigurationPropertyName unknown, int index, Type owner, List<String> names) {
		String parent = unknown.chop(index).toString();
		if (names.isEmpty()) {
			return "Write '" + parent + "', or remove it.";
		}
		if (owner == Topic.class && index < unknown.getNumberOfElements() - 1) {
			return "If the topic's name has a dot, write it in brackets: '%s[%s.%s]'; the properties of a topic are %s."
				.formatted(unknown.chop(index - 1), unknown.getElement(index - 1, Form.ORIGINAL),
						unknown.getElement(index, Form.ORIGINAL), names);
		}
		String wrong = unknown.getElement(index, Form.DASHED);
		String nearest = NearestName.of(wrong, names);
		return (nearest != null) ? "Write '%s.%s', or remove it.".formatted(parent, nearest)
				: "Remove it; the properties below '%s' are %s.".formatted(parent, names);
	}

}
