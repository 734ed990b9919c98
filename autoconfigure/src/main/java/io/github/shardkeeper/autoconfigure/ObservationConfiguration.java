package io.github.shardkeeper.autoconfigure;

import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

import io.github.shardkeeper.observation.CallObservations;
import io.github.shardkeeper.observation.SendObservations;
import io.github.shardkeeper.observation.ShardConsumeConvention;
import io.github.shardkeeper.observation.ShardSendConvention;

/**
 * Observations, if they are enabled and there is a registry. They are around interceptors
 * and observers of the application, which so belong to the trace.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty("shardkeeper.observations.enabled")
@ConditionalOnBean(ObservationRegistry.class)
class ObservationConfiguration {

	/** Name of the bean that observes handler calls. */
	static final String CALLS = "shardkeeperCallObserver";

	@Bean(CALLS)
	@Order(Ordered.HIGHEST_PRECEDENCE)
	CallObservations shardkeeperCallObserver(ObservationRegistry registry,
			ObjectProvider<ShardConsumeConvention> convention) {
		return new CallObservations(registry, convention.getIfAvailable());
	}

	@Bean
	@Order(Ordered.HIGHEST_PRECEDENCE)
	SendObservations shardkeeperSendObserver(ObservationRegistry registry,
			ObjectProvider<ShardSendConvention> convention) {
		return new SendObservations(registry, convention.getIfAvailable());
	}

}
