package io.github.shardkeeper.autoconfigure.properties;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pages' YAML can be read, and has only properties that exist: Shardkeeper's, and
 * those of Spring Boot. That of a manifest's {@code application.yaml}, too.
 */
class GuideYamlTests {

	private static final Path PROJECT = Path.of("..");

	private static final Pattern BLOCK = Pattern.compile("(?ms)^ *```yaml\\n(.*?)^ *```");

	private static final String FILE_OF_A_MANIFEST = "data.application.yaml";

	private static final Pattern OURS = Pattern.compile("(shardkeeper|management|spring|server|logging)[.\\[].*");

	private static final Pattern LIST = Pattern.compile("java\\.util\\.List<(io\\.github\\.shardkeeper\\.[\\w.]+)>");

	/** Names of properties; those of maps end with a dot. */
	private static final Set<String> KNOWN = known();

	@ParameterizedTest
	@MethodSource("pages")
	void everyPropertyExists(Path page) throws IOException {
		Set<String> unknown = new TreeSet<>();
		for (String block : blocks(page)) {
			unknown.addAll(unknown(block));
		}

		assertThat(unknown).isEmpty();
	}

	@Test
	void unknownPropertyIsFound() throws IOException {
		assertThat(unknown("shardkeeper:\n  topics:\n    visits:\n      shard: 8\n      shards: 8\n"))
			.containsExactly("shardkeeper.topics.visits.shard");
		assertThat(unknown("data:\n  application.yaml: |\n    spring:\n      lifecycle: 1s\n"))
			.containsExactly("spring.lifecycle");
	}

	static Stream<Path> pages() throws IOException {
		List<Path> pages = new ArrayList<>();
		try (Stream<Path> top = Files.list(PROJECT); Stream<Path> docs = Files.walk(PROJECT.resolve("docs"))) {
			Stream.concat(top, docs).filter((file) -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
		}
		List<Path> found = new ArrayList<>();
		for (Path page : pages) {
			if (!blocks(page).isEmpty()) {
				found.add(page);
			}
		}
		assertThat(found).hasSizeGreaterThan(15);
		return found.stream();
	}

	private static List<String> blocks(Path page) throws IOException {
		return BLOCK.matcher(Files.readString(page)).results().map((block) -> block.group(1).stripIndent()).toList();
	}

	private static Set<String> unknown(String yaml) throws IOException {
		Set<String> unknown = new TreeSet<>();
		for (PropertySource<?> document : new YamlPropertySourceLoader().load("page",
				new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))) {
			for (String name : ((EnumerablePropertySource<?>) document).getPropertyNames()) {
				if (name.equals(FILE_OF_A_MANIFEST)) {
					unknown.addAll(unknown(document.getProperty(name).toString()));
				}
				else if (OURS.matcher(name).matches() && !isKnown(name)) {
					unknown.add(name);
				}
			}
		}
		return unknown;
	}

	private static boolean isKnown(String name) {
		String ofTopic = name.replaceFirst("^shardkeeper\\.groups\\.[^.\\[]+", "shardkeeper")
			.replaceAll("\\.topics(\\.[^.\\[]+|\\[[^]]+])", ".topics.<name>");
		return KNOWN.contains(ofTopic) || KNOWN.contains(ofTopic.replaceAll("\\[\\d+]$", ""))
				|| KNOWN.contains(ofTopic.replaceFirst("\\[\\d+]\\.", "[]."))
				|| KNOWN.stream().anyMatch((map) -> map.endsWith(".") && ofTopic.replace('[', '.').startsWith(map));
	}

	private static Set<String> known() {
		Set<String> known = new HashSet<>();
		ConfigurationMetadata.read().properties().forEach((name, property) -> {
			known.add(name);
			if (name.endsWith(".<shard>") || name.endsWith(".<name>") && !property.isGroup()) {
				known.add(name.substring(0, name.lastIndexOf('<')));
			}
			// Metadata do not describe the elements of a list.
			Matcher list = LIST.matcher(property.type());
			if (list.matches()) {
				for (RecordComponent component : ConfigurationMetadata.loadClass(list.group(1)).getRecordComponents()) {
					known.add(name + "[]." + DataObjectPropertyName.toDashedForm(component.getName()));
				}
			}
		});
		try {
			for (URL file : Collections.list(GuideYamlTests.class.getClassLoader()
				.getResources("META-INF/spring-configuration-metadata.json"))) {
				try (InputStream metadata = file.openStream()) {
					read(JsonMapper.shared().readTree(metadata), known);
				}
			}
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		return known;
	}

	private static void read(JsonNode metadata, Set<String> known) {
		for (JsonNode property : metadata.path("properties")) {
			String name = property.path("name").asString();
			if (!name.startsWith("shardkeeper.")) {
				known.add(property.path("type").asString("").startsWith("java.util.Map") ? name + "." : name);
			}
		}
	}

}
