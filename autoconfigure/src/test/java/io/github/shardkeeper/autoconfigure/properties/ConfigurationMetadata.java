package io.github.shardkeeper.autoconfigure.properties;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Configuration metadata as the jar contains it: that of all properties, and that of the
 * values of maps, which Spring Boot's annotation processor keeps apart. Immutable.
 */
final class ConfigurationMetadata {

	private static final Path META_INF = Path.of("target", "classes", "META-INF");

	private static final Pattern MAP = Pattern.compile("java\\.util\\.Map<java\\.lang\\.String,(.*)>");

	private final Map<String, Property> properties = new TreeMap<>();

	private final Map<String, Hint> hints = new TreeMap<>();

	private ConfigurationMetadata() {
	}

	static ConfigurationMetadata read() {
		ConfigurationMetadata metadata = new ConfigurationMetadata();
		metadata.read(META_INF.resolve("spring-configuration-metadata.json"), "");
		return metadata;
	}

	/** Returns all properties by name, in which {@code <name>} is the key of a map. */
	Map<String, Property> properties() {
		return this.properties;
	}

	/** Returns all hints by the name of the property. */
	Map<String, Hint> hints() {
		return this.hints;
	}

	private void read(Path file, String prefix) {
		JsonNode metadata = JsonMapper.shared().readTree(file.toFile());
		for (JsonNode node : metadata.path("properties")) {
			Property property = Property.of(prefix, node);
			Matcher map = MAP.matcher(property.type());
			if (map.matches()) {
				readMap(property, map.group(1), prefix.isEmpty() ? ".<name>" : ".<shard>");
			}
			else {
				this.properties.put(property.name(), property);
			}
		}
		for (JsonNode node : metadata.path("hints")) {
			this.hints.put(prefix + node.path("name").asString(), Hint.of(node));
		}
	}

	private void readMap(Property property, String valueType, String key) {
		String name = property.name() + key;
		Path values = META_INF.resolve("spring/configuration-metadata/" + valueType + ".json");
		if (valueType.equals(ShardkeeperProperties.class.getName())) {
			// All properties again.
			this.properties.put(name, property.as(name, "java.util.Map"));
		}
		else if (Files.exists(values)) {
			this.properties.put(name, property.as(name, "java.util.Map"));
			read(values, name + ".");
		}
		else {
			this.properties.put(name, property.as(name, valueType));
		}
	}

	/**
	 * Property, with the text of its default, empty if there is none.
	 */
	record Property(String name, String type, String defaultValue, String description, String removal) {

		static Property of(String prefix, JsonNode node) {
			return new Property(prefix + node.path("name").asString(), node.path("type").asString(),
					defaultValue(node.path("type").asString(), node.path("defaultValue").asString("")),
					node.path("description").asString(""), node.path("deprecation").path("reason").asString(""));
		}

		/** Returns a default as a user writes it. */
		private static String defaultValue(String type, String text) {
			if (type.equals("java.lang.String")) {
				return text;
			}
			return text.startsWith("[") ? text.substring(1, text.length() - 1).replace(", ", ",")
					: text.replace('_', '-');
		}

		Property as(String otherName, String otherType) {
			return new Property(otherName, otherType, this.defaultValue, this.description, this.removal);
		}

		/** Returns whether the property is a map whose values have properties. */
		boolean isGroup() {
			return this.type.equals("java.util.Map");
		}

		/** Returns the values of an enum as a user writes them. */
		List<String> enumValues() {
			if (!this.type.startsWith("io.github.shardkeeper.")
					&& !this.type.equals("org.springframework.boot.actuate.endpoint.Access")) {
				return List.of();
			}
			Class<?> values = loadClass(this.type);
			return !values.isEnum() ? List.of()
					: Stream.of(values.getEnumConstants())
						.map((constant) -> ((Enum<?>) constant).name().toLowerCase(Locale.ROOT).replace('_', '-'))
						.toList();
		}

	}

	/**
	 * Hint: values, and the types that the parameter {@code target} of a provider names.
	 */
	record Hint(List<String> values, Map<String, String> targets) {

		static final Hint NONE = new Hint(List.of(), Map.of());

		static Hint of(JsonNode node) {
			Map<String, String> targets = new HashMap<>();
			for (JsonNode provider : node.path("providers")) {
				targets.put(provider.path("name").asString(), provider.path("parameters").path("target").asString(""));
			}
			return new Hint(texts(node.path("values").valueStream().map((value) -> value.path("value"))).toList(),
					targets);
		}

	}

	static Class<?> loadClass(String name) {
		try {
			return Class.forName(name);
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException("The metadata name a class that does not exist", ex);
		}
	}

	private static Stream<String> texts(Stream<JsonNode> nodes) {
		return nodes.map(JsonNode::asString);
	}

}
