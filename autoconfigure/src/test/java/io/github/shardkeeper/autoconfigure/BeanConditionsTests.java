package io.github.shardkeeper.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.autoconfigure.ShardkeeperBuildTimeAutoConfiguration.BuildTimeProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperFailureAnalyzer;

import static org.assertj.core.api.Assertions.assertThat;

/** Properties that decide which beans exist. */
class BeanConditionsTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class,
				ShardkeeperActuatorAutoConfiguration.class, ShardkeeperBuildTimeAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop");

	@ParameterizedTest
	@CsvSource({ "shardkeeper.enabled,maybe,true", "shardkeeper.enabled,yes,true", "shardkeeper.enabled,'',true",
			"shardkeeper.observations.enabled,on,false", "management.health.shardkeeper.enabled,maybe,true",
			"management.health.shardkeeper.loops.enabled,yes,false" })
	void otherValueThanTrueOrFalseFailsStartup(String property, String value, String byDefault) {
		this.memory.withPropertyValues(property + "=" + value).run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = new ShardkeeperFailureAnalyzer().analyze(context.getStartupFailure());
			assertThat(analysis).isNotNull();
			assertThat(analysis.getDescription()).isEqualTo("'%s' is '%s'.".formatted(property, value));
			assertThat(analysis.getAction())
				.isEqualTo("Set it to 'true' or 'false', or remove it: the default is '%s'.".formatted(byDefault));
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "TRUE", "false" })
	void trueAndFalseAreUnderstood(String value) {
		this.memory.withPropertyValues("shardkeeper.enabled=" + value)
			.run((context) -> assertThat(context).hasNotFailed()
				.getBeans(ShardTemplate.class)
				.hasSize(Boolean.parseBoolean(value) ? 1 : 0));
	}

	/** Others could be switched off by a typing error, or in an AOT application. */
	@Test
	void everyPropertyOfAConditionIsChecked() throws IOException {
		Pattern condition = Pattern.compile("@ConditionalOn(?:Boolean)?Property\\(.*?\"([\\w.-]+)\"");
		List<String> properties = new ArrayList<>();
		try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
			for (Path source : sources.filter((path) -> path.toString().endsWith(".java")).toList()) {
				condition.matcher(Files.readString(source))
					.results()
					.forEach((found) -> properties.add(found.group(1)));
			}
		}
		assertThat(properties).contains("shardkeeper.enabled", "shardkeeper.store",
				"management.health.shardkeeper.loops.enabled");
		assertThat(BuildTimeProperties.DEFAULTS).containsKeys(properties.toArray(String[]::new));
	}

	@Test
	void transactionIsUnderstoodAsItIsBound() {
		this.memory
			.withPropertyValues("shardkeeper.topics.orders.shards=1",
					"shardkeeper.topics.orders.consumer.transaction=J-DBC")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("A topic has 'consumer.transaction: jdbc', but there is no"));
	}

}
