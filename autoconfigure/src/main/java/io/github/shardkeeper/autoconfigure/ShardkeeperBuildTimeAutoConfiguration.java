package io.github.shardkeeper.autoconfigure;

import java.util.Map;

import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Remembers the settings that decide which beans there are. Also where Shardkeeper is
 * switched off: an application that was built like that cannot be switched on.
 */
@AutoConfiguration
@Import(ShardkeeperBuildTimeAutoConfiguration.Registrar.class)
public final class ShardkeeperBuildTimeAutoConfiguration {

	/**
	 * Puts the values into the bean definition, and so into what is generated from it.
	 */
	static final class Registrar implements ImportBeanDefinitionRegistrar, EnvironmentAware {

		private Environment environment = new StandardEnvironment();

		@Override
		public void setEnvironment(Environment environment) {
			this.environment = environment;
		}

		@Override
		public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
			Map<String, String> settings = BuildTimeSettings.read(this.environment);
			RootBeanDefinition definition = new RootBeanDefinition(BuildTimeSettings.class);
			definition.getConstructorArgumentValues().addIndexedArgumentValue(0, settings);
			definition.setLazyInit(false);
			registry.registerBeanDefinition("shardkeeperBuildTimeSettings", definition);
		}

	}

}
