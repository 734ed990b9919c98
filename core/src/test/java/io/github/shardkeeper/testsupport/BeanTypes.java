package io.github.shardkeeper.testsupport;

import java.security.CodeSource;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * The types under which others find Shardkeeper's beans. Only those are allowed that
 * nobody injects, or that are there to be found.
 */
public final class BeanTypes {

	private static final String ROOT = "io.github.shardkeeper.";

	private static final Set<String> ALLOWED = Set.of("java.lang.Object", "java.lang.Record", "java.lang.AutoCloseable",
			// The container calls them.
			"org.springframework.beans.factory.DisposableBean",
			"org.springframework.beans.factory.SmartInitializingSingleton", "org.springframework.context.Lifecycle",
			"org.springframework.context.SmartLifecycle", "org.springframework.context.Phased",
			"org.springframework.context.ApplicationListener", "java.util.EventListener",
			"org.springframework.beans.factory.config.BeanPostProcessor",
			"org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor",
			"org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor",
			"org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor",
			"org.springframework.aop.framework.AopInfrastructureBean",
			"org.springframework.aop.framework.AbstractAdvisingBeanPostProcessor",
			"org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor",
			"org.springframework.aop.framework.ProxyProcessorSupport", "org.springframework.aop.framework.ProxyConfig",
			"java.io.Serializable", "org.springframework.beans.factory.InitializingBean",
			"org.springframework.beans.factory.Aware", "org.springframework.beans.factory.BeanFactoryAware",
			"org.springframework.beans.factory.BeanClassLoaderAware", "org.springframework.context.EnvironmentAware",
			"org.springframework.context.ApplicationContextAware", "org.springframework.core.Ordered",
			"org.springframework.core.PriorityOrdered", "org.springframework.beans.factory.BeanNameAware",
			"org.springframework.core.env.EnvironmentCapable", "org.springframework.web.context.ServletContextAware",
			// Spring Boot asks all of them.
			"org.springframework.boot.LazyInitializationExcludeFilter",
			// The actuator and the web collect them.
			"org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor", "jakarta.servlet.Filter",
			"org.springframework.web.filter.GenericFilterBean", "org.springframework.web.filter.OncePerRequestFilter",
			"org.springframework.web.server.WebFilter", "org.springframework.boot.health.contributor.HealthContributor",
			"org.springframework.boot.health.contributor.CompositeHealthContributor",
			"org.springframework.boot.health.contributor.HealthIndicator",
			"org.springframework.boot.health.contributor.AbstractHealthIndicator");

	private BeanTypes() {
	}

	/** Returns whether any number of beans may have the type. */
	public static boolean isAllowed(Class<?> type) {
		return ALLOWED.contains(type.getName());
	}

	/** Returns the other types that a bean of the class has besides Shardkeeper's. */
	public static Set<String> foreign(Class<?> type) {
		Set<Class<?>> types = new LinkedHashSet<>(ClassUtils.getAllInterfacesForClassAsSet(type));
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			types.add(each);
		}
		Set<String> foreign = new TreeSet<>();
		for (Class<?> each : types) {
			if (!each.getName().startsWith(ROOT) && !isAllowed(each)) {
				foreign.add(each.getName());
			}
		}
		return foreign;
	}

	/** Returns the classes of Shardkeeper's own beans by name; creates the beans. */
	public static Map<String, Class<?>> ours(ConfigurableListableBeanFactory beans) {
		Map<String, Class<?>> ours = new TreeMap<>();
		for (String name : beans.getBeanDefinitionNames()) {
			if (isOurs(beans, name)) {
				ours.put(name, beans.getBean(name).getClass());
			}
		}
		return ours;
	}

	/** Returns whether a configuration of Shardkeeper defines a bean. */
	public static boolean isOurs(ConfigurableListableBeanFactory beans, String name) {
		BeanDefinition definition = beans.getMergedBeanDefinition(name);
		BeanDefinition original = beans.getBeanDefinition(name);
		String owner = (original instanceof AnnotatedBeanDefinition annotated
				&& annotated.getFactoryMethodMetadata() != null)
						? annotated.getFactoryMethodMetadata().getDeclaringClassName() : definition.getBeanClassName();
		return owner != null && owner.startsWith(ROOT) && !isOfTest(ClassUtils.resolveClassName(owner, null));
	}

	private static boolean isOfTest(Class<?> type) {
		CodeSource source = type.getProtectionDomain().getCodeSource();
		return source != null && source.getLocation().getPath().matches(".*(test-classes/|-tests\\.jar)$");
	}

}
