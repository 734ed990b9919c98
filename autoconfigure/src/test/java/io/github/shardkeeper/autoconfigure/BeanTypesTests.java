package io.github.shardkeeper.autoconfigure;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.annotation.Bean;

import io.github.shardkeeper.test.EmbeddedRedis;
import io.github.shardkeeper.testsupport.BeanTypes;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No bean is found by who looks for a type of Java, Spring or another library, and no
 * condition of Spring Boot takes it for the application's.
 */
class BeanTypesTests {

	private final ApplicationContextRunner contexts = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ShardkeeperAutoConfiguration.class,
				ShardkeeperActuatorAutoConfiguration.class, DataRedisAutoConfiguration.class,
				JacksonAutoConfiguration.class, ValidationAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withPropertyValues("shardkeeper.group=orders", "shardkeeper.topics.orders.shards=1",
				"shardkeeper.topics.jobs.source=fixed", "shardkeeper.topics.jobs.shards=1",
				"management.endpoints.web.exposure.include=*", "management.endpoints.jmx.exposure.include=*",
				"management.health.shardkeeper.loops.enabled=true", "shardkeeper.redis.trust-empty=true",
				"spring.data.redis.port=" + EmbeddedRedis.shared().port());

	@ParameterizedTest
	@CsvSource({ "memory, none, false", "memory, jdbc, true", "redis, none, true", "redis, jdbc, false" })
	void noBeanHasATypeThatOthersLookFor(String store, String transaction, boolean observed) {
		this.contexts
			.withPropertyValues("shardkeeper.store=" + store,
					"shardkeeper.topics.orders.consumer.transaction=" + transaction,
					"shardkeeper.observations.enabled=" + observed)
			.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.run((context) -> {
				Map<String, Class<?>> ours = BeanTypes.ours(context.getBeanFactory());
				assertThat(ours).hasSizeGreaterThan(50)
					.containsKeys("shardkeeperCallbackThreads", "shardkeeperMoveRecorder", "shardkeeperGroupMeters",
							"shardkeeperMoveMeters", "shardkeeperScriptMeters");
				assertThat(foreign(ours)).isEmpty();
			});
	}

	/** Also of beans that need another source or library. */
	@Test
	void noBeanMethodReturnsATypeThatOthersLookFor() {
		JavaClasses configurations = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
			.importPackages("io.github.shardkeeper.autoconfigure");
		Map<String, Class<?>> declared = new TreeMap<>();
		configurations.stream()
			.flatMap((configuration) -> configuration.getMethods().stream())
			.filter((method) -> method.isAnnotatedWith(Bean.class))
			.map(JavaMethod::reflect)
			.forEach((Method method) -> declared.put(method.toString(), method.getReturnType()));
		assertThat(declared).hasSizeGreaterThan(80);
		assertThat(foreign(declared)).isEmpty();
	}

	private static Map<String, Set<String>> foreign(Map<String, Class<?>> types) {
		Map<String, Set<String>> foreign = new TreeMap<>();
		types.forEach((name, type) -> foreign.put(name, BeanTypes.foreign(type)));
		foreign.values().removeIf(Set::isEmpty);
		return foreign;
	}

}
