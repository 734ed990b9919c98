package io.github.shardkeeper.cluster.lock;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;

import io.github.shardkeeper.cluster.ClusterExclusive;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.handler.AnnotatedBeans;

/**
 * Runs the {@link ClusterExclusive} methods of all beans under their locks. Comes before
 * what schedules methods, so that scheduled calls are intercepted.
 */
public final class ExclusiveCallsPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

	private final Supplier<ClusterLocks> locks;

	/** Set before the first bean is processed. */
	private transient @Nullable ExclusiveCalls calls;

	/** Creates it; the locks are created with the first call. */
	public ExclusiveCallsPostProcessor(Supplier<ClusterLocks> locks) {
		this.locks = locks;
		setProxyTargetClass(true);
		setBeforeExistingAdvisors(true);
		setOrder(Ordered.LOWEST_PRECEDENCE - 10);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		ExclusiveCalls created = new ExclusiveCalls(this.locks, beanFactory);
		this.calls = created;
		this.advisor = new DefaultPointcutAdvisor(new AnnotationMatchingPointcut(null, ClusterExclusive.class, true),
				created);
	}

	/** Returns what intercepts the calls. */
	ExclusiveCalls calls() {
		return Objects.requireNonNull(this.calls);
	}

	@Override
	protected boolean isEligible(Class<?> targetClass) {
		return AnnotatedBeans.mayHave(targetClass, ClusterExclusive.class) && super.isEligible(targetClass);
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (isEligible(bean, beanName)) {
			Map<Method, ClusterExclusive> methods = MethodIntrospector.selectMethods(AopUtils.getTargetClass(bean),
					(MethodIntrospector.MetadataLookup<ClusterExclusive>) (method) -> AnnotatedElementUtils
						.findMergedAnnotation(method, ClusterExclusive.class));
			methods.keySet().forEach((method) -> calls().check(method, bean));
		}
		return super.postProcessAfterInitialization(bean, beanName);
	}

}
