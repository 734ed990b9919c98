package io.github.shardkeeper.autoconfigure.properties;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.Environment;

import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties.Topic;
import io.github.shardkeeper.text.NearestName;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * Checks that what is set below {@code shardkeeper} exists, in all sources but
 * environment variables and system properties, where other software may use the prefix.
 * <p>
 * A name that only a newer version may know is a warning by default: after a rollback the
 * configuration is still the newer one. What no version accepts is a problem: a property
 * without a value, and a topic whose name has a dot and is not in brackets.
 */
final class PropertyNames {

	private static final Logger logger = PrintableLogger.of(PropertyNames.class);

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("shardkeeper");

	private static final String BRACKETS = "If the topic's name has a dot, write it in brackets: '%s[%s.%s]'; the properties of a topic are %s.";

	private final Environment environment;

	private final boolean strict;

	private final PropertyProblems problems;

	/**
	 * Creates a check.
	 * @param strict whether an unknown name is a problem
	 */
	PropertyNames(Environment environment, boolean strict, PropertyProblems problems) {
		this.environment = environment;
		this.strict = strict;
		this.problems = problems;
	}

	void check() {
		Map<ConfigurationPropertyName, ConfigurationProperty> set = new TreeMap<>();
		StreamSupport.stream(ConfigurationPropertySources.get(this.environment).spliterator(), false)
			.filter(new UnboundElementsSourceFilter()::apply)
			.filter(IterableConfigurationPropertySource.class::isInstance)
			.map(IterableConfigurationPropertySource.class::cast)
			.forEach((source) -> source.stream().filter(PREFIX::isAncestorOf).forEach((name) -> {
				ConfigurationProperty property = source.getConfigurationProperty(name);
				if (property != null) {
					set.putIfAbsent(name, property);
				}
			}));
		set.values().forEach(this::check);
	}

	/** Follows the name through the records, to its first element that is unknown. */
	private void check(ConfigurationProperty property) {
		ConfigurationPropertyName name = property.getName();
		Type type = ShardkeeperProperties.class;
		if (GroupEnvironment.name(this.environment).isEmpty() && GroupEnvironment.GROUPS.isAncestorOf(name)) {
			// Checked in the environment of the group.
			return;
		}
		for (int i = 1; i < name.getNumberOfElements(); i++) {
			if (isMapOfValues(type)) {
				// The rest of the name is the key, with all its dots.
				type = ((ParameterizedType) type).getActualTypeArguments()[1];
				break;
			}
			Type next = below(type, name, i);
			if (next == null) {
				reportUnknown(property, i, type);
				return;
			}
			type = next;
		}
		// A text or a list may be empty; of a group, binding has refused any other value.
		if (type instanceof Class<?> && type != String.class && isEmpty(name)) {
			report(true, property, "is empty", isRecord(type)
					? "Remove '" + shown(name) + "', or set one of the properties below it."
					: "Give it a value, or remove it. If the value comes from a variable, check that the variable is set.");
		}
	}

	private boolean isEmpty(ConfigurationPropertyName name) {
		return Binder.get(this.environment).bind(name, Bindable.of(String.class)).orElse("").isEmpty();
	}

	private void reportUnknown(ConfigurationProperty property, int index, Type owner) {
		ConfigurationPropertyName name = property.getName();
		boolean ofTopic = owner == Topic.class && index < name.getNumberOfElements() - 1;
		boolean dotted = ofTopic && below(Topic.class, name, index + 1) != null;
		report(dotted, property, "is not a property of this version of Shardkeeper",
				ofTopic ? BRACKETS.formatted(shown(name.chop(index - 1)), name.getElement(index - 1, Form.ORIGINAL),
						name.getElement(index, Form.ORIGINAL), names(owner)) : suggestion(name, index, names(owner)));
	}

	private void report(boolean fails, ConfigurationProperty property, String problem, String fix) {
		String origin = (property.getOrigin() != null) ? ", from " + property.getOrigin() + "," : "";
		if (fails || this.strict) {
			this.problems.reject("'%s'%s %s.".formatted(shown(property.getName()), origin, problem), fix);
		}
		else {
			logger.warn("'{}'{} {}, and is ignored. {}", shown(property.getName()), origin, problem, fix);
		}
	}

	/** Returns the name as the application writes it. */
	private String shown(ConfigurationPropertyName name) {
		return GroupEnvironment.prefix(this.environment) + name.toString().substring(PREFIX.toString().length());
	}

	private String suggestion(ConfigurationPropertyName unknown, int index, List<String> names) {
		String parent = shown(unknown.chop(index));
		if (names.isEmpty()) {
			return "Write '" + parent + "', or remove it.";
		}
		String nearest = NearestName.of(unknown.getElement(index, Form.DASHED), names);
		return (nearest != null) ? "Write '%s.%s', or remove it.".formatted(parent, nearest)
				: "Remove it; the properties below '%s' are %s.".formatted(parent, names);
	}

	/** Returns the type of an element; {@code null} if its owner has no such one. */
	private static @Nullable Type below(Type owner, ConfigurationPropertyName name, int index) {
		if (owner instanceof ParameterizedType generic) {
			Type[] arguments = generic.getActualTypeArguments();
			boolean element = generic.getRawType() == List.class && name.isNumericIndex(index);
			return (generic.getRawType() == Map.class) ? arguments[1] : element ? arguments[0] : null;
		}
		String element = name.getElement(index, Form.UNIFORM);
		return Arrays.stream(components(owner))
			.filter((component) -> component.getName().equalsIgnoreCase(element))
			.findFirst()
			.map(RecordComponent::getGenericType)
			.orElse(null);
	}

	private List<String> names(Type owner) {
		boolean hasGroups = owner == ShardkeeperProperties.class && GroupEnvironment.name(this.environment).isEmpty();
		return Stream
			.concat(Arrays.stream(components(owner)).map(RecordComponent::getName),
					hasGroups ? Stream.of("groups") : Stream.of())
			.map(DataObjectPropertyName::toDashedForm)
			.toList();
	}

	private static RecordComponent[] components(Type owner) {
		return isRecord(owner) ? ((Class<?>) owner).getRecordComponents() : new RecordComponent[0];
	}

	private static boolean isMapOfValues(Type type) {
		return type instanceof ParameterizedType generic && generic.getRawType() == Map.class
				&& !isRecord(generic.getActualTypeArguments()[1]);
	}

	private static boolean isRecord(Type type) {
		return type instanceof Class<?> found && found.isRecord();
	}

}
