package io.github.shardkeeper.test.slice;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

import io.github.shardkeeper.DeadLetters;

/** Factory of what turns a context into that of a {@link ShardkeeperTest}. */
final class ShardkeeperTestContextCustomizerFactory implements ContextCustomizerFactory {

	/** Returns the handlers that a test class names. */
	static List<Class<?>> handlers(Class<?> testClass) {
		ShardkeeperTest test = TestContextAnnotationUtils.findMergedAnnotation(testClass, ShardkeeperTest.class);
		return (test != null) ? List.of(test.handlers()) : List.of();
	}

	@Override
	public ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> configAttributes) {
		return new Customizer(handlers(testClass));
	}

	/**
	 * Stores and topics in memory, the time of the test, and its handlers. A part of the
	 * key of cached contexts.
	 */
	private record Customizer(List<Class<?>> handlers) implements ContextCustomizer {

		@Override
		public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
			configure(context.getEnvironment());
			BeanDefinitionRegistry registry = (BeanDefinitionRegistry) context.getBeanFactory();
			SteppedTime time = new SteppedTime();
			TestGroup group = new TestGroup(context, this.handlers);
			RootBeanDefinition clock = new RootBeanDefinition(SteppedTime.class, () -> time);
			// An InstantSource of the application is the one that its beans get.
			clock.setFallback(true);
			register(registry, "shardkeeperTestTime", clock);
			register(registry, "shardkeeperTestGroup", new RootBeanDefinition(TestGroup.class, () -> group));
			register(registry, "shardkeeperTestShards", new RootBeanDefinition(TestShards.class,
					() -> new TestShards(group, time, context.getBean(DeadLetters.class))));
			register(registry, "shardkeeperTestHandlers",
					new RootBeanDefinition(HandlerBeans.class, () -> new HandlerBeans(this.handlers)));
		}

		private static void register(BeanDefinitionRegistry registry, String name, RootBeanDefinition definition) {
			registry.registerBeanDefinition(name, definition);
		}

		private static void configure(ConfigurableEnvironment environment) {
			MutablePropertySources sources = environment.getPropertySources();
			for (PropertySource<?> source : sources.stream().toList()) {
				if (source instanceof MapPropertySource map) {
					Map<String, Object> kept = new LinkedHashMap<>(map.getSource());
					if (kept.keySet().removeIf((name) -> isOfRealSource(name, map.getProperty(name)))) {
						sources.replace(source.getName(), new MapPropertySource(source.getName(), kept));
					}
				}
			}
			// The runner of the context is never started: TestShards starts others.
			sources.addFirst(new MapPropertySource("shardkeeperTest",
					Map.of("shardkeeper.store", "memory", "shardkeeper.consumer.startup", "after-readiness")));
			sources.addLast(new MapPropertySource("shardkeeperTestDefaults",
					Map.of("shardkeeper.group", "test", "shardkeeper.consumer.commit.mode", "batch")));
		}

		/** Returns whether a property is about the system that a topic is read from. */
		private static boolean isOfRealSource(String name, @Nullable Object value) {
			String property = name.toLowerCase(Locale.ROOT);
			if (property.startsWith("shardkeeper.kafka.") || property.startsWith("shardkeeper.sls.")) {
				return true;
			}
			String text = String.valueOf(value);
			return property.startsWith("shardkeeper.topics.") && (property.endsWith(".source") && !text.equals("fixed")
					|| property.endsWith(".reset") || property.endsWith(".start") && text.startsWith("group:"));
		}

	}

	/** Registers the handlers that are no beans yet, after all other definitions. */
	private record HandlerBeans(List<Class<?>> handlers) implements BeanDefinitionRegistryPostProcessor {

		/** Starts the runner of the context once the application is ready. */
		private static final String START = "shardkeeperStartAfterReadiness";

		@Override
		public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
			if (registry.containsBeanDefinition(START)) {
				registry.removeBeanDefinition(START);
			}
			AnnotatedBeanDefinitionReader reader = new AnnotatedBeanDefinitionReader(registry);
			for (Class<?> handler : this.handlers) {
				if (((ListableBeanFactory) registry).getBeanNamesForType(handler, true, false).length == 0) {
					reader.registerBean(handler);
				}
			}
		}

		@Override
		public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
			// Everything is registered.
		}

	}

}
