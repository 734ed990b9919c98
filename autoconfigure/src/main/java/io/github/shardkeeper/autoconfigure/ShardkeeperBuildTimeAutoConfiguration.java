package io.github.shardkeeper.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.type.AnnotationMetadata;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.autoconfigure.source.OnTopicSourceCondition;
import io.github.shardkeeper.autoconfigure.store.JdbcTransactionConfiguration;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Checks and records the properties that decide which beans exist. An application that
 * was processed ahead of time (AOT) has read them when it was built; another value at run
 * time fails startup. Applies also where Shardkeeper is disabled: such an application
 * cannot enable it.
 */
@Internal
@AutoConfiguration(before = { ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class })
@Import(ShardkeeperBuildTimeAutoConfiguration.Registrar.class)
public final class ShardkeeperBuildTimeAutoConfiguration {

	/** Puts the values into the bean definition, and so into generated code. */
	static final class Registrar implements ImportBeanDefinitionRegistrar, EnvironmentAware {

		private Environment environment = new StandardEnvironment();

		@Override
		public void setEnvironment(Environment environment) {
			this.environment = environment;
		}

		@Override
		public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
			BuildTimeProperties.requireBooleans(this.environment);
			RootBeanDefinition definition = new RootBeanDefinition(BuildTimeProperties.class);
			definition.getConstructorArgumentValues()
				.addIndexedArgumentValue(0, BuildTimeProperties.read(this.environment));
			definition.setLazyInit(false);
			registry.registerBeanDefinition("shardkeeperBuildTimeProperties", definition);
		}

	}

	/** Values of these properties when the beans were chosen. Thread-safe. */
	static final class BuildTimeProperties implements EnvironmentAware, InitializingBean {

		private static final String SOURCES = "shardkeeper.topics.*.source";

		private static final String TRANSACTIONS = "shardkeeper.topics.*.consumer.transaction";

		static final Map<String, String> DEFAULTS = Map.of("shardkeeper.enabled", "true", "shardkeeper.store", "redis",
				"shardkeeper.observations.enabled", "false", "management.health.shardkeeper.enabled", "true",
				"management.health.shardkeeper.loops.enabled", "false", SOURCES, "", TRANSACTIONS, "none");

		private final Map<String, String> builtWith;

		private Environment environment = new StandardEnvironment();

		BuildTimeProperties(Map<String, String> builtWith) {
			this.builtWith = builtWith;
		}

		/**
		 * Conditions compare texts: for them any other one, also 'yes' or none, is not
		 * true, and what was to be enabled would be missing without a word.
		 */
		static void requireBooleans(Environment environment) {
			DEFAULTS.forEach((name, byDefault) -> {
				String value = environment.getProperty(name, byDefault);
				if (isBoolean(byDefault) && !isBoolean(value)) {
					throw new ShardkeeperConfigurationException("'%s' is '%s'.".formatted(name, value),
							"Set it to 'true' or 'false', or remove it: the default is '%s'.".formatted(byDefault));
				}
			});
		}

		private static boolean isBoolean(String value) {
			return value.equalsIgnoreCase("true") || value.equalsIgnoreCase("false");
		}

		static Map<String, String> read(Environment environment) {
			Map<String, String> values = new LinkedHashMap<>();
			DEFAULTS.keySet().stream().sorted().forEach((name) -> values.put(name, value(environment, name)));
			return values;
		}

		private static String value(Environment environment, String name) {
			if (name.equals(SOURCES)) {
				return String.join(", ", new TreeSet<>(OnTopicSourceCondition.sources(environment).values()));
			}
			if (name.equals(TRANSACTIONS)) {
				return JdbcTransactionConfiguration.OnJdbcTransaction.isConfigured(environment) ? "jdbc" : "none";
			}
			return environment.getProperty(name, DEFAULTS.getOrDefault(name, "")).strip().toLowerCase(Locale.ROOT);
		}

		@Override
		public void setEnvironment(Environment environment) {
			this.environment = environment;
		}

		@Override
		public void afterPropertiesSet() {
			validate();
		}

		/** Fails if a value differs from the one that the beans were chosen by. */
		void validate() {
			this.builtWith.forEach((name, before) -> {
				String now = value(this.environment, name);
				if (!now.equals(before)) {
					throw new ShardkeeperConfigurationException(
							"'%s' is '%s', but this application was processed ahead of time (AOT) with '%s', which cannot be changed at run time."
								.formatted(name, now, before),
							"Build the application with '%s: %s', or start it with '%s'.".formatted(name, now, before));
				}
			});
		}

	}

}
