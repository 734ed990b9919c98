package io.github.shardkeeper.autoconfigure;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;

import io.github.shardkeeper.consumer.ShardConsumerRunner;

/**
 * Starts consumers that do not start with their context, when the application accepts
 * traffic for the first time. After that they stop and start with it. Thread-safe.
 */
final class StartAfterReadiness
		implements SmartInitializingSingleton, ApplicationListener<AvailabilityChangeEvent<ReadinessState>> {

	private final ShardConsumerRunner runner;

	private final ApplicationContext context;

	StartAfterReadiness(ShardConsumerRunner runner, ApplicationContext context) {
		this.runner = runner;
		this.context = context;
	}

	/** A wrong handler fails startup, not an application that is ready. */
	@Override
	public void afterSingletonsInstantiated() {
		if (!this.runner.isAutoStartup()) {
			this.runner.checkedHandlers();
		}
	}

	/** Child contexts publish their events here, too. */
	@Override
	public synchronized void onApplicationEvent(AvailabilityChangeEvent<ReadinessState> event) {
		boolean foreign = event.getSource() instanceof ApplicationContext other && other != this.context;
		if (event.getState() == ReadinessState.ACCEPTING_TRAFFIC && !foreign && !this.runner.isAutoStartup()) {
			this.runner.start();
		}
	}

}
