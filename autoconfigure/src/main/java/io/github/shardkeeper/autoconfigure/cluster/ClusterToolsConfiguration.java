package io.github.shardkeeper.autoconfigure.cluster;

import java.time.Duration;
import java.time.InstantSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

import io.github.shardkeeper.autoconfigure.payload.ConverterSelection;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperProperties;
import io.github.shardkeeper.autoconfigure.properties.ShardkeeperSettings;
import io.github.shardkeeper.cluster.ClusterLocks;
import io.github.shardkeeper.cluster.ClusterSignals;
import io.github.shardkeeper.cluster.ClusterView;
import io.github.shardkeeper.cluster.DoubleBarriers;
import io.github.shardkeeper.cluster.barrier.BarrierStore;
import io.github.shardkeeper.cluster.barrier.StoredBarriers;
import io.github.shardkeeper.cluster.lock.ExclusiveCallsLifecycle;
import io.github.shardkeeper.cluster.lock.ExclusiveCallsPostProcessor;
import io.github.shardkeeper.cluster.lock.LockStore;
import io.github.shardkeeper.cluster.lock.StoredLocks;
import io.github.shardkeeper.cluster.session.CallbackThreads;
import io.github.shardkeeper.cluster.session.ClusterMembership;
import io.github.shardkeeper.cluster.session.ClusterMessages;
import io.github.shardkeeper.cluster.session.ClusterSession;
import io.github.shardkeeper.cluster.session.SharedView;
import io.github.shardkeeper.cluster.session.ViewStore;
import io.github.shardkeeper.cluster.signal.SignalListeners;
import io.github.shardkeeper.cluster.signal.SignalMethodDetector;
import io.github.shardkeeper.cluster.signal.SignalStore;
import io.github.shardkeeper.cluster.signal.StoredSignals;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.coordination.ShardCoordinator;
import io.github.shardkeeper.coordination.member.MemberRuntime;
import io.github.shardkeeper.handler.AnnotatedBeans;
import io.github.shardkeeper.time.MonotonicClock;
import io.github.shardkeeper.time.MonotonicTime;

/**
 * Cluster tools. They are lazy: each is created when something injects it, and the first
 * one opens the connections.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ViewStore.class)
@ConditionalOnBean(ViewStore.class)
public class ClusterToolsConfiguration {

	private static final Duration LONGEST_REQUEST = Duration.ofSeconds(1);

	@Bean
	CallbackThreads shardkeeperCallbackThreads(Environment environment) {
		return new CallbackThreads(Threading.VIRTUAL.isActive(environment));
	}

	@Bean
	ClusterSession shardkeeperClusterSession(ShardCoordinator coordinator, ClusterMessages messages, ViewStore views,
			MemberRuntime runtime, CallbackThreads callbacks) {
		return new ClusterSession(coordinator, messages, views, runtime, callbacks::execute);
	}

	@Bean
	ClusterMembership shardkeeperClusterMembership(ClusterSession session, ShardCoordinator coordinator,
			ShardkeeperSettings settings) {
		return new ClusterMembership(session, coordinator, settings.leaveTimeout(), ShardConsumerRunner.PHASE + 1);
	}

	@Bean
	ClusterToolsProblem shardkeeperClusterToolsProblem(ClusterSession session) {
		return session::problem;
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	ClusterView shardkeeperClusterView(ClusterSession session) {
		return new SharedView(session);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	ClusterLocks shardkeeperClusterLocks(ClusterSession session, LockStore store) {
		return new StoredLocks(session, store);
	}

	@Bean
	static ExclusiveCallsPostProcessor shardkeeperExclusiveCalls(ObjectProvider<ClusterLocks> locks) {
		return new ExclusiveCallsPostProcessor(locks::getObject);
	}

	/** Stops before the membership. */
	@Bean
	ExclusiveCallsLifecycle shardkeeperExclusiveCallsLifecycle(ExclusiveCallsPostProcessor calls,
			ShardkeeperSettings settings) {
		return new ExclusiveCallsLifecycle(calls, settings.leaveTimeout(), ShardConsumerRunner.PHASE + 2);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	DoubleBarriers shardkeeperDoubleBarriers(ClusterSession session, BarrierStore store) {
		return new StoredBarriers(session, store);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean(ClusterSignals.class)
	StoredSignals shardkeeperClusterSignals(ClusterSession session, SignalStore store, ConverterSelection converters,
			ShardkeeperProperties properties, ApplicationContext context) {
		ShardkeeperProperties.Signals signals = properties.signals();
		return new StoredSignals(session, store, converters.otherwise(), new StoredSignals.Settings(signals.retention(),
				signals.maxPayloadSize().toBytes(), startedAt(session.clock(), context)));
	}

	/**
	 * Returns when the application began to start, a little earlier: a request that takes
	 * long must not hide a signal that was sent since. Beans of a parent may have read
	 * what it makes outdated, too.
	 */
	private static MonotonicTime startedAt(MonotonicClock clock, ApplicationContext context) {
		ApplicationContext root = context;
		for (ApplicationContext parent = root.getParent(); parent != null; parent = root.getParent()) {
			root = parent;
		}
		long since = InstantSource.system().millis() - root.getStartupDate();
		return clock.now().minus(Duration.ofMillis(Math.max(since, 0)).plus(LONGEST_REQUEST));
	}

	/** Starts after the membership and stops before it. */
	@Bean
	SignalListeners shardkeeperSignalListeners(AnnotatedBeans beans, ConverterSelection converters,
			ObjectProvider<StoredSignals> signals, ShardkeeperSettings settings) {
		return new SignalListeners(new SignalMethodDetector(beans, converters.otherwise()), signals::getIfAvailable,
				settings.leaveTimeout(), ShardConsumerRunner.PHASE + 2);
	}

}
