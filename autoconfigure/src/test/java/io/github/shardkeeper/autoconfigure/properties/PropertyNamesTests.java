package io.github.shardkeeper.autoconfigure.properties;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.env.OriginTrackedMapPropertySource;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.origin.OriginTrackedValue;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.boot.origin.TextResourceOrigin.Location;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.mock.env.MockEnvironment;

import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class PropertyNamesTests {

	private final MockEnvironment environment = new MockEnvironment().withProperty("shardkeeper.topics.orders.shards",
			"2");

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					shardkeeper.gruop                             | Write 'shardkeeper.group', or remove it.
					shardkeeper.topics.orders.shardz              | Write 'shardkeeper.topics.orders.shards', or remove it.
					shardkeeper.topics.orders.consumer.orderring  | Write 'shardkeeper.topics.orders.consumer.ordering', or remove it.
					shardkeeper.consumer.commit.intervall         | Write 'shardkeeper.consumer.commit.interval', or remove it.
					shardkeeper.topics.orders.newer.setting       | 'shardkeeper.topics[orders.newer]'
					shardkeeper.group.name                        | Write 'shardkeeper.group', or remove it.
					shardkeeper.consumer.retry-queue.delays.first | Write 'shardkeeper.consumer.retry-queue.delays', or remove it.
					shardkeeper.something-else                    | the properties below 'shardkeeper' are [enabled, strict-properties, group,
					""")
	void unknownNameIsAWarningByDefaultAndFailsStartupIfStrict(String name, String fix, CapturedOutput output) {
		this.environment.setProperty(name, "1");

		read();
		assertThat(output.getOut().lines().filter((line) -> line.contains(" WARN "))).singleElement()
			.asString()
			.contains("'" + name + "'", "is not a property of this version of Shardkeeper, and is ignored.", fix);

		this.environment.setProperty("shardkeeper.strict-properties", "true");
		assertFails(name, "is not a property of this version of Shardkeeper.", fix);
	}

	@Test
	void eachUnknownNameIsNamedWithItsOriginOnce(CapturedOutput output) {
		this.environment.getPropertySources()
			.addLast(new OriginTrackedMapPropertySource("file",
					Map.of("shardkeeper.gruop", OriginTrackedValue.of("orders", new TextResourceOrigin(
							new ByteArrayResource(new byte[0], "application.yml"), new Location(2, 9))))));
		this.environment.getPropertySources().addLast(new MapPropertySource("other", Map.of("shardkeeper.gruop", "a")));
		this.environment.setProperty("shardkeeper.sesion.lease", "3s");

		read();

		assertThat(output.getOut().lines().filter((line) -> line.contains(" WARN "))).satisfiesExactly(
				(line) -> assertThat(line)
					.contains("'shardkeeper.gruop', from Byte array resource [application.yml] - 3:10,"),
				(line) -> assertThat(line).contains("Write 'shardkeeper.session'"));
	}

	/** Of a list or text, none is a value. */
	@ParameterizedTest
	@CsvSource({ "shardkeeper.session.lease, ${no.lease:}", "shardkeeper.topics.orders.consumer.ordering, ''",
			"shardkeeper.topics.orders.weights.0, ''" })
	void propertyWithoutValueFailsStartup(String name, String value) {
		this.environment.setProperty(name, value);

		assertFails(name, "is empty.", "check that the variable is set");
	}

	@Test
	void topicWithoutAnyPropertyFailsStartup() {
		this.environment.setProperty("shardkeeper.topics.visits", "");

		// Spring Boot 4.0 does not bind it, and names the property.
		if (SpringBootVersion.getVersion().startsWith("4.0.")) {
			assertThatExceptionOfType(BindException.class).isThrownBy(this::read)
				.withMessageContaining("'shardkeeper.topics.visits'");
			return;
		}
		assertFails("shardkeeper.topics.visits", "is empty.", "set one of the properties below it");
	}

	@Test
	void valueOfAnEnvironmentVariableReplacesAnEmptyOne() {
		this.environment.setProperty("shardkeeper.session.lease", "");
		this.environment.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource("systemEnvironment",
					Map.of("SHARDKEEPER_SESSION_LEASE", "4s")));

		assertThat(read().properties().session().lease()).hasSeconds(4);
	}

	@ParameterizedTest
	@ValueSource(strings = { "shardkeeper.topics.orders.eu.shards", "shardkeeper.topics.orders.eu.consumer.max-ahead" })
	void dottedNameOfATopicWithoutBracketsFailsStartup(String name) {
		this.environment.setProperty(name, "2");

		assertFails(name, "is not a property",
				"If the topic's name has a dot, write it in brackets: " + "'shardkeeper.topics[orders.eu]';");
	}

	/** So a dotted name is no property of another version. */
	@Test
	void noGroupOfATopicsPropertiesHasANameOfATopicsProperty() {
		Set<String> ofTopic = new TreeSet<>();
		Set<String> ofGroups = new TreeSet<>();
		Arrays.stream(ShardkeeperProperties.Topic.class.getRecordComponents()).forEach((component) -> {
			ofTopic.add(component.getName());
			if (component.getType().isRecord()) {
				Arrays.stream(component.getType().getRecordComponents())
					.forEach((below) -> ofGroups.add(below.getName()));
			}
		});

		assertThat(ofGroups).hasSizeGreaterThan(10).doesNotContainAnyElementsOf(ofTopic);
	}

	/** Other software may set environment variables that begin with the prefix. */
	@Test
	void environmentVariablesAreNotChecked(CapturedOutput output) {
		this.environment.setProperty("shardkeeper.strict-properties", "true");
		this.environment.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource("systemEnvironment",
					Map.of("SHARDKEEPER_GRUOP", "orders", "SHARDKEEPER_SESSION_TIMEOUT", "")));

		read();

		assertThat(output.getOut()).doesNotContain(" WARN ");
	}

	@ParameterizedTest
	@ValueSource(strings = { "shardkeeper.topics.orders.weights.0=5", "shardkeeper.topics.orders.pinned.[1]=a",
			"shardkeeper.topics.[visits.eu_west].shards=2", "shardkeeper.topics.orders.zones.0=eu",
			"shardkeeper.topics.orders.consumer.retry-queue.delays[0]=1s", "shardkeeper.instanceId=one",
			"shardkeeper.parameters.a.b.c=", "shardkeeper.consumer.retry-queue.delays=", "shardkeeper.json-mapper=" })
	void whatIsBoundIsKnown(String property, CapturedOutput output) {
		int end = property.indexOf('=');
		this.environment.setProperty("shardkeeper.strict-properties", "true");
		this.environment.setProperty(property.substring(0, end), property.substring(end + 1));

		read();

		assertThat(output.getOut()).doesNotContain(" WARN ");
	}

	@Test
	void applicationStartsWithAnUnknownProperty() {
		ApplicationContextRunner runner = new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(ShardkeeperAutoConfiguration.class, JacksonAutoConfiguration.class))
			.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=orders", "shardkeeper.gruop=orders");

		runner.withPropertyValues("shardkeeper.strict-properties=false")
			.run((context) -> assertThat(context).hasNotFailed());
		runner.withPropertyValues("shardkeeper.strict-properties=true")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(ShardkeeperConfigurationException.class)
				.hasMessageContaining("'shardkeeper.gruop'"));
	}

	private void assertFails(String name, String problem, String fix) {
		assertThatExceptionOfType(ShardkeeperConfigurationException.class).isThrownBy(this::read)
			.satisfies((failure) -> {
				assertThat(failure.getDescription()).contains("'" + name + "'", problem);
				assertThat(failure.getAction()).contains(fix);
			});
	}

	private ShardkeeperSettings read() {
		return new ShardkeeperSettings(
				Binder.get(this.environment).bindOrCreate("shardkeeper", ShardkeeperProperties.class),
				this.environment);
	}

}
