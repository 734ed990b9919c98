package io.github.shardkeeper.autoconfigure.group;

import java.time.Duration;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.DefaultLifecycleProcessor;

import io.github.shardkeeper.autoconfigure.ShardkeeperActuatorAutoConfiguration;
import io.github.shardkeeper.autoconfigure.ShardkeeperAutoConfiguration;
import io.github.shardkeeper.autoconfigure.properties.GroupEnvironment;
import io.github.shardkeeper.consumer.ShardConsumerRunner;
import io.github.shardkeeper.shard.ShardkeeperConfigurationException;

/**
 * Context of one group: the configuration of the only group of an application, with the
 * properties of this one. Events of the group are published in the application; events of
 * the contexts are not passed on. Thread-safe as a context is.
 */
final class GroupContext extends AnnotationConfigApplicationContext {

	private static final Duration DEFAULT_SHUTDOWN_PHASE = Duration.ofSeconds(30);

	private final String name;

	private final ConfigurableApplicationContext application;

	private final Lifecycles lifecycles = new Lifecycles();

	GroupContext(String name, ConfigurableApplicationContext application) {
		this.name = name;
		this.application = application;
		setId(application.getId() + ":" + name);
		setDisplayName("Group '" + name + "' of " + application.getDisplayName());
		setClassLoader(application.getClassLoader());
		setEnvironment(GroupEnvironment.of(application.getEnvironment(), name));
		DefaultListableBeanFactory own = getDefaultListableBeanFactory();
		own.setParentBeanFactory(new ApplicationBeans((DefaultListableBeanFactory) application.getBeanFactory()));
		this.lifecycles.setBeanFactory(own);
		this.lifecycles.setTimeoutPerShutdownPhase(Binder.get(getEnvironment())
			.bind("spring.lifecycle.timeout-per-shutdown-phase", Duration.class)
			.orElse(DEFAULT_SHUTDOWN_PHASE)
			.toMillis());
		own.registerSingleton(LIFECYCLE_PROCESSOR_BEAN_NAME, this.lifecycles);
		// Not the context itself, which would also be a candidate where a context is
		// injected.
		ApplicationEventPublisher publisher = application::publishEvent;
		addBeanFactoryPostProcessor(
				(beans) -> beans.registerResolvableDependency(ApplicationEventPublisher.class, publisher));
		register(ShardkeeperAutoConfiguration.class, ShardkeeperActuatorAutoConfiguration.class);
	}

	String name() {
		return this.name;
	}

	/**
	 * Creates the beans of the group; starts nothing.
	 * @throws ShardkeeperConfigurationException if its properties are not valid
	 */
	void create() {
		translated(this::refresh);
	}

	private void translated(Runnable step) {
		try {
			step.run();
		}
		catch (RuntimeException ex) {
			for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
				if (cause instanceof ShardkeeperConfigurationException problem) {
					throw new ShardkeeperConfigurationException(
							"In the group '%s': %s".formatted(this.name, ofGroup(problem.getDescription())),
							ofGroup(problem.getAction()), ex);
				}
			}
			throw ex;
		}
	}

	/** Names properties as the application does. */
	private String ofGroup(String text) {
		return text.replaceAll("'shardkeeper\\.(?!groups|group'|store|enabled)",
				"'" + GroupEnvironment.prefix(getEnvironment()) + ".");
	}

	/** Starts what starts with a context. */
	void begin() {
		translated(this.lifecycles::begin);
	}

	/** The application is ready, but does not tell other contexts. */
	void ready() {
		translated(() -> AvailabilityChangeEvent.publish(this, ReadinessState.ACCEPTING_TRAFFIC));
	}

	/** While the application closes, nobody joins any more. */
	@Override
	public boolean isClosed() {
		return super.isClosed() || this.application.isClosed();
	}

	/** Starts with the application, which is after all beans are created. */
	private final class Lifecycles extends DefaultLifecycleProcessor {

		/**
		 * The application is not started yet. Only finds the handlers, which listeners of
		 * the context ask for.
		 */
		@Override
		public void onRefresh() {
			getBeanProvider(ShardConsumerRunner.class).ifAvailable(ShardConsumerRunner::checkedHandlers);
		}

		/** Unlike a start, leaves out what starts later. */
		void begin() {
			onRestart();
		}

	}

}
