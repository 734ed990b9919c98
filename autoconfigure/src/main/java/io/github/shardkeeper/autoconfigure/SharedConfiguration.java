package io.github.shardkeeper.autoconfigure;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.autoconfigure.properties.OnApplication;
import io.github.shardkeeper.autoconfigure.store.RedisConnectionConfiguration;
import io.github.shardkeeper.consumer.WorkerPools;
import io.github.shardkeeper.handler.AnnotatedBeans;

/**
 * What all groups of an application share: its handlers, connections and worker threads.
 */
@Internal
@Configuration(proxyBeanMethods = false)
@Conditional(OnApplication.class)
@Import(RedisConnectionConfiguration.class)
public class SharedConfiguration {

	@Bean
	static AnnotatedBeans shardkeeperAnnotatedBeans(ConfigurableListableBeanFactory beans) {
		return new AnnotatedBeans(beans);
	}

	@Bean
	WorkerPools shardkeeperWorkerPools() {
		return new WorkerPools();
	}

	/**
	 * With {@code spring.main.lazy-initialization}, creates the beans whose class only
	 * shows once they exist: they may be handlers.
	 */
	@Bean
	static LazyInitializationExcludeFilter shardkeeperLazyInitializationExcludeFilter() {
		return (beanName, definition, type) -> AnnotatedBeans.mayBeOfAnotherClass(definition, type);
	}

	@Bean
	@Lazy(false)
	static ContextHierarchy shardkeeperContextHierarchy(ConfigurableApplicationContext context) {
		return new ContextHierarchy(context);
	}

}
