package io.github.shardkeeper.autoconfigure;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Comparator;
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

import io.github.shardkeeper.autoconfigure.ShardkeeperProperties.Topic;

/**
 * Reports unknown properties below {@code shardkeeper}, each with the most similar known
 * one. Ordered before Spring Boot's own analyzer, which suggests nothing.
 */
@Order(0)
class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("shardkeeper");

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
			return "'%s'%s is not a property of Shardkeeper.".formatted(property.getName(), origin);
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
		return "Remove '" + unknown + "', or set one of the properties below it.";
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
		String nearest = names.stream().min(Comparator.comparingInt((name) -> distance(wrong, name))).orElseThrow();
		return (distance(wrong, nearest) <= nearest.length() / 2)
				? "Write '%s.%s', or remove it.".formatted(parent, nearest)
				: "Remove it; the properties below '%s' are %s.".formatted(parent, names);
	}

	/** Returns the Levenshtein distance. */
	private static int distance(String one, String other) {
		int[] above = new int[other.length() + 1];
		Arrays.setAll(above, (i) -> i);
		for (int i = 1; i <= one.length(); i++) {
			int[] row = new int[other.length() + 1];
			row[0] = i;
			for (int j = 1; j <= other.length(); j++) {
				int replaced = above[j - 1] + ((one.charAt(i - 1) != other.charAt(j - 1)) ? 1 : 0);
				row[j] = Math.min(replaced, 1 + Math.min(above[j], row[j - 1]));
			}
			above = row;
		}
		return above[other.length()];
	}

}
