package io.github.shardkeeper.handler;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.InstanceSupplier;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.type.MethodMetadata;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Component;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

import io.github.shardkeeper.Internal;
import io.github.shardkeeper.ShardConsumer;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;
import io.github.shardkeeper.text.PrintableLogger;

/**
 * The application's beans, as far as their methods are annotated. As a post-processor, it
 * also learns the class of what a {@code FactoryBean} makes, and logs an error for a bean
 * that is created after the search and has annotated methods that the search could not
 * know. Thread-safe.
 */
@Internal
public final class AnnotatedBeans implements BeanPostProcessor {

	private static final Logger logger = PrintableLogger.of(AnnotatedBeans.class);

	/** What to do with a bean that is a parameter. */
	public static final String INJECT_BEANS = "Take the bean in the constructor of the class; the method takes only what "
			+ "comes with the call. ";

	private static final String COROUTINE = "kotlin.coroutines.Continuation";

	private static final String SPRING = "org.springframework.";

	/** Applications that are built like Spring's samples. */
	private static final String SAMPLES = "org.springframework.samples.";

	/** Beans of Shardkeeper itself, by their configuration. */
	private static final String OWN = "io.github.shardkeeper.autoconfigure.";

	private final ConfigurableListableBeanFactory beans;

	/** What the last search for an annotation has found. */
	private final Map<Class<? extends Annotation>, Map<String, Class<?>>> found = new ConcurrentHashMap<>();

	/** Classes of objects that factory beans have made, by the name of the bean. */
	private final Map<String, Class<?>> products = new ConcurrentHashMap<>();

	private final Set<String> reported = ConcurrentHashMap.newKeySet();

	/** Looks at the beans of a factory and of its parents. */
	public AnnotatedBeans(ConfigurableListableBeanFactory beans) {
		this.beans = beans;
	}

	/**
	 * Finds the beans that may have methods with an annotation, also in parent contexts.
	 * Call it once all singletons exist. Of a bean that does not exist yet, it knows the
	 * class that its definition declares.
	 * @return the application's own class by the name of the bean
	 */
	public Map<String, Class<?>> candidates(Class<? extends Annotation> annotation) {
		Map<String, Class<?>> candidates = new LinkedHashMap<>();
		for (ConfigurableListableBeanFactory factory = this.beans; factory != null; factory = parent(factory)) {
			for (String beanName : factory.getBeanNamesForType(Object.class)) {
				Class<?> type = type(factory, beanName);
				if (type != null && mayHave(type, annotation)) {
					candidates.putIfAbsent(beanName, type);
				}
			}
		}
		this.found.put(annotation, candidates);
		return candidates;
	}

	private static @Nullable ConfigurableListableBeanFactory parent(ConfigurableListableBeanFactory factory) {
		return (factory.getParentBeanFactory() instanceof ConfigurableListableBeanFactory parent) ? parent : null;
	}

	/**
	 * Returns the application's own class of a bean of this factory, as far as it is
	 * known; {@code null} for the target of a scoped proxy.
	 */
	public @Nullable Class<?> type(String beanName) {
		return type(this.beans, beanName);
	}

	/** A scoped bean consists of two beans: the proxy counts, its target does not. */
	private @Nullable Class<?> type(ConfigurableListableBeanFactory factory, String beanName) {
		if (ScopedProxyUtils.isScopedTarget(beanName)) {
			return null;
		}
		Class<?> product = (factory == this.beans) ? this.products.get(beanName) : null;
		if (product != null) {
			return product;
		}
		Class<?> type = AutoProxyUtils.determineTargetClass(factory, beanName);
		if (type != null && ScopedObject.class.isAssignableFrom(type)) {
			return AutoProxyUtils.determineTargetClass(factory, ScopedProxyUtils.getTargetBeanName(beanName));
		}
		return type;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		// The target of a scoped proxy comes on its own.
		Class<?> type = (bean instanceof ScopedObject) ? null : AopUtils.getTargetClass(bean);
		if (type != null && isOfApplication(type)) {
			if (this.beans.containsSingleton(beanName) && this.beans.isFactoryBean(beanName)) {
				this.products.put(beanName, type);
			}
			this.found.forEach((annotation, candidates) -> reportIfMissed(beanName, type, annotation, candidates));
		}
		return bean;
	}

	/** A method that was found by its name in a superclass is called here, too. */
	private void reportIfMissed(String beanName, Class<?> type, Class<? extends Annotation> annotation,
			Map<String, Class<?>> candidates) {
		String name = ScopedProxyUtils.isScopedTarget(beanName) ? ScopedProxyUtils.getOriginalBeanName(beanName)
				: beanName;
		Class<?> known = candidates.get(name);
		if (known == type || !mayHave(type, annotation)) {
			return;
		}
		Set<String> missed = names(type, annotation);
		if (known != null) {
			missed.removeAll(names(known, annotation));
		}
		if (!missed.isEmpty() && this.reported.add(annotation.getName() + " " + name)) {
			logger.error("""
					The bean '{}' of {} has @{} methods that are not called: {}. It was created after the application \
					had started, and its definition {}. Declare the class as the return type of the @Bean method, or \
					have the bean created at the start, without @Lazy or with @Lazy(false){}""", name, type.getName(),
					annotation.getSimpleName(), missed,
					(known != null) ? "declares " + known.getName() : "does not tell its class",
					(annotation == ShardConsumer.class) ? ", unless it is passed to ShardConsumers.register" : "");
		}
	}

	private static Set<String> names(Class<?> type, Class<? extends Annotation> annotation) {
		return methods(type, annotation).stream().map(Method::getName).collect(Collectors.toCollection(TreeSet::new));
	}

	/**
	 * Finds the beans that do not exist yet and may be of another class than their
	 * definition declares, so that their annotated methods are not known.
	 * @return the declared type by the name of the bean
	 */
	public Map<String, String> ofUnknownClass() {
		Map<String, String> unknown = new TreeMap<>();
		for (String beanName : this.beans.getBeanDefinitionNames()) {
			boolean factory = this.beans.isFactoryBean(beanName);
			if (factory ? this.products.containsKey(beanName) : this.beans.containsSingleton(beanName)) {
				continue;
			}
			Class<?> type = this.beans.getType(beanName, false);
			if (factory ? isHidden(type) && isOfApplication(this.beans.getType("&" + beanName, false))
					: mayBeOfAnotherClass(this.beans.getBeanDefinition(beanName), type)) {
				unknown.put(ScopedProxyUtils.isScopedTarget(beanName) ? ScopedProxyUtils.getOriginalBeanName(beanName)
						: beanName, (type != null) ? type.getName() : "no type");
			}
		}
		return unknown;
	}

	/**
	 * Returns whether a {@code @Bean} method of the application may return another class
	 * than it declares.
	 * @param type the type that it declares
	 */
	public static boolean mayBeOfAnotherClass(BeanDefinition definition, @Nullable Class<?> type) {
		String configuration = declaringClass(definition);
		return configuration != null && isOfApplication(configuration) && isHidden(type);
	}

	/** Returns the class with the {@code @Bean} method; {@code null} if there is none. */
	private static @Nullable String declaringClass(BeanDefinition definition) {
		if (definition instanceof AnnotatedBeanDefinition annotated) {
			MethodMetadata method = annotated.getFactoryMethodMetadata();
			return (method != null) ? method.getDeclaringClassName() : null;
		}
		// What was processed ahead of time has a supplier that knows the method.
		Method method = (definition instanceof RootBeanDefinition processed
				&& processed.getInstanceSupplier() instanceof InstanceSupplier<?> supplier)
						? supplier.getFactoryMethod() : null;
		return (method != null) ? method.getDeclaringClass().getName() : null;
	}

	private static boolean isHidden(@Nullable Class<?> type) {
		return type == null || !Modifier.isFinal(type.getModifiers());
	}

	private static boolean isOfApplication(@Nullable Class<?> type) {
		return type != null && isOfApplication(type.getName());
	}

	private static boolean isOfApplication(String className) {
		return (!className.startsWith(SPRING) || className.startsWith(SAMPLES)) && !className.startsWith(OWN);
	}

	/**
	 * Returns whether methods of a class may have an annotation. Classes of Spring itself
	 * have none of Shardkeeper's, and an application has hundreds of them: to look at all
	 * their methods would take a noticeable part of its start.
	 */
	public static boolean mayHave(Class<?> type, Class<? extends Annotation> annotation) {
		return (!type.getName().startsWith(SPRING) || type.getName().startsWith(SAMPLES))
				&& AnnotationUtils.isCandidateClass(type, annotation);
	}

	/** Returns the methods of a class with an annotation. */
	public static Set<Method> methods(Class<?> type, Class<? extends Annotation> annotation) {
		return MethodIntrospector.selectMethods(type,
				(MethodIntrospector.MetadataLookup<Boolean>) (method) -> annotations(method).isPresent(annotation)
						? Boolean.TRUE : null)
			.keySet();
	}

	/**
	 * Returns the annotations of a method, repeated and composed ones included, or else
	 * those of the method that it overrides.
	 */
	static <A extends Annotation> List<A> annotations(Method method, Class<A> annotation) {
		List<MergedAnnotation<A>> all = annotations(method).stream(annotation).toList();
		return all.stream()
			.filter((each) -> each.getAggregateIndex() == all.get(0).getAggregateIndex())
			.map(MergedAnnotation::synthesize)
			.toList();
	}

	private static MergedAnnotations annotations(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
	}

	/** Returns the bean if it exists already, so that a lazy bean stays lazy. */
	public @Nullable Object singleton(String beanName) {
		return this.beans.containsSingleton(beanName) ? this.beans.getBean(beanName) : null;
	}

	/** Looks the bean up with the first call, so that a lazy bean stays lazy. */
	public Supplier<Object> once(String beanName) {
		SingletonSupplier<Object> once = SingletonSupplier.of(() -> this.beans.getBean(beanName));
		return once::obtain;
	}

	/**
	 * Returns whether a parameter of the type asks for a bean. Beans of the JDK's types
	 * do not count: a payload may be a {@code String} or a {@code Map}.
	 */
	public boolean isBean(Class<?> type) {
		return !type.getName().startsWith("java.") && this.beans.getBeanNamesForType(type, true, false).length > 0;
	}

	/**
	 * Returns whether it does although no other parameter has the place of the payload: a
	 * class may be both, the type of payloads and that of a bean.
	 */
	public boolean isOnlyBean(Class<?> type) {
		return (type.isInterface() || AnnotatedElementUtils.hasAnnotation(type, Component.class)) && isBean(type);
	}

	/**
	 * Resolves the placeholders of an attribute.
	 * @param what the attribute, for messages
	 * @param where annotation and method, for messages
	 * @throws ShardkeeperConfigurationException if one cannot be resolved, or the value
	 * has an expression
	 */
	public String resolved(String value, String what, String where) {
		try {
			String resolved = this.beans.resolveEmbeddedValue(value);
			if (resolved != null && resolved.contains("#{")) {
				throw new ShardkeeperConfigurationException(
						"The %s of the %s is '%s', but expressions (SpEL) are not evaluated here.".formatted(what,
								where, resolved),
						"Write the %s itself, or set it as a property and write a placeholder as in '${name}'."
							.formatted(what));
			}
			if (resolved == null || !resolved.contains("${")) {
				return (resolved != null) ? resolved : "";
			}
			throw unresolved(resolved, what, where, null);
		}
		catch (IllegalArgumentException ex) {
			throw unresolved(value, what, where, ex);
		}
	}

	private static ShardkeeperConfigurationException unresolved(String value, String what, String where,
			@Nullable Throwable cause) {
		return new ShardkeeperConfigurationException(
				"The %s of the %s is '%s', which cannot be resolved.".formatted(what, where, value),
				"Set the property that it names, give it a default as in '${name:default}', or write the %s itself."
					.formatted(what),
				cause);
	}

	/**
	 * Returns the method to call on a bean, which may be a proxy.
	 * @param method the method as the bean's own class has it
	 * @param what the method, for messages, at the beginning of a sentence
	 * @throws ShardkeeperConfigurationException if a call would not reach the bean
	 */
	public static Method invocable(Method method, Object bean, String what) {
		if (AopUtils.isCglibProxy(bean) && !isOverridable(method, bean.getClass())) {
			boolean isFinal = Modifier.isFinal(method.getModifiers());
			throw new ShardkeeperConfigurationException(
					"%s is %s, and its bean is a proxy that extends the class: a call would run on the proxy itself, without the bean's fields and without its advice."
						.formatted(what,
								isFinal ? "final" : "package-private, in another package than the class of the bean"),
					isFinal ? "Remove 'final' from the method. In Kotlin, declare it 'open'."
							: "Make the method public or protected.");
		}
		Method invocable = isIn(bean.getClass(), method) ? method : ofInterface(method, bean);
		if (invocable == null) {
			throw new ShardkeeperConfigurationException(
					"%s cannot be called, because its bean is a proxy of interfaces that do not have it."
						.formatted(what),
					"Declare the method in the interface, or let the proxy extend the class, with "
							+ "'spring.aop.proxy-target-class: true'.");
		}
		ReflectionUtils.makeAccessible(invocable);
		return invocable;
	}

	/** Returns whether a subclass, such as a proxy, can intercept a method. */
	public static boolean isOverridable(Method method, Class<?> subclass) {
		int modifiers = method.getModifiers();
		boolean visible = Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers)
				|| method.getDeclaringClass().getPackageName().equals(subclass.getPackageName());
		return visible && (modifiers & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) == 0;
	}

	private static boolean isIn(Class<?> type, Method method) {
		return method.getDeclaringClass().isAssignableFrom(type);
	}

	/** A method of a generic interface has other parameters than its implementation. */
	private static @Nullable Method ofInterface(Method method, Object bean) {
		return Arrays.stream(bean.getClass().getInterfaces())
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.filter((candidate) -> candidate.getName().equals(method.getName())
					&& candidate.getParameterCount() == method.getParameterCount()
					&& (Arrays.equals(candidate.getParameterTypes(), method.getParameterTypes())
							|| AopUtils.getMostSpecificMethod(candidate, AopUtils.getTargetClass(bean)).equals(method)))
			.findFirst()
			.orElse(null);
	}

	/** Returns whether a call of the method returns before its work is done. */
	public static boolean isAsynchronous(Method method, Class<?> type, @Nullable Object bean) {
		if (AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(type, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class)) {
			return true;
		}
		// The application can configure other annotations that mean the same.
		return bean instanceof Advised advised && Arrays.stream(advised.getAdvisors())
			.anyMatch((advisor) -> advisor.getAdvice() instanceof AsyncExecutionInterceptor
					&& applies(advisor, method, type));
	}

	/** Returns whether a result of the type can come before the work is done. */
	public static boolean isAsynchronousResult(Class<?> returned) {
		return Future.class.isAssignableFrom(returned) || CompletionStage.class.isAssignableFrom(returned)
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned) != null;
	}

	/** Returns whether the method is a suspending function of Kotlin. */
	public static boolean isSuspending(Method method) {
		Class<?>[] parameters = method.getParameterTypes();
		return parameters.length > 0 && parameters[parameters.length - 1].getName().equals(COROUTINE);
	}

	private static boolean applies(Advisor advisor, Method method, Class<?> type) {
		if (advisor instanceof PointcutAdvisor pointcutAdvisor) {
			Pointcut pointcut = pointcutAdvisor.getPointcut();
			return pointcut.getClassFilter().matches(type) && pointcut.getMethodMatcher().matches(method, type);
		}
		return true;
	}

}
