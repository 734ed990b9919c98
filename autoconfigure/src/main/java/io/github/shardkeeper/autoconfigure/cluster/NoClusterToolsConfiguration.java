package io.github.shardkeeper.autoconfigure.cluster;

import java.lang.annotation.Annotation;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ReflectionUtils;

import io.github.shardkeeper.autoconfigure.properties.OnApplication;
import io.github.shardkeeper.cluster.ClusterExclusive;
import io.github.shardkeeper.cluster.ClusterParameter;
import io.github.shardkeeper.cluster.OnClusterSignal;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.coordination.store.CoordinationStore;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Fails startup for annotations of cluster tools beside an application's coordination
 * store: nothing would heed them.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ViewStore.class)
@ConditionalOnMissingBean(ViewStore.class)
@ConditionalOnBean(CoordinationStore.class)
@Conditional(OnApplication.class)
public class NoClusterToolsConfiguration {

	@Bean
	static AnnotationsRefused shardkeeperClusterAnnotationsRefused() {
		return new AnnotationsRefused();
	}

	static final class AnnotationsRefused implements BeanPostProcessor {

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) {
			Class<?> type = AopUtils.getTargetClass(bean);
			refuseMethods(type, ClusterExclusive.class);
			refuseMethods(type, OnClusterSignal.class);
			if (AnnotatedBeans.mayHave(type, ClusterParameter.class)) {
				ReflectionUtils.doWithFields(type, (field) -> {
					throw refused(ClusterParameter.class, "field", field.getDeclaringClass(), field.getName());
				}, (field) -> field.isAnnotationPresent(ClusterParameter.class));
			}
			return bean;
		}

		private static void refuseMethods(Class<?> type, Class<? extends Annotation> annotation) {
			if (AnnotatedBeans.mayHave(type, annotation)) {
				AnnotatedBeans.methods(type, annotation).forEach((method) -> {
					throw refused(annotation, "method", method.getDeclaringClass(), method.getName());
				});
			}
		}

		private static ShardkeeperConfigurationException refused(Class<?> annotation, String kind, Class<?> owner,
				String name) {
			return new ShardkeeperConfigurationException(
					"The %s %s.%s has @%s, but there are no cluster tools: the application has a CoordinationStore bean of its own, and they need the sessions of the default one."
						.formatted(kind, owner.getSimpleName(), name, annotation.getSimpleName()),
					"Remove the CoordinationStore bean, or the annotation.");
		}

	}

}
