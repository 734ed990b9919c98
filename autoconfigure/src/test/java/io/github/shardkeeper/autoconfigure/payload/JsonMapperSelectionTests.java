package io.github.shardkeeper.autoconfigure.payload;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;

import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.ShardState;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.shard.ShardId;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.source.PayloadConverter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class JsonMapperSelectionTests {

	private static final String SNAKE_CASE = "{\"client_name\":\"ann\"}";

	private static final String CAMEL_CASE = "{\"clientName\":\"ann\"}";

	private final ApplicationContextRunner plain = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
		.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop", "shardkeeper.topics.visits.shards=1",
				"shardkeeper.consumer.commit.mode=batch");

	private final ApplicationContextRunner springBoot = this.plain
		.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class));

	@Test
	void onlyMapperWritesAndReadsPayloadsAndState() {
		this.springBoot.withPropertyValues("spring.jackson.property-naming-strategy=SNAKE_CASE")
			.withBean(Visits.class)
			.run((context) -> {
				assertThat(written(context)).isEqualTo(SNAKE_CASE);
				context.getBean(ShardTemplate.class).send("visits", "ann", SNAKE_CASE);
				await().untilAsserted(() -> assertThat(
						context.getBean(ShardStateReader.class).read(ShardId.of("visits", 0), Map.class))
					.containsEntry("last", Map.of("client_name", "ann")));
			});
	}

	@Test
	void severalMappersWithoutAPrimaryOneFailStartup() {
		this.springBoot.withUserConfiguration(Two.class)
			.run((context) -> assertThat(failure(context)).hasMessageContaining("There are several JsonMapper beans")
				.hasMessageContaining("camel, snake")
				.hasMessageContaining("@Primary")
				.hasMessageContaining("'shardkeeper.json-mapper'"));
	}

	@Test
	void primaryOneOfSeveralIsUsed() {
		this.springBoot.withUserConfiguration(TwoAndPrimary.class)
			.run((context) -> assertThat(written(context)).isEqualTo(SNAKE_CASE));
	}

	@Test
	void propertyNamesOneOfSeveral() {
		this.springBoot.withUserConfiguration(Two.class)
			.withPropertyValues("shardkeeper.json-mapper=snake")
			.run((context) -> assertThat(written(context)).isEqualTo(SNAKE_CASE));
		this.springBoot.withUserConfiguration(TwoAndPrimary.class)
			.withPropertyValues("shardkeeper.json-mapper=camel")
			.run((context) -> assertThat(written(context)).isEqualTo(CAMEL_CASE));
	}

	@Test
	void unknownNameFailsStartupWithTheNamesThereAre() {
		this.springBoot.withUserConfiguration(Two.class)
			.withPropertyValues("shardkeeper.json-mapper=snail")
			.run((context) -> assertThat(failure(context)).hasMessageContaining("'shardkeeper.json-mapper' is 'snail'")
				.hasMessageContaining("[camel, snake]"));
		this.springBoot.withPropertyValues("shardkeeper.json-mapper=shardkeeperCoordinator")
			.run((context) -> assertThat(failure(context)).hasMessageContaining("no JsonMapper bean of that name"));
	}

	@Test
	void declaredTypeDoesNotMatter() {
		this.plain.withUserConfiguration(Wide.class)
			.run((context) -> assertThat(written(context)).isEqualTo(SNAKE_CASE));
	}

	/** Spring Boot makes its own only if none is declared as a JsonMapper. */
	@Test
	void widerTypeBesideTheMapperOfSpringBootFailsStartup() {
		this.springBoot.withUserConfiguration(Wide.class)
			.run((context) -> assertThat(failure(context)).hasMessageContaining("wide")
				.hasMessageContaining("jacksonJsonMapper")
				.hasMessageContaining("declare 'wide' with the type JsonMapper")
				.hasMessageContaining("'shardkeeper.json-mapper'"));
		this.springBoot.withUserConfiguration(Wide.class)
			.withPropertyValues("shardkeeper.json-mapper=wide")
			.run((context) -> assertThat(written(context)).isEqualTo(SNAKE_CASE));
		this.springBoot.withUserConfiguration(Wide.class)
			.withPropertyValues("shardkeeper.json-mapper=jacksonJsonMapper")
			.run((context) -> assertThat(written(context)).isEqualTo(CAMEL_CASE));
	}

	/** Not those of other formats, nor those that are injected by name only. */
	@Test
	void beansThatAreNoDefaultMappersOfJsonDoNotCount() {
		this.springBoot.withUserConfiguration(Others.class)
			.withPropertyValues("spring.jackson.property-naming-strategy=SNAKE_CASE")
			.run((context) -> assertThat(written(context)).isEqualTo(SNAKE_CASE));
	}

	@Test
	void mapperOfTheParentIsUsed() {
		this.plain.withUserConfiguration(Wide.class)
			.run((parent) -> new ApplicationContextRunner().withParent(parent)
				.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class))
				.withPropertyValues("shardkeeper.store=memory", "shardkeeper.group=shop")
				.run((child) -> assertThat(child.getBean(JsonMapperSelection.class).mapper())
					.isSameAs(parent.getBean("wide"))));
	}

	@Test
	void withoutABeanADefaultMapperIsUsed() {
		this.plain.run((context) -> assertThat(written(context)).isEqualTo(CAMEL_CASE));
	}

	/** An application that comes from Spring Boot 3 may expect that they count. */
	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void mappersOfJackson2AreSaidUnlessAMapperIsNamed(CapturedOutput output) {
		ApplicationContextRunner both = this.springBoot.withBean("legacy",
				com.fasterxml.jackson.databind.ObjectMapper.class);
		both.withPropertyValues("shardkeeper.json-mapper=jacksonJsonMapper")
			.run((context) -> assertThat(written(context)).isEqualTo(CAMEL_CASE));
		assertThat(output).doesNotContain("Jackson 2");
		both.run((context) -> assertThat(written(context)).isEqualTo(CAMEL_CASE));
		assertThat(output).contains("ObjectMapper beans of Jackson 2").contains("Jackson 3 does: legacy.");
	}

	private static String written(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed();
		return new String(context.getBean(PayloadConverter.class).write(new Visit("ann")));
	}

	private static Throwable failure(AssertableApplicationContext context) {
		assertThat(context).hasFailed();
		Throwable failure = context.getStartupFailure();
		while (failure.getCause() != null) {
			failure = failure.getCause();
		}
		assertThat(failure).isInstanceOf(ShardkeeperConfigurationException.class);
		return failure;
	}

	private static JsonMapper snakeCase() {
		return JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();
	}

	record Visit(String clientName) {

	}

	static class Visits {

		@ShardConsumer("visits")
		void visit(Visit visit, ShardState state) {
			state.put("last", visit);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Two {

		@Bean
		JsonMapper camel() {
			return new JsonMapper();
		}

		@Bean
		JsonMapper snake() {
			return snakeCase();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoAndPrimary {

		@Bean
		ObjectMapper camel() {
			return new JsonMapper();
		}

		@Bean
		@Primary
		JsonMapper snake() {
			return snakeCase();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Wide {

		/** Lazy, so that only its declared type is known. */
		@Bean
		@Lazy
		ObjectMapper wide() {
			return snakeCase();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Others {

		@Bean
		ObjectMapper noJsonMapper() {
			return new ObjectMapper();
		}

		@Bean(defaultCandidate = false)
		ObjectMapper byNameOnly() {
			return new JsonMapper();
		}

		@Bean
		@Fallback
		ObjectMapper fallback() {
			return new JsonMapper();
		}

	}

}
