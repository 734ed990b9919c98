package io.github.shardkeeper.autoconfigure;

import java.lang.annotation.Annotation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.OnShardAssigned;
import io.github.shardkeeper.OnShardPreparing;
import io.github.shardkeeper.OnShardRevoked;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.cluster.ClusterExclusive;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Refuses what has no effect in another context of the hierarchy than Shardkeeper's:
 * annotated beans and properties of child contexts, which start after the consumers, and
 * beans of parent contexts that would have to be intercepted or bound when they are
 * created. Handlers and signal methods of parent contexts are called. Thread-safe.
 */
@Internal
public final class ContextHierarchy implements SmartInitializingSingleton, ApplicationListener<ContextRefreshedEvent> {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("shardkeeper");

	private static final ConfigurationPropertyName ENABLED = PREFIX.append("enabled");

	/** Whether their module is there, and with it their annotations. */
	private static final boolean CLUSTER_TOOLS = ClassUtils.isPresent("io.github.shardkeeper.cluster.ClusterExclusive",
			ContextHierarchy.class.getClassLoader());

	private final ConfigurableApplicationContext context;

	ContextHierarchy(ConfigurableApplicationContext context) {
		this.context = context;
	}

	@Override
	public void afterSingletonsInstantiated() {
		for (ApplicationContext parent = this.context.getParent(); parent != null; parent = parent.getParent()) {
			refuse(parent, CLUSTER_TOOLS ? List.of(ClusterExclusive.class) : List.of(),
					"is in a parent context of Shardkeeper's, which has "
							+ "created it before, so that it is neither intercepted nor bound",
					"Move the bean to the context that has Shardkeeper, or configure Shardkeeper in the parent context.");
		}
	}

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext() == this.context) {
			return;
		}
		List<Class<? extends Annotation>> ofMethods = new ArrayList<>(
				List.of(ShardConsumer.class, OnShardPreparing.class, OnShardAssigned.class, OnShardRevoked.class));
		if (CLUSTER_TOOLS) {
			ofMethods.addAll(List.of(OnClusterSignal.class, ClusterExclusive.class));
		}
		refuse(event.getApplicationContext(), ofMethods,
				"is in a child context of Shardkeeper's, which starts before the child and does not know its beans",
				"Move the bean to the context that has Shardkeeper, or configure Shardkeeper in the child context only: "
						+ "exclude ShardkeeperAutoConfiguration in the parent.");
		refuseProperties(event.getApplicationContext());
	}

	private static void refuse(ApplicationContext context, List<Class<? extends Annotation>> ofMethods, String problem,
			String action) {
		if (!(context instanceof ConfigurableApplicationContext configurable)) {
			return;
		}
		AnnotatedBeans beans = new AnnotatedBeans(configurable.getBeanFactory());
		for (String beanName : context.getBeanDefinitionNames()) {
			Class<?> type = beans.type(beanName);
			String annotated = (type != null) ? annotated(type, ofMethods) : null;
			if (type != null && annotated != null) {
				throw new ShardkeeperConfigurationException("The bean '%s' of %s has %s, but %s. Its context is '%s'."
					.formatted(beanName, type.getName(), annotated, problem, context.getId()), action);
			}
		}
	}

	/** Returns the first annotation that a class has on a method or field. */
	private static @Nullable String annotated(Class<?> type, List<Class<? extends Annotation>> ofMethods) {
		for (Class<? extends Annotation> annotation : ofMethods) {
			if (AnnotatedBeans.mayHave(type, annotation) && !AnnotatedBeans.methods(type, annotation).isEmpty()) {
				return "a @%s method".formatted(annotation.getSimpleName());
			}
		}
		List<String> fields = new ArrayList<>();
		if (CLUSTER_TOOLS && AnnotatedBeans.mayHave(type, ClusterParameter.class)) {
			ReflectionUtils.doWithFields(type, (field) -> fields.add(field.getName()),
					(field) -> field.isAnnotationPresent(ClusterParameter.class));
		}
		return fields.isEmpty() ? null : "@ClusterParameter on the field '%s'".formatted(fields.get(0));
	}

	private void refuseProperties(ApplicationContext child) {
		Map<String, String> known = properties(this.context.getEnvironment());
		properties(child.getEnvironment()).forEach((name, value) -> {
			if (!value.equals(known.get(name)) && !name.equals(ENABLED.toString())) {
				throw new ShardkeeperConfigurationException(
						"'%s' is '%s' in the child context '%s', where it has no effect: Shardkeeper is in its parent context '%s'."
							.formatted(name, value, child.getId(), this.context.getId()),
						"Set it in the parent context, or configure Shardkeeper in the child context only: "
								+ "exclude ShardkeeperAutoConfiguration in the parent.");
			}
		});
	}

	/** Values with their placeholders, whose values may be random. */
	private static Map<String, String> properties(Environment environment) {
		Map<String, String> values = new TreeMap<>();
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source instanceof IterableConfigurationPropertySource iterable) {
				iterable.stream().filter(PREFIX::isAncestorOf).forEach((name) -> {
					ConfigurationProperty property = source.getConfigurationProperty(name);
					if (property != null) {
						values.putIfAbsent(name.toString(), String.valueOf(property.getValue()));
					}
				});
			}
		}
		return values;
	}

	/** Matches unless a parent context has Shardkeeper. */
	public static final class OnNoParent implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConfigurableListableBeanFactory beans = context.getBeanFactory();
			return beans == null || !(beans.getParentBeanFactory() instanceof ListableBeanFactory parent)
					|| BeanFactoryUtils.beanNamesForTypeIncludingAncestors(parent, ContextHierarchy.class).length == 0;
		}

	}

}
