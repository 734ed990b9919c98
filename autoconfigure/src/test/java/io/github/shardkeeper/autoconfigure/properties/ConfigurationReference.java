package io.github.shardkeeper.autoconfigure.properties;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.shardkeeper.autoconfigure.properties.ConfigurationMetadata.Hint;
import io.github.shardkeeper.autoconfigure.properties.ConfigurationMetadata.Property;

/**
 * Renders {@code docs/reference/properties.md} from the configuration metadata. Links a
 * property to the page that explains it. Immutable.
 */
final class ConfigurationReference {

	private static final String INTRODUCTION = """
			# Properties

			<!-- Generated from the configuration metadata. Do not edit: ConfigurationReferenceTests says how to update. -->

			All properties of Shardkeeper, with the descriptions that an IDE shows. Names link to what explains them.
			[Configuration](configuration.md) says how to write names and values.
			""";

	/** Property names and types of Java. */
	private static final Pattern CODE = Pattern
		.compile("(?<![\\w./'])((?:spring|shardkeeper)(?:\\.[a-z][a-z0-9-]*)+(?:=\\w+)?|(?:[A-Z][a-z]+){2,})(?!\\w)");

	private static final Pattern DEFAULT = Pattern.compile(" Defaults to (.+?)\\.(?= |$)");

	private static final String FOR_ALL = "shardkeeper.consumer.";

	private static final String FOR_TOPIC = "shardkeeper.topics.<name>.consumer.";

	private final ConfigurationMetadata metadata;

	private final TreeMap<String, String> explanations = new TreeMap<>();

	ConfigurationReference(ConfigurationMetadata metadata) {
		this.metadata = metadata;
		Properties links = new Properties();
		try (InputStream file = getClass().getResourceAsStream("property-explanations.properties")) {
			links.load(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		links.forEach((name, link) -> this.explanations.put((String) name, (String) link));
	}

	/** Returns links by the name of a property, or the beginning of names. */
	TreeMap<String, String> explanations() {
		return this.explanations;
	}

	String render() {
		TreeMap<String, List<Property>> sections = new TreeMap<>();
		for (Property property : this.metadata.properties().values()) {
			if (!property.name().startsWith(FOR_TOPIC)) {
				sections.computeIfAbsent(section(property.name()), (title) -> new ArrayList<>()).add(property);
			}
		}
		StringBuilder page = new StringBuilder(INTRODUCTION);
		List<String> titles = new ArrayList<>(sections.keySet());
		// The actuator's properties are the last thing that a reader looks for.
		titles.sort((one, other) -> Boolean.compare(one.startsWith("management"), other.startsWith("management")));
		for (String title : titles) {
			page.append("\n## `").append(title).append("`\n\n");
			if (FOR_ALL.equals(title + ".")) {
				page.append(overrides());
			}
			page.append("| property | type (default) | description |\n|---|---|---|\n");
			sections.get(title).forEach((property) -> page.append(row(property)));
		}
		return page.toString();
	}

	/** Says what can be set for a topic, which would double the table. */
	private String overrides() {
		Set<String> names = this.metadata.properties().keySet();
		return names.stream()
			.filter((name) -> name.startsWith(FOR_ALL))
			.map((name) -> name.substring(FOR_ALL.length()))
			.filter((name) -> !names.contains(FOR_TOPIC + name))
			.collect(Collectors.joining("`, `", "All but `",
					"` can also be set for a topic, below `shardkeeper.topics.<name>.consumer`.\n\n"));
	}

	/** Returns the first two elements of a name, or only one if there are no more. */
	private static String section(String name) {
		String[] elements = name.split("\\.");
		return (elements.length > 2) ? elements[0] + "." + elements[1] : elements[0];
	}

	private String row(Property property) {
		Hint hint = this.metadata.hints().getOrDefault(property.name(), Hint.NONE);
		List<String> values = property.enumValues().isEmpty() ? hint.values() : property.enumValues();
		Matcher defaults = DEFAULT.matcher(property.description());
		String defaultValue = "";
		if (!property.defaultValue().isEmpty()) {
			defaultValue = " (`" + property.defaultValue() + "`)";
		}
		else if (defaults.find()) {
			String text = defaults.group(1);
			defaultValue = " (" + (text.contains(" ") ? code(text) : "`" + text + "`") + ")";
		}
		String description = code(defaults.replaceAll(""));
		if (!property.removal().isEmpty()) {
			description = "No longer supported: fails startup. " + code(property.removal());
		}
		return "| %s | %s%s | %s%s |\n".formatted(name(property.name()), type(property, hint), defaultValue,
				description, values(values, hint));
	}

	private String name(String property) {
		String code = "`" + property + "`";
		String prefix = this.explanations.floorKey(property);
		while (prefix != null && !isBelow(property, prefix)) {
			prefix = this.explanations.lowerKey(prefix);
		}
		return (prefix != null) ? "[" + code + "](" + this.explanations.get(prefix) + ")" : code;
	}

	static boolean isBelow(String property, String prefix) {
		return property.equals(prefix) || property.startsWith(prefix + ".");
	}

	private static String type(Property property, Hint hint) {
		if (property.isGroup()) {
			return "map";
		}
		if (!property.enumValues().isEmpty()) {
			return "enum";
		}
		if (hint.values().isEmpty() && hint.targets().containsKey("spring-bean-reference")) {
			return "bean name";
		}
		return "`" + property.type().replaceAll("[a-z]\\w*\\.", "") + "`";
	}

	private static String values(List<String> values, Hint hint) {
		if (values.isEmpty()) {
			return "";
		}
		String others = "";
		if (hint.targets().containsKey("spring-bean-reference")) {
			String bean = hint.targets().get("spring-bean-reference");
			others = ", or the name of a bean (`" + bean.substring(bean.lastIndexOf('.') + 1) + "`)";
		}
		else if (hint.targets().containsKey("any")) {
			others = ", and others";
		}
		return values.stream().collect(Collectors.joining("`, `", " Values: `", "`" + others + "."));
	}

	private static String code(String text) {
		return CODE.matcher(text).replaceAll("`$1`");
	}

}
