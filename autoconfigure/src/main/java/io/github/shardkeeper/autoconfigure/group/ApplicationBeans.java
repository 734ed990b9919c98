package io.github.shardkeeper.autoconfigure.group;

import java.lang.annotation.Annotation;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.DependencyDescriptor;
import org.springframework.beans.factory.support.AutowireCandidateResolver;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.core.ResolvableType;

import io.github.shardkeeper.DeadLetters;
import io.github.shardkeeper.RetiredTopics;
import io.github.shardkeeper.ShardPositions;
import io.github.shardkeeper.ShardStateReader;
import io.github.shardkeeper.ShardTemplate;
import io.github.shardkeeper.checkpoint.CheckpointStore;
import io.github.shardkeeper.checkpoint.DeadLetterStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;

/**
 * The beans of the application as a group with a name sees them, as the parent of its own
 * ones: without those of the application's other group, which the group has itself, also
 * where the application replaces them. What all groups share is visible. Thread-safe.
 */
@SuppressWarnings("serial")
final class ApplicationBeans extends DefaultListableBeanFactory {

	/** Names of Shardkeeper's beans begin with it. */
	private static final String OWN = "shardkeeper";

	private static final String PACKAGE = "io.github.shardkeeper.";

	private static final Set<String> SHARED = Set.of("shardkeeperAnnotatedBeans", "shardkeeperRedisConnector",
			"shardkeeperWorkerPools");

	private static final List<Class<?>> OF_ONE_GROUP = List.of(CoordinationStore.class, CheckpointStore.class,
			DeadLetterStore.class, ShardTemplate.class, ShardStateReader.class, ShardPositions.class, DeadLetters.class,
			RetiredTopics.class);

	private final DefaultListableBeanFactory application;

	private final Map<String, Boolean> visible = new ConcurrentHashMap<>();

	ApplicationBeans(DefaultListableBeanFactory application) {
		super(application.getParentBeanFactory());
		this.application = application;
	}

	private boolean isVisible(String name) {
		String bean = BeanFactoryUtils.transformedBeanName(name);
		Boolean known = this.visible.get(bean);
		if (known == null) {
			// Not computed in the map: types of beans may ask for other beans.
			known = SHARED.contains(bean) || !isOwn(bean) && (!this.application.containsLocalBean(bean)
					|| OF_ONE_GROUP.stream().noneMatch((type) -> this.application.isTypeMatch(bean, type)));
			this.visible.put(bean, known);
		}
		return known;
	}

	/** An application may have such names, too. */
	private boolean isOwn(String bean) {
		if (!bean.startsWith(OWN)) {
			return false;
		}
		return !this.application.containsBeanDefinition(bean)
				|| !(this.application.getBeanDefinition(bean) instanceof AnnotatedBeanDefinition annotated)
				|| annotated.getFactoryMethodMetadata() == null
				|| annotated.getFactoryMethodMetadata().getDeclaringClassName().startsWith(PACKAGE);
	}

	private String[] visible(String[] names) {
		return Stream.of(names).filter(this::isVisible).toArray(String[]::new);
	}

	private String requireVisible(String name) {
		if (!isVisible(name)) {
			throw new NoSuchBeanDefinitionException(name);
		}
		return name;
	}

	@Override
	public String[] getBeanNamesForType(ResolvableType type) {
		return visible(this.application.getBeanNamesForType(type));
	}

	@Override
	public String[] getBeanNamesForType(ResolvableType type, boolean includeNonSingletons, boolean allowEagerInit) {
		return visible(this.application.getBeanNamesForType(type, includeNonSingletons, allowEagerInit));
	}

	@Override
	public String[] getBeanNamesForType(@Nullable Class<?> type) {
		return visible(this.application.getBeanNamesForType(type));
	}

	@Override
	public String[] getBeanNamesForType(@Nullable Class<?> type, boolean includeNonSingletons, boolean allowEagerInit) {
		return visible(this.application.getBeanNamesForType(type, includeNonSingletons, allowEagerInit));
	}

	@Override
	public String[] getBeanNamesForAnnotation(Class<? extends Annotation> annotation) {
		return visible(this.application.getBeanNamesForAnnotation(annotation));
	}

	@Override
	public String[] getBeanDefinitionNames() {
		return visible(this.application.getBeanDefinitionNames());
	}

	@Override
	public boolean containsBean(String name) {
		return isVisible(name) && this.application.containsBean(name);
	}

	@Override
	public boolean containsLocalBean(String name) {
		return isVisible(name) && this.application.containsLocalBean(name);
	}

	@Override
	public boolean containsBeanDefinition(String name) {
		return isVisible(name) && this.application.containsBeanDefinition(name);
	}

	@Override
	public boolean containsSingleton(String name) {
		return isVisible(name) && this.application.containsSingleton(name);
	}

	@Override
	public BeanDefinition getBeanDefinition(String name) {
		return this.application.getBeanDefinition(requireVisible(name));
	}

	@Override
	public BeanDefinition getMergedBeanDefinition(String name) {
		return this.application.getMergedBeanDefinition(requireVisible(name));
	}

	@Override
	@SuppressWarnings("unchecked")
	protected <T> T doGetBean(String name, @Nullable Class<T> type, @Nullable Object @Nullable [] arguments,
			boolean typeCheckOnly) {
		requireVisible(name);
		if (arguments != null) {
			return (T) this.application.getBean(name, arguments);
		}
		return (type != null) ? this.application.getBean(name, type) : (T) this.application.getBean(name);
	}

	@Override
	public boolean isTypeMatch(String name, ResolvableType type) {
		return this.application.isTypeMatch(requireVisible(name), type);
	}

	@Override
	public boolean isTypeMatch(String name, Class<?> type) {
		return this.application.isTypeMatch(requireVisible(name), type);
	}

	@Override
	public @Nullable Class<?> getType(String name) {
		return this.application.getType(requireVisible(name));
	}

	@Override
	public @Nullable Class<?> getType(String name, boolean allowFactoryBeanInit) {
		return this.application.getType(requireVisible(name), allowFactoryBeanInit);
	}

	@Override
	public boolean isSingleton(String name) {
		return this.application.isSingleton(requireVisible(name));
	}

	@Override
	public boolean isPrototype(String name) {
		return this.application.isPrototype(requireVisible(name));
	}

	@Override
	public boolean isFactoryBean(String name) {
		return this.application.isFactoryBean(requireVisible(name));
	}

	@Override
	public String[] getAliases(String name) {
		return this.application.getAliases(name);
	}

	@Override
	public <A extends Annotation> @Nullable A findAnnotationOnBean(String name, Class<A> annotation) {
		return this.application.findAnnotationOnBean(requireVisible(name), annotation);
	}

	@Override
	public <A extends Annotation> @Nullable A findAnnotationOnBean(String name, Class<A> annotation,
			boolean allowFactoryBeanInit) {
		return this.application.findAnnotationOnBean(requireVisible(name), annotation, allowFactoryBeanInit);
	}

	@Override
	public boolean isAutowireCandidate(String name, DependencyDescriptor descriptor) {
		return isVisible(name) && this.application.isAutowireCandidate(name, descriptor);
	}

	@Override
	protected boolean isAutowireCandidate(String name, DependencyDescriptor descriptor,
			AutowireCandidateResolver resolver) {
		return isAutowireCandidate(name, descriptor);
	}

}
