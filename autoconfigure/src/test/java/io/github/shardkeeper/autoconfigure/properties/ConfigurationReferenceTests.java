package io.github.shardkeeper.autoconfigure.properties;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.shardkeeper.assignment.selection.BuiltInStrategy;
import io.github.shardkeeper.autoconfigure.properties.ConfigurationMetadata.Hint;
import io.github.shardkeeper.autoconfigure.properties.ConfigurationMetadata.Property;
import io.github.shardkeeper.autoconfigure.source.SourceSelection;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The metadata describe every property, and the reference page shows them.
 */
class ConfigurationReferenceTests {

	private static final Path PROJECT = Path.of("..");

	private static final Path REFERENCE = PROJECT.resolve("docs/reference");

	private static final String UPDATE = "shardkeeper.docs.update";

	private static final Pattern STRING = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

	/** Name of a property, perhaps with placeholders, and perhaps only its beginning. */
	private static final Pattern NAME = Pattern
		.compile("(?<![\\w./:-])(?:shardkeeper|management\\.(?:endpoint|health))(?:\\.[\\w%{}<>*\\[\\]-]+)+");

	private static final ConfigurationMetadata METADATA = ConfigurationMetadata.read();

	@Test
	void pageShowsTheMetadata() throws IOException {
		Path page = REFERENCE.resolve("properties.md");
		String expected = new ConfigurationReference(METADATA).render();
		if (Boolean.getBoolean(UPDATE)) {
			Files.writeString(page, expected);
		}

		assertThat(page)
			.as("Update the page: mvn -pl autoconfigure -am test -Dtest=%s -D%s=true "
					+ "-Dsurefire.failIfNoSpecifiedTests=false", getClass().getSimpleName(), UPDATE)
			.content()
			.isEqualTo(expected);
	}

	@Test
	void metadataDescribeEveryPropertyWithItsDefault() {
		Map<String, String> bindable = new TreeMap<>();
		collect("shardkeeper.", ShardkeeperProperties.class, bindable);
		Map<String, String> described = METADATA.properties()
			.values()
			.stream()
			.filter((property) -> property.name().startsWith("shardkeeper.") && !property.isGroup())
			.collect(Collectors.toMap(Property::name, Property::defaultValue, (one, other) -> one, TreeMap::new));

		assertThat(described).isEqualTo(bindable);
	}

	/** In messages and conditions of all modules. */
	@Test
	void everyPropertyThatTheCodeNamesExists() throws IOException {
		Set<String> others = metersAndObservations();
		Set<String> unknown = new TreeSet<>();
		Set<String> known = new HashSet<>();
		for (Path source : mainSources()) {
			for (String text : STRING.matcher(Files.readString(source))
				.results()
				.map((text) -> text.group(1))
				.toList()) {
				for (String name : NAME.matcher(text).results().map(MatchResult::group).toList()) {
					if (METADATA.properties().keySet().stream().anyMatch((property) -> isPartOf(name, property))) {
						known.add(name);
					}
					else if (!others.contains(name)) {
						unknown.add(source.getFileName() + ": " + name);
					}
				}
			}
		}

		assertThat(unknown).isEmpty();
		assertThat(known).contains("shardkeeper.store", "shardkeeper.topics.%s.source", "shardkeeper.sls.fetch-count",
				"management.health.shardkeeper.enabled");
	}

	/** Health indicators are switched by a property that the code does not spell out. */
	@Test
	void everyHealthIndicatorHasItsProperty() throws IOException {
		Pattern condition = Pattern.compile("@ConditionalOnEnabledHealthIndicator\\(\"(\\w+)\"\\)");
		Set<String> switches = new HashSet<>();
		for (Path source : mainSources()) {
			condition.matcher(Files.readString(source))
				.results()
				.forEach((indicator) -> switches.add("management.health." + indicator.group(1) + ".enabled"));
		}

		assertThat(switches).isNotEmpty();
		assertThat(METADATA.properties()).containsKeys(switches.toArray(String[]::new));
	}

	@Test
	void descriptionsAreNounPhrases() {
		for (Property property : METADATA.properties().values()) {
			assertThat(property.description()).as(property.name())
				.matches("[A-Z].*[.]")
				.doesNotContainPattern("^(The|A|An|What|Who|How|If|Sets?|Enables?) ");
			assertThat(property.description().startsWith("Whether ")).as(property.name())
				.isEqualTo(property.type().equals("java.lang.Boolean"));
		}
	}

	@Test
	void everyHintIsOfPropertyAndNamesTypesThatExist() {
		assertThat(METADATA.properties().keySet()).containsAll(METADATA.hints().keySet());
		METADATA.hints()
			.values()
			.stream()
			.flatMap((hint) -> hint.targets().values().stream())
			.filter((target) -> !target.isEmpty())
			.forEach(ConfigurationMetadata::loadClass);
	}

	@Test
	void hintsListTheValuesThatExist() {
		for (String property : List.of("shardkeeper.assignment.strategy", "shardkeeper.topics.<name>.strategy")) {
			assertThat(METADATA.hints().get(property).values())
				.containsExactlyInAnyOrderElementsOf(BuiltInStrategy.names());
		}
		assertThat(METADATA.hints().get("shardkeeper.topics.<name>.source").values())
			.containsExactlyInAnyOrderElementsOf(SourceSelection.BUILT_IN.keySet());
	}

	@Test
	void propertiesThatNameClassesAndBeansHaveHints() {
		Set<String> beans = new TreeSet<>();
		for (Property property : METADATA.properties().values()) {
			Hint hint = METADATA.hints().getOrDefault(property.name(), Hint.NONE);
			if (property.type().contains("java.lang.Class")) {
				assertThat(hint.targets()).as(property.name()).containsKey("class-reference");
			}
			if (property.description().matches("Name of the \\w+ bean .*")) {
				assertThat(hint.targets()).as(property.name()).containsKey("spring-bean-reference");
				beans.add(property.name());
			}
		}
		assertThat(beans).containsExactly("shardkeeper.jdbc.transaction-manager", "shardkeeper.json-mapper",
				"shardkeeper.topics.<name>.converter", "shardkeeper.topics.<name>.failure-handler",
				"shardkeeper.topics.<name>.names-bean", "shardkeeper.topics.<name>.selector");
	}

	@Test
	void everyExplanationExists() throws IOException {
		for (Map.Entry<String, String> link : new ConfigurationReference(METADATA).explanations().entrySet()) {
			assertThat(METADATA.properties().keySet()).as(link.getKey())
				.anyMatch((property) -> ConfigurationReference.isBelow(property, link.getKey()));
			String[] target = link.getValue().split("#");
			Path page = REFERENCE.resolve(target[0]);
			assertThat(page).as(link.getKey()).isRegularFile();
			if (target.length > 1) {
				assertThat(Files.readAllLines(page)
					.stream()
					.filter((line) -> line.startsWith("#"))
					.map(ConfigurationReferenceTests::anchor)).as(link.getKey()).contains(target[1]);
			}
		}
	}

	private static String anchor(String heading) {
		return heading.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT).replaceAll("[^\\w -]", "").replace(' ', '-');
	}

	/**
	 * Returns whether a name with placeholders is that of a property, or its beginning.
	 */
	private static boolean isPartOf(String name, String property) {
		String[] elements = name.split("\\.");
		String[] expected = property.split("\\.");
		if (elements.length > expected.length) {
			return false;
		}
		for (int i = 0; i < elements.length; i++) {
			boolean placeholder = elements[i].matches("%s|\\{}|\\*|<.*>|\\[.*]");
			if (!placeholder && !expected[i].startsWith("<") && !elements[i].equals(expected[i])) {
				return false;
			}
		}
		return true;
	}

	/** Returns other names that begin with {@code shardkeeper}. */
	private static Set<String> metersAndObservations() throws IOException {
		Pattern title = Pattern.compile("(?m)^(?:\\| |#.*: )`(shardkeeper\\.[a-z.]+)`");
		Set<String> names = new HashSet<>();
		for (String page : List.of("endpoint.md", "observations.md")) {
			title.matcher(Files.readString(REFERENCE.resolve(page)))
				.results()
				.forEach((name) -> names.add(name.group(1)));
		}
		return names;
	}

	private static List<Path> mainSources() throws IOException {
		List<Path> sources = new ArrayList<>();
		for (String module : List.of("core", "memory", "operations", "tools", "redis", "kafka", "sls", "jdbc", "test",
				"autoconfigure")) {
			try (Stream<Path> files = Files.walk(PROJECT.resolve(module).resolve("src/main/java"))) {
				files.filter((file) -> file.toString().endsWith(".java")).forEach(sources::add);
			}
		}
		return sources;
	}

	/**
	 * Collects all properties of a record with their defaults, empty if there is none.
	 */
	private static void collect(String prefix, Class<?> type, Map<String, String> properties) {
		Constructor<?> constructor = type.getDeclaredConstructors()[0];
		RecordComponent[] components = type.getRecordComponents();
		for (int i = 0; i < components.length; i++) {
			RecordComponent component = components[i];
			String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
			Class<?> of = component.getType();
			if (of == Map.class) {
				Class<?> value = (Class<?>) ((ParameterizedType) component.getGenericType())
					.getActualTypeArguments()[1];
				if (value.isRecord()) {
					collect(name + ".<name>.", value, properties);
				}
				else {
					properties.put(name + (prefix.contains("<") ? ".<shard>" : ".<name>"), "");
				}
			}
			else if (of.isRecord()) {
				collect(name + ".", of, properties);
			}
			else {
				DefaultValue byDefault = constructor.getParameters()[i].getAnnotation(DefaultValue.class);
				properties.put(name, (byDefault != null) ? String.join(",", byDefault.value()) : "");
			}
		}
	}

}
