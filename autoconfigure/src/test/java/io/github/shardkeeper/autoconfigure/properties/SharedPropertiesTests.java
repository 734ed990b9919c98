package io.github.shardkeeper.autoconfigure.properties;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import io.github.shardkeeper.ShardSelector;
import io.github.shardkeeper.coordination.store.SharedSettings;
import io.github.shardkeeper.source.JsonPayloadConverter;
import io.github.shardkeeper.source.SourceRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

class SharedPropertiesTests {

	private static final Path REFERENCE = Path.of("..", "docs", "reference", "configuration.md");

	private static final Pattern ROW = Pattern
		.compile("(?m)^\\| (divides the data|harmless|may differ) \\| ([^|]*) \\|");

	private static final Pattern PROPERTY = Pattern.compile("`((?:shardkeeper|management)\\.[^`]*)`");

	/** A new property has to be decided. */
	@Test
	void referenceSaysOfEveryPropertyWhetherInstancesMayDiffer() throws IOException {
		Map<String, String> documented = documented();
		Map<String, Boolean> compared = new HashMap<>();
		SharedProperties.compared().forEach((property, divides) -> compared.put(general(property), divides));
		Map<String, String> expected = new TreeMap<>();
		Map<String, String> found = new TreeMap<>();
		for (ConfigurationMetadata.Property property : ConfigurationMetadata.read().properties().values()) {
			if (property.isGroup()) {
				continue;
			}
			String name = general(property.name());
			Boolean divides = compared.get(name);
			expected.put(name, (divides == null) ? "may differ" : divides ? "divides the data" : "harmless");
			found.put(name,
					documented.entrySet()
						.stream()
						.filter((row) -> row.getKey().endsWith("*")
								? name.startsWith(row.getKey().substring(0, row.getKey().length() - 1))
								: name.equals(row.getKey()))
						.max(Comparator.comparing((row) -> row.getKey().length()))
						.map(Map.Entry::getValue)
						.orElse("not in the table"));
		}

		assertThat(found).isEqualTo(expected);
		assertThat(expected.keySet()).containsAll(compared.keySet());
	}

	private static Map<String, String> documented() throws IOException {
		Map<String, String> kinds = new HashMap<>();
		Matcher row = ROW.matcher(Files.readString(REFERENCE));
		while (row.find()) {
			String kind = row.group(1);
			PROPERTY.matcher(row.group(2)).results().forEach((property) -> kinds.put(property.group(1), kind));
		}
		return kinds;
	}

	/** A property of a topic that overrides another one is decided like that. */
	private static String general(String property) {
		return property.replace("shardkeeper.topics.<name>.consumer.", "shardkeeper.consumer.");
	}

	@ParameterizedTest
	@CsvSource({ "shardkeeper.json-mapper, mine", "shardkeeper.max-record-size, 1MB",
			"shardkeeper.redis.record-ids.retention, 1h", "shardkeeper.redis.record-ids.max-count, 5",
			"shardkeeper.kafka.deserializers, true", "shardkeeper.kafka.serializers, true",
			"shardkeeper.kafka.mirror-group, other", "shardkeeper.sls.consumer-group, other",
			"shardkeeper.jdbc.transaction-manager, other", "shardkeeper.jdbc.table-prefix, other_",
			"shardkeeper.topics.<name>.selector, other", "shardkeeper.topics.<name>.converter, other",
			"shardkeeper.kafka.topics.<name>.name, other", "shardkeeper.kafka.topics.<name>.pattern, other.*",
			"shardkeeper.sls.project, other", "shardkeeper.sls.topics.<name>.logstore, other",
			"shardkeeper.sls.topics.<name>.key-field, other", "shardkeeper.topics.<name>.trim.max-length, 5",
			"shardkeeper.topics.<name>.trim.max-age, 1d", "shardkeeper.topics.<name>.trim.beyond-checkpoints, true",
			"shardkeeper.topics.<name>.mode, broadcast", "shardkeeper.topics.<name>.consumer.transaction, none",
			"shardkeeper.topics.<name>.start, latest", "shardkeeper.topics.<name>.reset, latest",
			"shardkeeper.topics.<name>.consumer.ordering, key", "shardkeeper.topics.<name>.consumer.on-failure, halt",
			"shardkeeper.topics.<name>.consumer.dead-letters.max-age, 1d",
			"shardkeeper.topics.<name>.consumer.dead-letters.max-count, 5",
			"shardkeeper.topics.<name>.consumer.state.ttl, 30d", "shardkeeper.topics.<name>.schedule.cron, @daily",
			"shardkeeper.topics.<name>.schedule.interval, 5s", "shardkeeper.topics.<name>.schedule.zone, Europe/Berlin",
			"shardkeeper.topics.<name>.schedule.missed-after, 5s",
			"shardkeeper.topics.<name>.schedule.missed-runs, all",
			"shardkeeper.topics.<name>.schedule.on-interruption, skip" })
	void eachPropertyIsComparedByItsName(String property, String value) {
		String source = property.contains(".kafka.") ? "kafka" : property.contains(".sls.") ? "sls" : "redis";
		String name = property.replace("<name>", "visits");
		Map<String, String> plain = values(settings(source, Map.of(), Set.of("visits")));
		SharedSettings changed = settings(source, Map.of(name, value), Set.of("visits"));

		Set<String> different = new TreeSet<>(plain.keySet());
		different.removeIf((setting) -> plain.get(setting).equals(values(changed).get(setting)));
		// These exclude another one.
		different.removeIf((setting) -> !setting.equals(name)
				&& values(changed).getOrDefault(setting, "not set").equals("not set"));
		assertThat(different).containsExactly(name);
		assertThat(SharedProperties.compared().get(property) ? changed.dividing() : changed.harmless())
			.containsKey(name);
	}

	@ParameterizedTest
	@CsvSource({ "kafka, shardkeeper.kafka.topics.visits.name", "sls, shardkeeper.sls.topics.visits.logstore" })
	void emptyNameIsThatOfTheTopic(String source, String property) {
		assertThat(settings(source, Map.of(property, ""), Set.of())).isEqualTo(settings(source, Map.of(), Set.of()));
	}

	@Test
	void sourceIsCompared() {
		assertThat(settings("kafka", Map.of(), Set.of()).conflictsWith(settings("redis", Map.of(), Set.of()))).isTrue();
	}

	@Test
	void settingsOfConsumptionAreComparedOfConsumedTopicsOnly() {
		SharedSettings broadcast = settings("redis", Map.of("shardkeeper.topics.visits.mode", "broadcast"), Set.of());

		assertThat(broadcast.conflictsWith(settings("redis", Map.of(), Set.of("visits")))).isFalse();
	}

	private static Map<String, String> values(SharedSettings settings) {
		Map<String, String> values = new TreeMap<>(settings.dividing());
		values.putAll(settings.harmless());
		return values;
	}

	private static SharedSettings settings(String source, Map<String, String> changed, Set<String> consumed) {
		Map<String, String> values = new HashMap<>(
				Map.of("shardkeeper.topics.visits.shards", "4", "shardkeeper.consumer.transaction", "jdbc"));
		values.putAll(changed);
		ShardkeeperProperties properties = new Binder(new MapConfigurationPropertySource(values))
			.bindOrCreate("shardkeeper", ShardkeeperProperties.class);
		SourceRegistry sources = mock(SourceRegistry.class);
		given(sources.names()).willReturn(properties.topics().keySet());
		given(sources.name(any())).willReturn(source);
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		return new SharedProperties(properties, sources, new JsonPayloadConverter(new JsonMapper()),
				beans.getBeanProvider(ShardSelector.class), beans)
			.of(consumed);
	}

}
