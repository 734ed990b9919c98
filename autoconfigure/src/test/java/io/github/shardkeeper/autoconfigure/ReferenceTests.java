package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.github.shardkeeper.actuate.MicrometerConsumerMeters;
import io.github.shardkeeper.actuate.MicrometerLoopMeters;
import io.github.shardkeeper.actuate.MicrometerSendMeters;
import io.github.shardkeeper.loop.LoopMeters;
import io.github.shardkeeper.observation.ShardkeeperObservation;
import io.github.shardkeeper.report.LagReport;
import io.github.shardkeeper.report.ShardDetails;
import io.github.shardkeeper.shard.Offset;
import io.github.shardkeeper.shard.OutboxReport;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.testsupport.Promise;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The reference lists exactly the meters and observations that exist.
 */
@Promise("Clear errors")
class ReferenceTests {

	private static final Path REFERENCE = Path.of("..", "docs", "reference");

	private static final String JSON = "```json";

	private static final Pattern CODE = Pattern.compile("`([^`]+)`");

	@Test
	void everyMeterIsDocumentedWithItsTags() throws ReflectiveOperationException, IOException {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		new MicrometerConsumerMeters(registry, "shop", true).of("orders");
		callAll(LoopMeters.class, new MicrometerLoopMeters(registry, "shop"));
		new MicrometerSendMeters(registry).sending(ShardId.of("orders", 3), null, Map.of())
			.ended(new Offset("1"), null);
		Map<String, String> documented = rows("endpoint.md", "| meter | type | tags | counts |");

		// MonitoringFilesTests compares all meters of an application, in both directions.
		assertThat(documented.keySet())
			.containsAll(registry.getMeters().stream().map((meter) -> meter.getId().getName()).toList());
		String page = Files.readString(REFERENCE.resolve("endpoint.md"));
		for (Meter meter : registry.getMeters()) {
			String row = page.lines()
				.filter((line) -> line.startsWith("| `" + meter.getId().getName() + "` |"))
				.findFirst()
				.orElseThrow();
			assertThat(row)
				.containsPattern("\\| " + meter.getId().getType().name().toLowerCase(Locale.ROOT) + "(, \\w+)? \\|");
			assertThat(row)
				.contains(meter.getId().getTags().stream().map(Tag::getKey).map((key) -> "`" + key + "`").toList());
		}
	}

	@Test
	void everyObservationIsDocumentedWithItsKeys() throws IOException {
		String page = Files.readString(REFERENCE.resolve("observations.md"));
		for (ShardkeeperObservation observation : ShardkeeperObservation.values()) {
			String title = "`" + observation.getName() + "`\n";
			int begin = page.indexOf(title);
			assertThat(begin).as(title).isPositive();
			String section = page.substring(begin, page.indexOf("\n## ", begin));
			assertThat(keys(section, "low")).containsExactlyInAnyOrder(names(observation.getLowCardinalityKeyNames()));
			assertThat(keys(section, "high"))
				.containsExactlyInAnyOrder(names(observation.getHighCardinalityKeyNames()));
		}
	}

	@Test
	void documentedAnswerOfOneShardHasExactlyItsFields() throws IOException {
		String page = Files.readString(REFERENCE.resolve("endpoint.md"));
		String section = page.substring(page.indexOf("### One shard"));
		int begin = section.indexOf(JSON) + JSON.length();
		JsonNode documented = new JsonMapper().readTree(section.substring(begin, section.indexOf("```", begin)));

		assertFields(documented, ShardDetails.class);
		assertFields(documented.path("lag"), LagReport.class);
		assertFields(documented.path("outbox"), OutboxReport.class);
		assertThat(rows("endpoint.md", "| outbox | |")).containsOnlyKeys(documented.path("outbox").propertyNames());
	}

	private static void assertFields(JsonNode documented, Class<? extends Record> reply) {
		assertThat(documented.propertyNames()).as("%s", reply)
			.containsExactlyElementsOf(
					Arrays.stream(reply.getRecordComponents()).map(RecordComponent::getName).toList());
	}

	private static Set<String> keys(String section, String cardinality) {
		return Pattern.compile("\\| `([^`]+)` \\| " + cardinality + " \\|")
			.matcher(section)
			.results()
			.map((row) -> row.group(1))
			.collect(Collectors.toSet());
	}

	private static String[] names(KeyName[] keys) {
		return Arrays.stream(keys).map(KeyName::asString).toArray(String[]::new);
	}

	/** Returns the second column of a table by its first. */
	private static Map<String, String> rows(String page, String header) throws IOException {
		String text = Files.readString(REFERENCE.resolve(page));
		int begin = text.indexOf(header);
		assertThat(begin).as(header).isNotNegative();
		Map<String, String> rows = new TreeMap<>();
		text.substring(begin).lines().skip(2).takeWhile((line) -> line.startsWith("|")).forEach((line) -> {
			String[] cells = line.split("\\|");
			Matcher name = CODE.matcher(cells[1]);
			assertThat(name.find()).as(line).isTrue();
			assertThat(rows.put(name.group(1), cells[2].strip())).as("twice: " + line).isNull();
		});
		return rows;
	}

	private static <T> void callAll(Class<T> type, T meters) throws ReflectiveOperationException {
		for (Method method : type.getDeclaredMethods()) {
			method.invoke(meters, "reader");
		}
	}

}
